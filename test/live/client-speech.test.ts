/** Speech that the client detects, while the session has no connection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LiveHub, liveAgent, ScriptedLive } from '../../src/live/index.ts';
import type { LiveListener, LiveModel, LiveScript, VoiceCall } from '../../src/live/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime, Session } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { passTime, readLog, SimulatedClient } from './simulated-call.ts';

const turns = Array.from({ length: 4 }, () => ({ heard: 'Hello?', text: 'Hi.' }));
const failed = { error: 'server' } as const;

/** A process with a call that has just begun. */
class Process implements AsyncDisposable {
  readonly live: ScriptedLive;
  readonly client: SimulatedClient;
  readonly #clock: SimulatedClock;
  readonly #runtime: Runtime;
  readonly #listeners: readonly LiveListener[];
  readonly session: Session;
  readonly call: VoiceCall;

  private constructor(
    {
      live,
      clock,
      runtime,
      listeners,
    }: {
      readonly live: ScriptedLive;
      readonly clock: SimulatedClock;
      readonly runtime: Runtime;
      readonly listeners: readonly LiveListener[];
    },
    { session, client, call }: Pick<Process, 'session' | 'client' | 'call'>,
  ) {
    this.live = live;
    this.client = client;
    this.#clock = clock;
    this.#runtime = runtime;
    this.#listeners = listeners;
    this.session = session;
    this.call = call;
  }

  static async start(
    store: MemoryStore,
    clock: SimulatedClock,
    script: Pick<LiveScript, 'opens'>,
    vad: 'client' | 'server' = 'client',
  ): Promise<Process> {
    const live = new ScriptedLive({ turns, ...script }, { clock });
    const hub = new LiveHub();
    const listeners: LiveListener[] = [];
    const model: LiveModel = {
      name: live.name,
      open: async (request, context) => {
        listeners.push(context.listener);
        return live.open(request, context);
      },
    };
    const agents = [liveAgent({ name: 'assistant', model, vad })];
    const runtime = await openRuntime({ agents, store, clock, live: hub });
    const session = await runtime.session('demo');
    const client = new SimulatedClient(clock);
    const call = await hub.call(session, client);
    client.call = call;
    const started = new Process({ live, clock, runtime, listeners }, { session, client, call });
    await started.pass(0);
    return started;
  }

  async pass(ms: number): Promise<void> {
    await passTime(this.#clock, ms);
  }

  async speak(): Promise<void> {
    this.call.speechStarted();
    await this.pass(100);
    this.call.speechStopped();
    await this.pass(100);
  }

  /** The connection breaks. */
  lose(): void {
    this.#listeners.at(-1)?.onSignal({ kind: 'closed', reason: 'lost', retryable: true });
  }

  /** The edges of speech that the model was sent. */
  get edges(): readonly string[] {
    return this.live.commands.flatMap((command) =>
      command.kind === 'activity' ? [command.edge] : [],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runtime.close();
  }
}

test('utterances without a connection have other names in another process', async () => {
  const [store, clock] = [new MemoryStore(), new SimulatedClock()];
  for (let process = 0; process < 2; process++) {
    await using one = await Process.start(store, clock, { opens: [failed, failed] });
    assert.equal(one.call.inputAudio, undefined);
    await one.speak();
    await one.pass(10_000);
    assert.deepEqual((await readLog(one.session)).slice(-2), ['model: Hi.', 'ended: end_turn']);
  }
  await using last = await Process.start(store, clock, {});
  const started: string[] = [];
  for await (const event of last.session.events(0, { follow: false }))
    if (event.type === 'turn.started') started.push(event.invocationId);
  assert.equal(started.length, 2);
  assert.equal(new Set(started).size, 2, started.join());
});

test('speech before the connection opens reaches the model when it opens, with its edges', async () => {
  for (const isOver of [true, false]) {
    await using one = await Process.start(new MemoryStore(), new SimulatedClock(), {
      opens: [failed, failed],
    });
    one.call.speechStarted();
    await one.pass(100);
    if (isOver) one.call.speechStopped();
    await one.pass(4_000);
    assert.notEqual(one.call.inputAudio, undefined);
    if (!isOver) one.call.speechStopped();
    await one.pass(1_000);
    assert.deepEqual(one.edges, ['started', 'stopped']);
    assert.deepEqual(await readLog(one.session), [
      'turn.started',
      'user: Hello?',
      'model: Hi.',
      'ended: end_turn',
    ]);
  }
});

test('speech that the next connection hears to its end is answered over it', async () => {
  for (const hearsRest of [true, false]) {
    await using one = await Process.start(new MemoryStore(), new SimulatedClock(), {});
    one.call.speechStarted();
    one.call.sendAudio(new Uint8Array(640));
    await one.pass(100);
    one.lose();
    await one.pass(1_000);
    if (hearsRest) one.call.sendAudio(new Uint8Array(640));
    one.call.speechStopped();
    // The client repeats itself.
    one.call.speechStopped();
    await one.pass(1_000);
    assert.deepEqual(one.edges, hearsRest ? ['started', 'started', 'stopped'] : ['started']);
    assert.deepEqual((await readLog(one.session)).slice(-2), ['model: Hi.', 'ended: end_turn']);
  }
});

test('edges of the client have no effect if the model detects speech, also before it is connected', async () => {
  await using one = await Process.start(
    new MemoryStore(),
    new SimulatedClock(),
    { opens: [failed, failed] },
    'server',
  );
  await one.speak();
  await one.pass(4_000);
  await one.speak();
  await one.pass(4_000);
  assert.deepEqual(one.edges, []);
  assert.deepEqual(await readLog(one.session), []);
});
