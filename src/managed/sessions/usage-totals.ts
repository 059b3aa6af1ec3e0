import { addUsage, noUsage } from '../../core/index.ts';
import type { LogEvent, Seq, Usage } from '../../core/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';

/** Number of sessions whose totals are cached. A total that was evicted is counted again from the start. */
const MAX_CACHED = 10_000;

/** The tokens used by sessions. A log only grows, so a total costs only the events since the last call. */
export class UsageTotals {
  readonly #store: Pick<Store, 'read'>;
  /** By incarnation; the most recently used is last. */
  readonly #known = new Map<string, { readonly upTo: Seq; readonly sum: Usage }>();

  constructor(store: Pick<Store, 'read'>) {
    this.#store = store;
  }

  async get({ key, uid, lastSeq }: SessionRow): Promise<Usage> {
    let { upTo, sum } = this.#known.get(uid) ?? { upTo: 0, sum: noUsage };
    if (upTo < lastSeq) {
      for await (const event of this.#store.read(key, upTo)) {
        sum = addUsage(sum, getEventUsage(event));
        upTo = event.seq;
      }
    }
    this.#known.delete(uid);
    this.#known.set(uid, { upTo, sum });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_CACHED && oldest !== undefined) this.#known.delete(oldest);
    return sum;
  }
}

/** Usage of single answers instead of turns: a turn that a fault ended has no total. */
function getEventUsage(event: LogEvent): Usage {
  const isCounted = event.type === 'agent.message' || event.type === 'outcome.evaluated';
  return (isCounted ? event.usage : undefined) ?? noUsage;
}
