import type { WebSocket } from 'ws';
import { InvalidInputError } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import {
  activeLiveSessions,
  decodeBlob,
  isAudio,
  LiveRequestQueue,
  LiveRun,
  readSampleRate,
} from '../../../adk/internal.ts';
import type { LiveRecorder, LiveRequest, LiveRunConfig } from '../../../adk/internal.ts';
import type { Clock } from '../../../net/index.ts';
import type { Session } from '../../../runtime/index.ts';
import type { Caller } from '../../auth/api-keys.ts';
import { toSessionRef } from '../../events/session-log.ts';
import { HttpError, toHttpError } from '../../http/http-error.ts';
import { replacedCallError, toCallError } from '../../live/call-errors.ts';
import type { LiveServices, OpenSocket, SocketEvents } from '../../live/socket-route.ts';
import {
  CLOSE_GOING_AWAY,
  CLOSE_NORMAL,
  GOING_AWAY_REASON,
  SocketLimits,
} from '../../live/socket-limits.ts';
import { SocketWatch } from '../../live/socket-watch.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { sendInputs } from '../send-inputs.ts';
import type { AdkSession } from './adk-session.ts';
import { parseLiveRequests } from './live-request.ts';
import { readCallNeeds, toAnswer } from './run-request.ts';
import { AdkWireMapper } from './to-adk-wire-events.ts';
import type { AdkEventContext } from './to-adk-wire-events.ts';
import { toLiveWireEvents } from './to-live-wire-events.ts';

/** The most bytes of a reason. */
const MAX_REASON_BYTES = 123;

/** The state of a socket that is not closing. */
const OPEN = 1;

const NOT_FOUND = 1_002;
const REFUSED = 1_008;
const FAILED = 1_011;

/** A session whose live session can begin. */
export interface OpenedLiveSession {
  readonly adk: AdkSession;
  readonly session: Session;
  readonly config: LiveRunConfig;
  readonly eventContext: AdkEventContext;
  readonly recorder: LiveRecorder | undefined;
}

export interface RunLiveServices extends SocketEvents {
  readonly context: ServerContext;
  readonly live: LiveServices;
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly readerTimeoutMs: number;
  readonly isKeyValid: (caller: Caller) => Promise<boolean>;
  /** @throws HttpError 404; InvalidInputError */
  readonly open: () => Promise<OpenedLiveSession>;
}

/** The WebSocket of one client of ADK's `/run_live`. Closing it ends the live session; a turn that runs goes on. */
export class RunLiveSocket implements OpenSocket {
  readonly #socket: WebSocket;
  readonly #caller: Caller;
  readonly #services: RunLiveServices;
  readonly #queue = new LiveRequestQueue();
  readonly #watch: SocketWatch;
  readonly #limits: SocketLimits;
  #run: LiveRun | undefined;
  #isClosed = false;
  /** Bytes of the requests of a message that is not complete. */
  #partialBytes = 0;

