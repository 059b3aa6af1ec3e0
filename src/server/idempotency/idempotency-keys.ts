import { isJsonObject, sha256Hex } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentStore } from '../../store/index.ts';
import { HttpError } from '../http/http-error.ts';

const KIND = 'idempotency-key';
/** How long a key is remembered; after that it can name another request. */
const RETENTION_MS = 24 * 60 * 60_000;

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  readonly keyId: string;
  readonly path: string;
  readonly body: string;
  readonly clientKey: string;
}

/** Remembers the request that each `Idempotency-Key` was first sent with, for 24 hours. */
export class IdempotencyKeys {
  readonly #documents: DocumentStore;
  readonly #clock: Clock;

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents;
    this.#clock = clock;
  }

  /**
   * Claims a client's key for a request. Returns the internal key of the request, and whether the client's key is new.
   * @throws HttpError 409 when the key was sent with another body
   */
  async claim(
    request: KeyedRequest,
  ): Promise<{ readonly idempotencyKey: string; readonly isNew: boolean }> {
    const id = documentId(request);
    const body = sha256Hex(request.body);
    const idempotencyKey = sha256Hex(`idempotent\0${id}\0${body}`).slice(0, 32);
    const now = this.#clock.now();
    const found = await this.#documents.document(KIND, id);
    const stored = isJsonObject(found?.value) ? found.value : {};
    if (typeof stored['at'] === 'number' && now < stored['at'] + RETENTION_MS) {
      if (stored['body'] === body) return { idempotencyKey, isNew: false };
      throw new HttpError(
        409,
        `Idempotency-Key "${truncate(request.clientKey)}" was sent with another body. Repeat that request, or use a new key.`,
      );
    }
    const written = await this.#documents.writeDocuments([
      { kind: KIND, id, version: found?.version ?? 0, value: { body, at: now } },
    ]);
    // A concurrent request wrote first.
    return written.ok ? { idempotencyKey, isNew: true } : this.claim(request);
  }

  /** Frees a key after its request was refused, since nothing was done under it. */
  async release(request: KeyedRequest): Promise<void> {
    const id = documentId(request);
    const found = await this.#documents.document(KIND, id);
    if (found !== undefined)
      await this.#documents.writeDocuments([{ kind: KIND, id, version: found.version }]);
  }

  /** Removes expired keys. */
  async sweep(): Promise<void> {
    const before = this.#clock.now() - RETENTION_MS;
    for (const { id, version, value } of await this.#documents.documents({ kind: KIND })) {
      const at = isJsonObject(value) ? value['at'] : undefined;
      if (typeof at !== 'number' || at <= before)
        await this.#documents.writeDocuments([{ kind: KIND, id, version }]);
    }
  }
}

function documentId({ keyId, path, clientKey }: KeyedRequest): string {
  return sha256Hex(`${keyId}\0${path}\0${clientKey}`);
}

function truncate(key: string): string {
  return key.length > 64 ? `${key.slice(0, 64)}…` : key;
}
