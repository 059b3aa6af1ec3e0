import type { Event, JsonObject, SessionKey } from '../../core/index.ts';
import type { Session } from './session.ts';

export interface StoredSessionFields {
  readonly key: SessionKey;
  readonly uid: string;
  readonly state: JsonObject;
  readonly events: readonly Event[];
  readonly lastUpdateTime: number;
  readonly position: number;
}

/**
 * A session read from a store. Its properties are exactly those of `Session`, so JSON and copies are complete. It
 * reflects events appended through this object, but not changes made by others.
 */
export class StoredSession implements Session {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  state: JsonObject;
  events: readonly Event[];
  lastUpdateTime: number;
  readonly #key: SessionKey;
  readonly #uid: string;
  #position: number;
  /** Serializes appends through this object. */
  #appending: Promise<unknown> = Promise.resolve();

  constructor({ key, uid, state, events, lastUpdateTime, position }: StoredSessionFields) {
    this.id = key.sessionId;
    this.appName = key.appName;
    this.userId = key.userId;
    this.state = state;
    this.events = events;
    this.lastUpdateTime = lastUpdateTime;
    this.#key = key;
    this.#uid = uid;
    this.#position = position;
  }

  get key(): SessionKey {
    return this.#key;
  }

  /** Uid of the incarnation that was read. */
  get uid(): string {
    return this.#uid;
  }

  /** Number of events in the log when the session was read, including those still in the inbox. */
  get position(): number {
    return this.#position;
  }

  async runExclusive<T>(append: () => Promise<T>): Promise<T> {
    const appended = this.#appending.then(append, append);
    this.#appending = appended;
    return appended;
  }

  applyAppended(event: Event, stateDelta: JsonObject): void {
    this.state = { ...this.state, ...stateDelta };
    this.events = [...this.events, event];
    this.lastUpdateTime = event.timestamp;
    this.#position++;
  }
}
