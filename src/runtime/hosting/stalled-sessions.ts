import { formatSessionKey } from '../../core/index.ts';
import type { SessionRow } from '../../store/index.ts';

/** How long a session may stay at the same step after its drive was asked for. */
const STALLED_MS = 10_000;
/** The most sessions of which the step is remembered; each takes about 200 bytes. */
const MAX_SESSIONS = 10_000;

/** What to do with a session that has work: ask the dispatcher for a drive, wait for that drive, or take the session. */
export type SweepAction = 'ask' | 'wait' | 'take';

/** The sessions whose drive was asked for by a sweep, and since when. Uses no clock but that of this process. */
export class StalledSessions {
  readonly #asked = new Map<string, { readonly step: string; readonly since: number }>();

  /**
   * @param row a session with work that has no living owner but this process
   * @param now epoch milliseconds
   */
  decide(row: SessionRow, now: number): SweepAction {
    const name = formatSessionKey(row.key);
    // Effects that nobody runs: no other drive can be about to begin with them.
    if (row.inFlight > 0) return 'take';
    const step = `${row.uid}/${row.epoch}/${row.head}`;
    const asked = this.#asked.get(name);
    if (asked?.step === step) return now - asked.since < STALLED_MS ? 'wait' : 'take';
    this.#asked.delete(name);
    this.#asked.set(name, { step, since: now });
    for (const [oldest] of this.#asked) {
      if (this.#asked.size <= MAX_SESSIONS) break;
      this.#asked.delete(oldest);
    }
    return 'ask';
  }
}
