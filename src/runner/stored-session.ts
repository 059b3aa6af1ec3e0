import type { Event, JsonObject, SessionKey } from '../core/index.ts';
import type { Session } from './session.ts';

export interface StoredSessionFacts {
  readonly key: SessionKey;
  readonly uid: string;
  readonly state: JsonObject;
  readonly events: readonly Event[];
  readonly lastUpdateTime: number;
  readonly position: number;
}

/** A session read from a store. It shows what is appended through it; what others do to the session it does not. */
export class StoredSession implements Session {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly key: SessionKey;
  /** Of the incarnation that was read. */
  readonly uid: string;
  #facts: StoredSessionFacts;
  /** Appends through this object, one after the other. */
  #appending: Promise<unknown> = Promise.resolve();

  constructor(facts: StoredSessionFacts) {
    const { key, uid } = facts;
    this.id = key.sessionId;
    this.appName = key.appName;
    this.userId = key.userId;
    this.key = key;
    this.uid = uid;
    this.#facts = facts;
  }

  get state(): JsonObject {
    return this.#facts.state;
  }

  get events(): readonly Event[] {
    return this.#facts.events;
  }

  get lastUpdateTime(): number {
    return this.#facts.lastUpdateTime;
  }

  /** How many events the log had, those on their way included, when this was read. */
  get position(): number {
    return this.#facts.position;
  }

  async oneByOne<T>(append: () => Promise<T>): Promise<T> {
    const appended = this.#appending.then(append, append);
    this.#appending = appended;
    return appended;
  }

  appended(event: Event, stateDelta: JsonObject): void {
    const { state, events, position } = this.#facts;
    this.#facts = {
      ...this.#facts,
      state: { ...state, ...stateDelta },
      events: [...events, event],
      lastUpdateTime: event.timestamp,
      position: position + 1,
    };
  }
}
