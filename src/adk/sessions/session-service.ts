import type { Event, JsonObject } from '../../core/index.ts';
import type { Store } from '../../store/index.ts';
import type { GetSessionConfig, Session } from './session.ts';

/** Identifies a session. */
export interface SessionAddress {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

/** A session to create. */
export interface CreateSessionRequest {
  readonly appName: string;
  readonly userId: string;
  /**
   * Initial state. Keys may have any prefix; each value is stored in the scope of its prefix. `temp:` keys are not
   * stored.
   */
  readonly state?: JsonObject;
  /** Default: a new unique id. */
  readonly sessionId?: string;
}

/** Creates, reads and deletes sessions. A Runner runs its sessions over the store of such a service. */
export interface SessionService {
  /**
   * @throws SessionExistsError if the session id is taken
   * @throws InvalidInputError if the address is invalid
   * @throws InvalidStateKeyError if a state key is invalid
   */
  createSession(request: CreateSessionRequest): Promise<Session>;

  /** The same with positional arguments, as in ADK-TS. Throws the same errors. */
  createSession(
    appName: string,
    userId: string,
    state?: JsonObject,
    sessionId?: string,
  ): Promise<Session>;

  /**
   * Returns the session with its events, or `undefined` if it does not exist.
   * @throws InvalidInputError if the address or the config is invalid
   */
  getSession(
    request: SessionAddress & { readonly config?: GetSessionConfig },
  ): Promise<Session | undefined>;

  /**
   * Lists the sessions of a user, or of all users, without their events. The most recently changed session comes first.
   */
  listSessions(request: {
    readonly appName: string;
    readonly userId?: string;
  }): Promise<{ readonly sessions: readonly Session[] }>;

  /** Deletes a session with its own state and its events. `user:` and `app:` state is kept. */
  deleteSession(request: SessionAddress): Promise<void>;

  /**
   * Appends an event to a session and applies its state changes, atomically. The given session object is updated. A
   * partial event is returned and not stored.
   * @throws StaleSessionError if the session changed since it was read
   * @throws SessionNotFoundError if the session does not exist
   * @throws InvalidStateKeyError if a state key is invalid
   */
  appendEvent(request: { readonly session: Session; readonly event: Event }): Promise<Event>;

  /**
   * Exchanges events with the place outside the store where the session is also kept, if there is one. Returns false if
   * the session does not exist there. A Runner calls it before and after each run; a failure before a run ends the run,
   * and one after it is reported to `onError`.
   */
  sync?(address: SessionAddress): Promise<boolean>;

  /** Returns the store that a Runner runs these sessions over. It is opened on first use. */
  store(): Promise<Store>;

  /** Releases the store. Sessions stay where the store keeps them. */
  close(): Promise<void>;
}
