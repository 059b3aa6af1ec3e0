import type { Event, JsonObject } from '../../core/index.ts';
import type { Store } from '../../store/index.ts';
import type { GetSessionConfig, Session } from './session.ts';

/** Which session. */
export interface SessionAddress {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

/** Whose session is made, and the state it begins with. A session id that is taken is a SessionExistsError. */
export interface CreateSessionRequest {
  readonly appName: string;
  readonly userId: string;
  /** Keys of any scope: each goes where its prefix says, those with `temp:` nowhere. */
  readonly state?: JsonObject;
  /** A fresh one when missing. */
  readonly sessionId?: string;
}

/** Where a Runner finds its sessions, and a program reads and makes them. */
export interface SessionService {
  /** @throws SessionExistsError, InvalidInputError, InvalidStateKeyError */
  createSession(request: CreateSessionRequest): Promise<Session>;

  /** The same with positional arguments, as ADK-TS spells it. @throws the same */
  createSession(
    appName: string,
    userId: string,
    state?: JsonObject,
    sessionId?: string,
  ): Promise<Session>;

  /** The session with its events, or nothing when there is none. @throws InvalidInputError */
  getSession(
    request: SessionAddress & { readonly config?: GetSessionConfig },
  ): Promise<Session | undefined>;

  /** The sessions of a user, or of all of them, newest change first; without their events. */
  listSessions(request: {
    readonly appName: string;
    readonly userId?: string;
  }): Promise<{ readonly sessions: readonly Session[] }>;

  /** Removes a session with its own state and its events. `user:` and `app:` state stays. */
  deleteSession(request: SessionAddress): Promise<void>;

  /**
   * Puts an event into a session and applies its state, all or nothing; the session given shows it from then on. A
   * partial event is returned and not kept.
   * @throws StaleSessionError when the session went on since it was read, SessionNotFoundError, InvalidStateKeyError
   */
  appendEvent(request: { readonly session: Session; readonly event: Event }): Promise<Event>;

  /** The store that a Runner runs these sessions over, opened on first use. */
  store(): Promise<Store>;

  /** Lets go of the store. Sessions that were made are kept where the store keeps them. */
  close(): Promise<void>;
}
