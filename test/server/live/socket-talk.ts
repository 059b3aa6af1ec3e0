import { LiveHub, liveAgent, ScriptedLive } from '../../../src/live/index.ts';
import type { LiveAgentDefinition, LiveHubOptions, LiveScript } from '../../../src/live/index.ts';
import { manageRuntime } from '../../../src/managed/index.ts';
import { ScriptedModel } from '../../../src/models/index.ts';
import { SimulatedClock } from '../../../src/net/index.ts';
import { openRuntime } from '../../../src/runtime/index.ts';
import type { Runtime, Session } from '../../../src/runtime/index.ts';
import { CallSlots } from '../../../src/server/live/call-slots.ts';
import { SocketCalls } from '../../../src/server/live/socket-calls.ts';
import { ClientSocket } from '../../../src/server/live/client-socket.ts';
import { MemoryStore } from '../../../src/store/index.ts';
import { passTime, readLog } from '../../live/simulated-call.ts';
import type { MemorySocket } from './memory-socket.ts';
import { SocketPlayer } from './socket-player.ts';

const FRAME_MS = 20;
const LOUD = 4_000;
const INPUT_RATE = 16_000;

/** The live sockets of a server, without HTTP. */
export class SocketServer {
  readonly #calls: SocketCalls;
  readonly #clock: SimulatedClock;
  readonly #sockets = new Set<ClientSocket>();
  readonly errors: unknown[] = [];
  /** Whether the key of the clients is valid. */
  isKeyValid = true;

  private constructor(calls: SocketCalls, clock: SimulatedClock) {
    this.#calls = calls;
    this.#clock = clock;
  }

  static async open(
    runtime: Runtime,
    { hub, clock }: { readonly hub: LiveHub; readonly clock: SimulatedClock },
  ): Promise<SocketServer> {
    let ids = 0;
    const calls: SocketCalls = new SocketCalls({
      hub,
      context: {
        clock,
        newId: (prefix) => `${prefix}_${++ids}_${clock.now()}`,
        runtime: await manageRuntime(runtime, { clock }),
      },
      slots: new CallSlots(2),
      onError: (error) => server.errors.push(error),
    });
    const server = new SocketServer(calls, clock);
    return server;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  readonly accept = (socket: MemorySocket, sessionId: string = 'demo'): void => {
    const accepted: ClientSocket = new ClientSocket(socket, sessionId, {
      calls: this.#calls,
      clock: this.#clock,
      authenticate: async () => ({ workspace: 'default', keyId: 'local' }),
      isKeyValid: async () => this.isKeyValid,
      onOpened: () => {},
      onClosed: () => void this.#sockets.delete(accepted),
      onError: (error) => this.errors.push(error),
      keepAliveMs: 15_000,
      readerTimeoutMs: 30_000,
    });
    this.#sockets.add(accepted);
  };

  close(): void {
    this.#calls.close();
    for (const socket of this.#sockets) socket.goAway();
  }
}

/** A conversation over a socket in memory, on a simulated clock. */
export class SocketTalk implements AsyncDisposable {
  readonly player: SocketPlayer;
  readonly server: SocketServer;
  readonly session: Session;
  readonly live: ScriptedLive;
  readonly runtime: Runtime;
  readonly clock: SimulatedClock;
  readonly store: MemoryStore;

  private constructor(
    parts: Omit<SocketTalk, 'say' | 'pass' | 'until' | 'log' | typeof Symbol.asyncDispose>,
  ) {
    this.player = parts.player;
    this.server = parts.server;
    this.session = parts.session;
    this.live = parts.live;
    this.runtime = parts.runtime;
    this.clock = parts.clock;
    this.store = parts.store;
  }

  /** Opens a runtime with a live agent, and its sockets. No socket is connected. */
  static async open(
    script: LiveScript,
    {
      agent = {},
      hubOptions = {},
    }: { readonly agent?: Partial<LiveAgentDefinition>; readonly hubOptions?: LiveHubOptions } = {},
  ): Promise<SocketTalk> {
    const clock = new SimulatedClock();
    const live = new ScriptedLive(script, { clock });
    const hub = new LiveHub(hubOptions);
    const store = new MemoryStore();
    const textModel = new ScriptedModel(() => ({ text: 'As text.' }));
    const runtime = await openRuntime({
      agents: [liveAgent({ name: 'assistant', model: live, textModel, ...agent })],
      clock,
      store,
      live: hub,
    });
    const session = await runtime.session('demo');
    const server = await SocketServer.open(runtime, { hub, clock });
    return new SocketTalk({
      player: new SocketPlayer(clock),
      server,
      session,
      live,
      runtime,
      clock,
      store,
    });
  }

  /** Speaks for a time, and is silent long enough to be understood. */
  async say(ms: number, player: SocketPlayer = this.player): Promise<void> {
    await sayOver(player, this.clock, ms);
  }

  async pass(ms: number): Promise<void> {
    await passTime(this.clock, ms);
  }

  /** Lets time pass until something is true, at most a minute. */
  async until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
    for (let ms = 0; ms <= 60_000; ms += FRAME_MS) {
      if (await isTrue()) return;
      await this.pass(FRAME_MS);
    }
    throw new Error(
      `It did not happen: ${this.player.events.join(', ')} | ${(await this.log()).join(', ')}`,
    );
  }

  async log(): Promise<readonly string[]> {
    return readLog(this.session);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close();
    await this.runtime.close();
  }
}

/** Speaks for a time, and is silent long enough to be understood. */
export async function sayOver(
  player: SocketPlayer,
  clock: SimulatedClock,
  ms: number,
): Promise<void> {
  await sendSpeech(player, clock, ms, LOUD);
  await sendSpeech(player, clock, 200, 0);
}

/** Sends audio in real time. */
async function sendSpeech(
  player: SocketPlayer,
  clock: SimulatedClock,
  ms: number,
  loudness: number,
): Promise<void> {
  for (let at = 0; at < ms; at += FRAME_MS) {
    const samples = new Int16Array((INPUT_RATE * FRAME_MS) / 1000).fill(loudness);
    player.sendAudio(new Uint8Array(samples.buffer));
    await passTime(clock, FRAME_MS);
  }
}
