import type { LiveHub } from '../../live/index.ts';
import type { Clock } from '../../net/index.ts';
import type { Session } from '../../runtime/index.ts';
import type { Caller } from '../auth/api-keys.ts';
import { HttpError } from '../http/http-error.ts';
import { getWorkspaceSession } from '../routes/session-lookup.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { toCallError } from './call-errors.ts';
import type { CallSlots, LiveCallSlot } from './call-slots.ts';
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
  readonly slots: CallSlots;
  readonly onError: (error: unknown) => void;
}

interface ActiveCall {
  readonly call: SocketCall;
  holder: CallHolder | undefined;
  cancelTimeout: () => void;
  /** Frees the session for another call. */
  free: () => void;
}

/** The calls of sockets that can come back. */
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
    const { context, slots } = this.#options;
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
      // A connection that was given up is opened again only for a client that calls.
      if (active.call.voice?.inputAudio === undefined) await this.#begin(name, active, session);
      if (active.holder === holder) active.call.attach(holder, input_rate, resume);
      return active.call;
    }
    const call = new SocketCall(context.newId('call'), input_rate);
    const next: ActiveCall = { call, holder, cancelTimeout: () => {}, free: () => {} };
    const slot: LiveCallSlot = {
      keyId: caller.keyId,
      get hasClient() {
        return next.holder !== undefined;
      },
      replace: () => {
        this.#remove(name, next);
        next.cancelTimeout();
        next.holder?.replace();
      },
    };
    next.free = slots.take({ user: owner.userId, session: sessionId }, slot, {
      takeOver: take_over,
    });
    // Set before anything is awaited, so that a second socket finds it.
    this.#calls.set(name, next);
    await this.#begin(name, next, session);
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
      this.#remove(name, active);
      active.call.voice?.hangUp().catch(this.#options.onError);
    });
  }

  /** The client has ended the call. */
  async hangUp(holder: CallHolder): Promise<void> {
    const found = this.#find(holder);
    if (found === undefined) return;
    const [name, active] = found;
    this.#remove(name, active);
    await active.call.voice?.hangUp();
  }

  /** Leaves all calls. Their clients can call again, here or elsewhere. */
  close(): void {
    for (const { call, cancelTimeout, free } of this.#calls.values()) {
      cancelTimeout();
      free();
      call.voice?.leave();
    }
    this.#calls.clear();
  }

  /** Begins a call of the hub. @throws errors of `LiveHub.call` and `toCallError`; the call is removed then */
  async #begin(name: string, active: ActiveCall, session: Session): Promise<void> {
    const { call } = active;
    try {
      call.begin(await this.#options.hub.call(session, call));
    } catch (error) {
      this.#remove(name, active);
      throw toCallError(error, session);
    }
  }

  #remove(name: string, active: ActiveCall): void {
    if (this.#calls.get(name) === active) this.#calls.delete(name);
    active.free();
  }

  #find(holder: CallHolder): readonly [string, ActiveCall] | undefined {
    return [...this.#calls].find(([, active]) => active.holder === holder);
  }
}
