import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentStore } from '../../store/index.ts';
import { IdempotentRequest } from './idempotent-request.ts';
import { isExpired, REQUEST_KINDS, toRequestForm } from './request-form.ts';
import type { ClientRequest } from './request-form.ts';

/** How many documents are read and removed at once. */
const SWEEP_PAGE_SIZE = 200;

/** Default of `ServerOptions.retryWindowMs`. */
export const DEFAULT_RETRY_WINDOW_MS = 60_000;

/**
 * Recognizes repetitions of requests: by the `Idempotency-Key`, otherwise by an equal earlier request and the client's
 * retry count. A response that was written to its connection may still be lost behind a proxy, so a request without a
 * key is remembered for `retryWindowMs` after its response.
 */
export class IdempotentRequests {
  readonly #documents: DocumentStore;
  readonly #clock: Clock;
  readonly #retryWindowMs: number;

  /** @throws InvalidInputError for an invalid `retryWindowMs` */
  constructor(documents: DocumentStore, clock: Clock, retryWindowMs: number) {
    this.#documents = documents;
    this.#clock = clock;
    if (!Number.isFinite(retryWindowMs) || retryWindowMs < 0)
      throw new InvalidInputError(
        'retryWindowMs',
        `must be a number of milliseconds of at least 0; it is ${retryWindowMs}.`,
      );
    this.#retryWindowMs = retryWindowMs;
  }

  /** A request of a workspace. It reads nothing yet. */
  get(request: ClientRequest, workspace: string): IdempotentRequest {
    return new IdempotentRequest({
      documents: this.#documents,
      clock: this.#clock,
      form: toRequestForm(request),
      workspace,
      retryWindowMs: this.#retryWindowMs,
    });
  }

  /** Removes requests that cannot be repeated any more. */
  async sweep(): Promise<void> {
    for (const kind of REQUEST_KINDS) await this.#sweepKind(kind);
  }

  async #sweepKind(kind: string): Promise<void> {
    const now = this.#clock.now();
    let after: string | undefined;
    for (;;) {
      const query = { kind, limit: SWEEP_PAGE_SIZE, ...omitUndefined({ after }) };
      const page = await this.#documents.documents(query);
      const expired = page.filter(({ value }) => isExpired(kind, value, now));
      // A document that is used again meanwhile makes the write fail. The next sweep removes the rest.
      if (expired.length > 0)
        await this.#documents.writeDocuments(
          expired.map(({ id, version }) => ({ kind, id, version })),
        );
      after = page.at(-1)?.id;
      if (page.length < SWEEP_PAGE_SIZE) return;
    }
  }
}
