/** How long a page is hidden before it gives up its connections, in milliseconds. */
const HIDDEN_MS = 10_000;

/**
 * The connections of a page. A browser opens six to a server over HTTP/1.1, for all of its pages together, and a session
 * needs four. So a page that nobody sees gives up its own, and continues where it was when it is seen again.
 */
export class PageConnections {
  #released = new AbortController();
  #shown = Promise.withResolvers<undefined>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(page: Pick<Document, 'hidden' | 'addEventListener'>) {
    const follow = (): void => {
      clearTimeout(this.#timer);
      if (page.hidden) this.#timer = setTimeout(() => this.#released.abort(), HIDDEN_MS);
      else this.#show();
    };
    page.addEventListener('visibilitychange', follow);
    follow();
  }

  /** Aborts when the page gives up its connections. */
  get signal(): AbortSignal {
    return this.#released.signal;
  }

  /** Resolves when the page may connect: at once unless it gave up its connections. */
  async mayConnect(): Promise<void> {
    if (this.#released.signal.aborted) await this.#shown.promise;
  }

  #show(): void {
    if (!this.#released.signal.aborted) return;
    this.#released = new AbortController();
    this.#shown.resolve(undefined);
    this.#shown = Promise.withResolvers();
  }
}
