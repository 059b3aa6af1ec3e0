import { parseNoticePayload, type ChangeNotice } from '../server/change-notices.ts';
import type { TableNames } from './schema.ts';
import type { Reads } from './statement.ts';

/** After this time without a change, the poller looks as rarely as `IDLE_POLL_MS`. */
const BUSY_FOR_MS = 1000;
const IDLE_POLL_MS = 1000;
const COMMITS_PER_PAGE = 200;

export interface NoticePollerOptions {
  readonly queries: Reads;
  readonly tables: TableNames;
  readonly pollMs: number;
  /** @param notice undefined when notices may have been missed */
  readonly onNotice: (notice: ChangeNotice | undefined) => void;
}

interface CommitRow {
  readonly n: number;
  readonly payload: string | null;
}

/**
 * Reads the commits of all processes in their order, with one statement each time. Looks often while there are any, and
 * once a second otherwise. Commits are numbered without gaps, so a missing number shows that old ones were deleted.
 */
export class NoticePoller {
  readonly #options: NoticePollerOptions;
  #last: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #quietMs = 0;
  #stopped = false;

  constructor(options: NoticePollerOptions) {
    this.#options = options;
  }

  /** Begins after the last commit. */
  async start(): Promise<void> {
    const { queries, tables: t } = this.#options;
    const [counter] = await queries.rows<{ n: number }>(`SELECT n FROM ${t('counter')}`);
    this.#last = counter?.n ?? 0;
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#stopped) return;
    const { pollMs } = this.#options;
    const pauseMs = this.#quietMs < BUSY_FOR_MS ? pollMs : Math.max(pollMs, IDLE_POLL_MS);
    this.#timer = setTimeout(() => void this.#poll(pauseMs), pauseMs);
    // Polling alone must not keep the process alive.
    this.#timer.unref();
  }

  async #poll(pauseMs: number): Promise<void> {
    try {
      const count = await this.#read();
      this.#quietMs = count === 0 ? this.#quietMs + pauseMs : 0;
    } catch {
      // The server cannot be reached now. Nothing is missed, because the next look begins where this one did.
    }
    this.#schedule();
  }

  async #read(): Promise<number> {
    const { queries, tables: t, onNotice } = this.#options;
    let count = 0;
    for (;;) {
      const last = this.#last ?? 0;
      const rows = await queries.rows<CommitRow>(
        `SELECT n, payload FROM ${t('commits')} WHERE n > ? ORDER BY n LIMIT ${COMMITS_PER_PAGE}`,
        [last],
      );
      if (this.#stopped) return count;
      count += rows.length;
      if ((rows[0]?.n ?? last + 1) !== last + 1) onNotice(undefined);
      for (const { payload } of rows) if (payload !== null) onNotice(parseNoticePayload(payload));
      this.#last = rows.at(-1)?.n ?? last;
      if (rows.length < COMMITS_PER_PAGE) return count;
    }
  }
}