  constructor(socket: WebSocket, caller: Caller, services: RunLiveServices) {
    this.#socket = socket;
    this.#caller = caller;
    this.#services = services;
    this.#limits = new SocketLimits(services.clock, { messages: 'requests', journaled: 'inputs' });
    this.#watch = new SocketWatch(socket, {
      ...services,
      findVoice: () => this.#run?.voice,
      onGone: () => this.#socket.terminate(),
      onFailed: (error) => this.#fail(error),
    });
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', () => this.#onClosed());
    // `close` follows an error. Without a listener, an error would end the process.
    socket.on('error', () => {});
    // What the client sends is read when its session is found.
    socket.pause();
    void this.#serve();
  }

  goAway(): void {
    this.#end(CLOSE_GOING_AWAY, GOING_AWAY_REASON);
  }

  /** Never rejects. */
  async #serve(): Promise<void> {
    const { open, onOpened } = this.#services;
    let opened: OpenedLiveSession;
    let free: () => void;
    try {
      opened = await open();
      if (this.#isClosed) return;
      const { userId: user, id: session } = toSessionRef(opened.adk.session);
      const socket = this.#socket;
      const slot = {
        keyId: this.#caller.keyId,
        get hasClient() {
          return socket.readyState === OPEN;
        },
        replace: () => this.#fail(replacedCallError()),
      };
      free = this.#services.live.slots.take({ user, session }, slot, { takeOver: false });
    } catch (error) {
      onOpened(toHttpError(error).status, this.#caller);
      this.#fail(error);
      return;
    } finally {
      this.#socket.resume();
    }
    onOpened(101, this.#caller);
    this.#watch.start(this.#caller);
    const run = this.#createRun(opened);
    this.#run = run;
    const mapper = new AdkWireMapper(opened.eventContext);
    const { uid, id: sessionId } = opened.adk.session;
    let ownsTools = false;
    try {
      activeLiveSessions.add(uid, sessionId, run.active);
      ownsTools = true;
      for await (const item of run.items())
        for (const event of toLiveWireEvents(item, {
          ...opened.eventContext,
          mapper,
          speaker: run.stream.agentName,
          clock: this.#services.clock,
        }))
          await this.#send(event);
      this.#end(CLOSE_NORMAL, '');
    } catch (error) {
      this.#fail(toCallError(error, opened.session));
    } finally {
      free();
      if (ownsTools) activeLiveSessions.remove(uid);
      await run.close();
    }
  }

  #createRun({ adk, session, config, recorder }: OpenedLiveSession): LiveRun {
    const { context, live, clock, onError } = this.#services;
    return new LiveRun({
      session,
      store: context.runtime.runtime.store,
      hub: live.hub,
      queue: this.#queue,
      config,
      clock,
      rootAgent: adk.app.name,
      recorder,
      from: adk.session.lastSeq,
      answerCalls: async (answers) => {
        try {
          const needs = await readCallNeeds(context, adk.session);
          const [first, ...rest] = answers.map((answer, index) =>
            toAnswer({ ...answer }, needs, `request.content.parts[${index}]`),
          );
          if (first !== undefined)
            await sendInputs(context, this.#caller, adk.session, [first, ...rest]);
        } catch (error) {
          await this.#refuse(error);
        }
      },
      screenMessage: async (message) => message,
      warn: () => {},
      onError,
    });
  }

  #receive(data: Uint8Array, isBinary: boolean): void {
    if (this.#isClosed || this.#queue.closed) return;
    try {
      if (isBinary)
        throw new InvalidInputError('request', 'must be JSON in a text frame, not a binary frame.');
      for (const request of parseLiveRequests(new TextDecoder().decode(data))) {
        this.#limit(request);
        this.#limitPartial(request, data.byteLength);
        this.#queue.send(request);
      }
    } catch (error) {
      this.#refuseOrFail(error);
    }
  }

  /** A request that is refused counts, so that a client cannot send them without end. */
  #refuseOrFail(error: unknown): void {
    try {
      if (error instanceof HttpError && [413, 429].includes(error.status)) throw error;
      this.#limits.takeMessage();
      void this.#refuse(error);
    } catch (limit) {
      this.#fail(limit);
    }
  }

  /** @throws HttpError 429 */
  #limit({ blob, ...request }: LiveRequest): void {
    if (blob !== undefined && isAudio(blob)) {
      this.#limits.takeAudio(decodeBlob(blob).length, readSampleRate(blob));
      return;
    }
    this.#limits.takeMessage();
    if (blob === undefined || request.stateDelta !== undefined) this.#limits.takeJournaled();
  }

  /** A message in several requests may have as many bytes as one request. @throws HttpError 413 */
  #limitPartial({ content, partial = false }: LiveRequest, bytes: number): void {
    if (content === undefined) return;
    this.#partialBytes += bytes;
    const { bodyBytes } = this.#services.live.limits;
    if (partial && this.#partialBytes > bodyBytes)
      throw new HttpError(
        413,
        `The requests of a message with partial: true have more than ${bodyBytes} bytes.`,
      );
    if (!partial) this.#partialBytes = 0;
  }

  /** Tells the client that a request was refused. The live session goes on. */
  async #refuse(error: unknown): Promise<void> {
    const { status, message } = toHttpError(error);
    if (status >= 500) this.#fail(error);
    else await this.#send({ error: message });
  }

  /** Resolves when the connection has taken the message, so that a slow client slows its events. */
  async #send(message: JsonObject): Promise<void> {
    if (this.#isClosed) return;
    await new Promise<void>((resolve) =>
      this.#socket.send(JSON.stringify(message), () => resolve()),
    );
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return;
    const { status, message } = toHttpError(error);
    if (status >= 500) this.#services.onError(error);
    if (status === 404) this.#end(NOT_FOUND, message);
    else this.#end(status < 500 ? REFUSED : FAILED, message);
  }

  #end(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#socket.close(code, cutText(reason, MAX_REASON_BYTES));
    this.#stop();
  }

  #onClosed(): void {
    this.#stop();
    this.#services.onClosed();
  }

  #stop(): void {
    this.#isClosed = true;
    this.#watch.stop();
    void this.#run?.close();
  }
}

/** The longest beginning of a text with at most so many bytes in UTF-8. */
function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text).subarray(0, maxBytes);
  // A character that was cut becomes a replacement character.
  return bytes.toString('utf8').replace(/\uFFFD+$/, '');
}
