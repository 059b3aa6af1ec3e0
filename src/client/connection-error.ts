import { PetrichorError } from '../core/errors/petrichor-error.ts';

/** The server could not be reached, or its replies did not come through, however often it was tried. */
export class ConnectionError extends PetrichorError {
  override readonly code = 'connection' as const;
  readonly url: string;

  constructor(url: string, problem: string, cause?: unknown) {
    super(
      `${url}: ${problem}. See whether the server runs, and try again: nothing is done twice.`,
      {
        cause,
      },
    );
    this.url = url;
  }
}
