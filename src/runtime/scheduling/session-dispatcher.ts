import type { SessionKey } from '../../core/index.ts';

/** A session that has work now, or at a time. */
export interface DispatchRequest {
  readonly key: SessionKey;
  /**
   * Names the work: the session, and its last step and last input or the time of its next timer. Requests for the same
   * work have the same id. A dispatcher may leave out a request while it has one with this id.
   */
  readonly id: string;
  /** When the work begins (epoch ms). Undefined: now. */
  readonly at?: number;
}

/**
 * What a drive did. `rests`: the session has nothing to do before `next`, or at all. `left`: it has, but not here: the
 * process closes or cannot run this session, or another living process runs an effect of it.
 */
export type DriveResult =
  | { readonly state: 'rests'; readonly next?: DispatchRequest }
  | { readonly state: 'left' };

/** A runtime, as its dispatcher sees it. */
export interface DispatchTarget {
  /** The application whose sessions the runtime runs. */
  readonly app: string;
  /**
   * Takes the session, does all its work, and gives it up again. The store decides whether this process may have the
   * session, so a drive too many does no harm.
   * @throws the error of the store; then a later drive may succeed
   */
  drive(key: SessionKey): Promise<DriveResult>;
  /** Receives errors that no caller waits for. */
  onError(error: unknown): void;
}

/**
 * Decides which process drives a session that has work. Without one, the processes that share a store look for such
 * sessions themselves. A dispatcher sends each session to one process at a time; what it loses or cannot move is found in
 * the store.
 */
export interface SessionDispatcher {
  /** Called once, when the runtime is open. From then on, requests may come back to `target`. */
  start(target: DispatchTarget): Promise<void>;
  /**
   * Asks for a drive of a session, in any process. Resolves when the request is kept.
   * @throws an error when it could not be kept; the runtime finds the session again within 15 seconds
   */
  dispatch(request: DispatchRequest): Promise<void>;
  /** Takes no more drives, and resolves when those in progress have ended. */
  close(): Promise<void>;
}
