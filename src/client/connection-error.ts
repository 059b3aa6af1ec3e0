import { PetrichorError } from '../core/internal.ts';

/**
 * The server could not be reached, or its response was incomplete, after all retries.
 * @remedy Check that the server runs, and repeat the call. A repeated request takes effect once.
 */
export class ConnectionError extends PetrichorError {
  override readonly code = 'connection' as const;
  readonly url: string;

  constructor(url: string, problem: string, cause?: unknown) {
    super(
      `${url}: ${problem}. Check that the server is running and try again; a repeated request takes effect once.`,
      {
        cause,
      },
    );
    this.url = url;
  }
}
