import type { Clock } from '../../net/index.ts';
import type { DocumentStore } from '../../store/index.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { RequestDeduplication } from './request-deduplication.ts';

/** A request that a client may repeat. */
export interface IdempotentRequest {
  /** The same for every repetition of the request. */
  readonly key: string;
  /** Forgets the request; call it when the request was refused. */
  readonly release: () => Promise<void>;
  /** Records whether the response reached the client; undefined if that is unknown. */
  readonly replied: (isDelivered: boolean | 'unsure' | undefined) => Promise<void>;
}

/** A request that changes nothing, so repetitions need no recognition. */
export const NOT_IDEMPOTENT: IdempotentRequest = {
  key: '',
  release: async () => {},
  replied: async () => {},
};

/**
 * Recognizes repetitions of a request: by its `Idempotency-Key` if it has one, otherwise by an equal earlier request
 * and the client's retry count.
 */
export class RequestIdentifier {
  readonly #deduplication: RequestDeduplication;
  readonly #idempotencyKeys: IdempotencyKeys;

  /** @throws InvalidInputError for an invalid `retryWindowMs` */
  constructor(documents: DocumentStore, clock: Clock, retryWindowMs: number) {
    this.#deduplication = new RequestDeduplication(documents, clock, retryWindowMs);
    this.#idempotencyKeys = new IdempotencyKeys(documents, clock);
  }

  /** @throws HttpError 409 when the `Idempotency-Key` was sent with another body */
  async identify(
    request: { readonly keyId: string; readonly path: string; readonly body: string },
    retryCount: number,
    clientKey: string | undefined,
  ): Promise<IdempotentRequest> {
    if (clientKey !== undefined) {
      const keyedRequest = { ...request, clientKey };
      const { idempotencyKey, isNew } = await this.#idempotencyKeys.claim(keyedRequest);
      const release = async (): Promise<void> =>
        isNew ? this.#idempotencyKeys.release(keyedRequest) : undefined;
      return { ...NOT_IDEMPOTENT, key: idempotencyKey, release };
    }
    const { key, documentId } = await this.#deduplication.acquire({ ...request, retryCount });
    const replied = async (isDelivered: boolean | 'unsure' | undefined): Promise<void> => {
      if (isDelivered === true || isDelivered === 'unsure')
        await this.#deduplication.replyWritten(documentId, key, isDelivered === 'unsure');
    };
    const release = async (): Promise<void> => this.#deduplication.release(documentId, key);
    return { key, release, replied };
  }

  /** Removes idempotency keys that have expired. */
  async sweepKeys(): Promise<void> {
    await this.#idempotencyKeys.sweep();
  }

  /** Removes requests without an idempotency key that are too old to be retried. */
  async sweepRequests(): Promise<void> {
    await this.#deduplication.sweep();
  }
}
