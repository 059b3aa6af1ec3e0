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
 * A session read from a store. Its own properties are those of a `Session`, so that JSON and copies have them all. It
 * shows what is appended through it; what others do to the session it does not.
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
  /** Appends through this object, one after the other. */
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

  /** Of the incarnation that was read. */
  get uid(): string {
    return this.#uid;
  }

  /** How many events the log had, those on their way included, when this was read. */
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
