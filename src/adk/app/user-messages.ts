import type { Content, InvocationId, SessionKey } from '../../core/index.ts';
import type { Store } from '../../store/index.ts';

const RECENT_EVENTS = 500;

const MAX_CACHED_MESSAGES = 1000;

/** The messages that started invocations. Recent ones are cached, others are read from the log. */
export class UserMessages {
  readonly #store: Store;
  readonly #recent = new Map<InvocationId, Content>();

  constructor(store: Store) {
    this.#store = store;
  }

  cache(_session: SessionKey, invocationId: InvocationId, content: Content): void {
    this.#recent.set(invocationId, content);
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > MAX_CACHED_MESSAGES && oldest !== undefined)
      this.#recent.delete(oldest);
  }

  async find(session: SessionKey, invocationId: InvocationId): Promise<Content | undefined> {
    const recent = this.#recent.get(invocationId);
    if (recent !== undefined) return recent;
    const row = await this.#store.find(session);
    if (row === undefined) return undefined;
    for (const from of [Math.max(0, row.lastSeq - RECENT_EVENTS), 0]) {
      for await (const event of this.#store.read(session, from)) {
        if (event.type !== 'user.message' || event.invocationId !== invocationId) continue;
        this.cache(session, invocationId, event.content);
        return event.content;
      }
    }
    return undefined;
  }
}
