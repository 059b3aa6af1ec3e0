import { addUsage, noUsage } from '../../core/index.ts';
import type { LogEvent, Seq, Usage } from '../../core/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';

/** How many sessions' sums are remembered; one that is forgotten is counted from its beginning. */
const MAX_CACHED = 10_000;

/**
 * The tokens that sessions have used. A log only grows, so each event is counted once: a sum costs what came since it was
 * last asked for.
 */
export class UsageTotals {
  readonly #store: Pick<Store, 'read'>;
  /** By incarnation, the one asked for last at the end. */
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

/** Of each answer, not of each turn: one that a fault ended has no sum. */
function getEventUsage(event: LogEvent): Usage {
  const isCounted = event.type === 'agent.message' || event.type === 'outcome.evaluated';
  return (isCounted ? event.usage : undefined) ?? noUsage;
}
