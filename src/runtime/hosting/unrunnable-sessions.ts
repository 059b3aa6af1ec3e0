import { formatSessionKey } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { SessionRow } from '../../store/index.ts';
import { SessionQuarantinedError } from '../session/runtime-errors.ts';

/** A decision that this runtime cannot run a session, with the row that it was made for. */
interface Decision extends Pick<SessionRow, 'uid' | 'head'> {
  /** Undefined: the agent was not available. */
  readonly error: unknown;
  /** The decision does not hold after this time (epoch ms). */
  readonly until: number;
}

/** When a scan asks again for an agent that was not available, or looks again at a session of another owner. */
const RETRY_MS = 30_000;

/**
 * The sessions that this runtime cannot run. A decision holds while the session is at the step at which it was made: as
 * soon as another runtime commits a step, the session is looked at again. Keeps a limited number of decisions and
 * forgets the oldest first. A session that was forgotten is decided again when it is found again.
 */
export class UnrunnableSessions {
  readonly #decisions = new Map<string, Decision>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#decisions.size;
  }

  /** Remembers that the session cannot run here as it is in this row. */
  add(row: Pick<SessionRow, 'key' | 'uid' | 'head'>, error: unknown): void {
    this.#add(row, { error, until: Infinity });
  }

  /** Remembers for some time that the agent of the session is not available. */
  addWithoutAgent(row: Pick<SessionRow, 'key' | 'uid' | 'head'>, now: number): void {
    this.#add(row, { error: undefined, until: now + RETRY_MS });
  }

  /** Remembers for some time that a session that another runtime owns cannot be loaded here. */
  addOwned(row: Pick<SessionRow, 'key' | 'uid' | 'head'>, error: unknown, now: number): void {
    this.#add(row, { error, until: now + RETRY_MS });
  }

  /** Remembers why an idle session could not be loaded, until it is tried again. */
  addIdle(row: Pick<SessionRow, 'key' | 'uid' | 'head'>, error: unknown): void {
    this.#add(row, { error, until: -Infinity });
  }

  /** True if a scan need not look at the session: it cannot run here, or its agent was not available a moment ago. */
  has(row: SessionRow, now: number): boolean {
    return now <= (this.#find(row)?.until ?? -Infinity);
  }

  /** True if the session cannot run here as it is in this row, whatever message it gets. */
  isDecided(row: SessionRow, now: number): boolean {
    return this.#find(row)?.error !== undefined && this.has(row, now);
  }

  /** The reason for which a session could not run here when it was last looked at. */
  getError(key: SessionKey): unknown {
    return this.#decisions.get(formatSessionKey(key))?.error;
  }

  delete(key: SessionKey): void {
    this.#decisions.delete(formatSessionKey(key));
  }

  #add(
    { key, uid, head }: Pick<SessionRow, 'key' | 'uid' | 'head'>,
    decision: Pick<Decision, 'error' | 'until'>,
  ): void {
    const name = formatSessionKey(key);
    this.#decisions.delete(name);
    this.#decisions.set(name, { uid, head, ...decision });
    const [oldest] = this.#decisions.keys();
    if (this.#decisions.size > this.#capacity && oldest !== undefined)
      this.#decisions.delete(oldest);
  }

  /** Finds the decision that holds for this row. Forgets one that does not. */
  #find(row: SessionRow): Decision | undefined {
    const decision = this.#decisions.get(formatSessionKey(row.key));
    if (decision === undefined) return undefined;
    // A quarantine ends without a step: an operator releases it.
    const isCurrent =
      decision.error instanceof SessionQuarantinedError
        ? row.status === 'quarantined'
        : decision.head === row.head;
    if (decision.uid === row.uid && isCurrent) return decision;
    this.delete(row.key);
    return undefined;
  }
}
