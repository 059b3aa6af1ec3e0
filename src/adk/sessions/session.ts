import type { Event, JsonObject } from '../../core/index.ts';

/** One conversation of a user with an app, as of the time it was read. */
export interface Session {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  /** By key: the session's own keys, the user's as `user:...`, the app's as `app:...`. */
  readonly state: JsonObject;
  /** In commit order. All events, or those selected by the config. */
  readonly events: readonly Event[];
  /** Epoch seconds. */
  readonly lastUpdateTime: number;
}

/** Selects the events that are read with a session. Default: all events. */
export interface GetSessionConfig {
  /** Only this many of the newest events; 0 for none. */
  readonly numRecentEvents?: number;
  /** Only events of this time and later, in epoch seconds. */
  readonly afterTimestamp?: number;
}
