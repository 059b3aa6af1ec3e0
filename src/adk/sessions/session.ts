import type { Event, JsonObject } from '../../core/index.ts';

/** One conversation of a user with an app, as it was when it was read. */
export interface Session {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  /** By key: the session's own, the user's as `user:...`, the app's as `app:...`. */
  readonly state: JsonObject;
  /** In the order they were committed. All of them, or those the config asked for. */
  readonly events: readonly Event[];
  /** Epoch seconds. */
  readonly lastUpdateTime: number;
}

/** Which events come with a session. All of them unless said. */
export interface GetSessionConfig {
  /** Only so many of the newest ones; 0 for none. */
  readonly numRecentEvents?: number;
  /** Only those after this time, epoch seconds. */
  readonly afterTimestamp?: number;
}
