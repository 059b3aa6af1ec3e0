import type { LiveHub } from '../../live/index.ts';
import { UnknownPlaceError } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';
import type { Session } from '../../runtime/index.ts';
import type { Caller } from '../auth/api-keys.ts';
import { HttpError } from '../http/http-error.ts';
import { getWorkspaceSession } from '../routes/session-lookup.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { SocketCall } from './socket-call.ts';
import type { CallSocket } from './socket-call.ts';
import type { HelloMessage } from './live-messages.ts';

/** How long a call without a socket waits for its client. */
const RECONNECT_MS = 30_000;
const DEFAULT_INPUT_RATE = 16_000;

/** A socket that can hold a call, and can lose it to another client. */
export interface CallHolder extends CallSocket {
  /** Ends the socket: another one has the call now. */
  readonly replace: () => void;
}

export interface SocketCallsOptions {
  readonly hub: LiveHub;
  readonly context: Pick<ServerContext, 'runtime' | 'clock' | 'newId'>;
  readonly connectionsPerKey: number;
  readonly onError: (error: unknown) => void;
}

interface ActiveCall {
  readonly call: SocketCall;
  holder: CallHolder | undefined;
  cancelTimeout: () => void;
}

/** The calls of a server, at most one per session. */
export class SocketCalls {
  readonly #options: SocketCallsOptions;
  /** By session. */
  readonly #calls = new Map<string, ActiveCall>();

  constructor(options: SocketCallsOptions) {
    this.#options = options;
  }

  get #clock(): Clock {
    return this.#options.context.clock;
  }

  /**
   * Gives a socket the call of a session: the one that it resumes, or a new one.
   * @throws ManagedSessionNotFoundError for a session of another workspace, too
   * @throws HttpError 409 if another client has a call; 429 above the limit of the key; 400 if one cannot speak with the agent
   * @throws IllegalTransitionError when the session is completed or archived
   */
  async open(
    holder: CallHolder,
    caller: Caller,
    sessionId: string,
    hello: HelloMessage,
  ): Promise<SocketCall> {
    const { context, hub } = this.#options;
    const { resume, input_rate = DEFAULT_INPUT_RATE, take_over = false } = hello;
    const { owner } = await getWorkspaceSession(context, { caller, params: () => sessionId });
    const session = await context.runtime.runtime.find(sessionId, { user: owner.userId });
    if (session === undefined) throw new HttpError(404, `There is no session "${sessionId}".`);
    const name = JSON.stringify([owner.userId, sessionId]);
    const active = this.#calls.get(name);
    // Only the client of a call knows its id.
    if (active !== undefined && resume?.call === active.call.id) {
      const former = active.holder;
      active.cancelTimeout();
      active.holder = holder;
      former?.replace();
      active.call.attach(holder, input_rate, resume);
      return active.call;
    }
    if (active?.holder !== undefined && !take_over) throw busyError(sessionId);
    this.#assertBelowLimit(caller, name);
    const call = new SocketCall(context.newId('call'), caller.keyId, input_rate);
    const next: ActiveCall = { call, holder, cancelTimeout: () => {} };
    // Set before anything is awaited, so that a second socket finds it.
    this.#calls.set(name, next);
    active?.cancelTimeout();
    active?.holder?.replace();
    try {
      call.begin(await beginCall(hub, session, call));
    } catch (error) {
      if (this.#calls.get(name) === next) this.#calls.delete(name);
      throw error;
    }
    if (next.holder === holder) call.attach(holder, input_rate);
    return call;
  }

  /** The socket of a call is gone. Its client may come back. */
  release(holder: CallHolder): void {
    const found = this.#find(holder);
    if (found === undefined) return;
    const [name, active] = found;
    active.holder = undefined;
    active.call.detach(holder);
    active.cancelTimeout = this.#clock.at(this.#clock.now() + RECONNECT_MS, () => {
      if (this.#calls.get(name) === active) this.#calls.delete(name);
      active.call.voice?.hangUp().catch(this.#options.onError);
    });
  }

  /** The client has ended the call. */
  async hangUp(holder: CallHolder): Promise<void> {
    const found = this.#find(holder);
    if (found === undefined) return;
    const [name, { call }] = found;
    this.#calls.delete(name);
    await call.voice?.hangUp();
  }

  /** Leaves all calls. Their clients can call again, here or elsewhere. */
  close(): void {
    for (const { call, cancelTimeout } of this.#calls.values()) {
      cancelTimeout();
      call.voice?.leave();
    }
    this.#calls.clear();
  }

  #find(holder: CallHolder): readonly [string, ActiveCall] | undefined {
    return [...this.#calls].find(([, active]) => active.holder === holder);
  }

  /** @throws HttpError 429 */
  #assertBelowLimit({ keyId }: Caller, name: string): void {
    const { connectionsPerKey } = this.#options;
    const others = [...this.#calls].filter(
      ([session, { call }]) => session !== name && call.keyId === keyId,
    );
    if (others.length < connectionsPerKey) return;
    throw new HttpError(
      429,
      `This key has ${others.length} live calls, and may have ${connectionsPerKey}. End one, or raise limits.liveConnections.`,
      {
        details: {
          /**
           * The key has as many live calls as it may have.
           * @remedy End a call, or raise `limits.liveConnections` of the server.
           */
          error_code: 'too_many_live_calls',
        },
      },
    );
  }
}

/** @throws HttpError 400 if the agent has no live model; 503 if the net refuses it for now */
async function beginCall(
  hub: LiveHub,
  session: Session,
  call: SocketCall,
): ReturnType<LiveHub['call']> {
  try {
    return await hub.call(session, call);
  } catch (error) {
    if (!(error instanceof UnknownPlaceError)) throw error;
    throw new HttpError(
      400,
      `The agent "${session.agent}" has no live model. Serve an agent of liveAgent().`,
      {
        details: {
          /**
           * The agent of the session has no live model.
           * @remedy Use a session of an agent that `liveAgent()` returned.
           */
          error_code: 'not_a_live_agent',
        },
        cause: error,
      },
    );
  }
}

function busyError(sessionId: string): HttpError {
  return new HttpError(
    409,
    `Session "${sessionId}" has a call with another client. Wait for its end, or send take_over: true to end it.`,
    {
      details: {
        /**
         * Another client has a live call of the session.
         * @remedy Wait for its end, or connect with `take_over: true`, which ends it.
         */
        error_code: 'live_session_busy',
      },
    },
  );
}
