import { PetrichorError } from '../../core/internal.ts';

/**
 * The optional package `@restatedev/restate-sdk` is not installed.
 * @remedy Run `npm install @restatedev/restate-sdk`.
 */
export class MissingRestatePackageError extends PetrichorError {
  override readonly code = 'restate_package_missing' as const;

  constructor(cause: unknown) {
    super(
      'The dispatcher of Restate needs the package "@restatedev/restate-sdk": npm install @restatedev/restate-sdk.',
      { cause },
    );
  }
}

/**
 * Restate did not take a request to drive a session. Nothing is lost: the request is in the store, and every process
 * looks there for sessions that wait.
 * @remedy Check that Restate runs, and that the service is registered with it: see the page "Restate".
 */
export class RestateUnavailableError extends PetrichorError {
  override readonly code = 'restate_unavailable' as const;
  /** The status of the response. Undefined: there was none. */
  readonly status: number | undefined;

  constructor(origin: string, status: number | undefined, cause?: unknown) {
    const reason = status === undefined ? 'did not answer' : `answered with status ${status}`;
    super(`Restate at ${origin} ${reason}. Sessions wait until the next look at the store.`, {
      cause,
    });
    this.status = status;
  }
}
