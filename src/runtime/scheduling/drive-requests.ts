import type { SessionRow, Store } from '../../store/index.ts';
import type { DispatchRequest, SessionDispatcher } from './session-dispatcher.ts';

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
  readonly #waiting: (() => Promise<DispatchRequest>)[] = [];
  #inProgress = 0;
  #isFailing = false;

  constructor(options: DriveRequestsOptions) {
    this.#options = options;
  }

  /** True if the last request succeeded, and no session waits for one. */
  get isReady(): boolean {
    return !this.#isFailing && this.#waiting.length === 0;
  }

  /** Asks for a drive of a session that has work now. */
  add(row: SessionRow): void {
    this.#add(async () => this.#toRequest(row));
  }

  /** Asks for a drive of a session whose timer is due later. */
  addTimer(request: DispatchRequest): void {
    this.#add(async () => request);
  }

  #add(prepare: () => Promise<DispatchRequest>): void {
    if (this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push(prepare);
    if (this.#inProgress < MAX_REQUESTS) void this.#sendWaiting();
  }

  async #sendWaiting(): Promise<void> {
    this.#inProgress++;
    for (
      let prepare = this.#waiting.shift();
      prepare !== undefined;
      prepare = this.#waiting.shift()
    )
      await this.#send(prepare);
    this.#inProgress--;
  }

  async #send(prepare: () => Promise<DispatchRequest>): Promise<void> {
    const { dispatcher, onError } = this.#options;
    try {
      await dispatcher.dispatch(await prepare());
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) onError(error);
      this.#isFailing = true;
    }
  }

  async #toRequest({ key, uid, head, inboxPending }: SessionRow): Promise<DispatchRequest> {
    const unread = inboxPending ? await this.#options.store.inbox(key, 0) : [];
    return { key, id: `${uid}/${head}/${unread.at(-1)?.inputSeq ?? 0}` };
  }
}
