import { HttpError } from './http-error.ts';

const MAX_IMPORTS = 4;
const RETRY_AFTER_SECONDS = 5;

/**
 * The journal files that are being imported. Four can be received at a time, one of each workspace, so that a slow client
 * delays no other workspace. They are written one after the other, because each locks the store while it is written.
 */
export class ImportPlaces {
  readonly maxBytes: number;
  readonly #workspaces = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /**
   * Takes a place until the result is disposed.
   * @throws HttpError 429 when none is free
   */
  take(workspace: string): Disposable {
    if (this.#workspaces.has(workspace))
      throw tooMany('Another journal file is being imported into this workspace');
    if (this.#workspaces.size >= MAX_IMPORTS)
      throw tooMany(`${MAX_IMPORTS} journal files are being imported`);
    this.#workspaces.add(workspace);
    return { [Symbol.dispose]: () => void this.#workspaces.delete(workspace) };
  }

  /** Runs a function when those before it have ended. */
  async runAlone<T>(run: () => Promise<T>): Promise<T> {
    const running = this.#last.then(run);
    this.#last = running.catch(() => {});
    return running;
  }
}

function tooMany(reason: string): HttpError {
  return new HttpError(429, `${reason}: try again later.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
