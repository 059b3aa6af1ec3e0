import type { SessionRow, Store } from '../../store/index.ts';
import type { SessionDispatcher } from './session-dispatcher.ts';

/** The most requests to a dispatcher at a time. */
const MAX_REQUESTS = 64;
/** The most sessions that wait for a request. One more waits for the next look at the store. */
const MAX_WAITING = 10_000;

export interface DriveRequestsOptions {
  readonly dispatcher: Pick<SessionDispatcher, 'dispatch'>;
  readonly store: Pick<Store, 'inbox'>;
  readonly onError: (error: unknown) => void;
}

/** Asks a dispatcher for drives of sessions that have work. Reports the first failure, and no other until one succeeds. */
export class DriveRequests {
  readonly #options: DriveRequestsOptions;
  readonly #waiting: SessionRow[] = [];
  #inProgress = 0;
  #isFailing = false;

  constructor(options: DriveRequestsOptions) {
    this.#options = options;
  }

  /** True if the last request succeeded, and no session waits for one. */
  get isReady(): boolean {
    return !this.#isFailing && this.#waiting.length === 0;
  }

  add(row: SessionRow): void {
    if (this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push(row);
    if (this.#inProgress < MAX_REQUESTS) void this.#sendWaiting();
  }

  async #sendWaiting(): Promise<void> {
    this.#inProgress++;
    for (let row = this.#waiting.shift(); row !== undefined; row = this.#waiting.shift())
      await this.#send(row);
    this.#inProgress--;
  }

  async #send({ key, uid, head, inboxPending }: SessionRow): Promise<void> {
    const { dispatcher, store, onError } = this.#options;
    try {
      const unread = inboxPending ? await store.inbox(key, 0) : [];
      await dispatcher.dispatch({ key, id: `${uid}/${head}/${unread.at(-1)?.inputSeq ?? 0}` });
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) onError(error);
      this.#isFailing = true;
    }
  }
}
