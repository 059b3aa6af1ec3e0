import { InvalidInputError, isJsonObject, newMessageId, sha256Hex } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentStore } from '../../store/index.ts';

const KIND = 'sent-request';
/** A client that was not answered for so long repeats nothing any more. */
const UNANSWERED_RETENTION_MS = 15 * 60_000;
/** A client whose connection broke tries again within so long. */
const DISCONNECT_WINDOW_MS = 60_000;
/** Equal requests that are remembered at once: a retry belongs to one of the last ones. */
const MAX_EQUAL_REQUESTS = 32;
/** Documents that are removed in one write. */
const SWEEP_BATCH_SIZE = 200;

/** By default a retry is taken for one of an equal request of the last minute. */
export const DEFAULT_RETRY_WINDOW_MS = 60_000;

/** One request that was taken up and may not have been answered. */
interface RecentRequest {
  readonly key: string;
  /** The highest count of a repetition that was seen of it. */
  readonly count: number;
  readonly at: number;
  /** Its reply was written. Whether it came through is not known, so a retry may come until then; epoch milliseconds. */
  readonly until?: number;
}

export interface DeduplicatedRequest {
  readonly keyId: string;
  readonly path: string;
  readonly body: string;
  /** How often the client says it has tried before. */
  readonly retryCount: number;
}

/**
 * Tells a retry from a request that is meant twice. Stock clients send no key, but they count their retries: a retry
 * belongs to an equal request whose reply may not have reached its client, and gets that request's key. A reply that was
 * written to its connection may still be lost behind a proxy, so an equal request is remembered for `retryWindowMs`
 * after its reply. It is stored before the request is carried out, so this holds across a crash.
 */
export class RequestDeduplication {
  readonly #documents: DocumentStore;
  readonly #clock: Clock;
  readonly #retryWindowMs: number;

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

  /** The key to do it under: doing it again under the same key does nothing. */
  async acquire(
    request: DeduplicatedRequest,
  ): Promise<{ readonly key: string; readonly documentId: string }> {
    const { keyId, path, body, retryCount } = request;
    const documentId = sha256Hex(`${keyId}\0${path}\0${body}`);
    return { key: await this.#acquireKey(documentId, retryCount), documentId };
  }

  /** The request was refused: nothing was done, so a retry does nothing twice. */
  async release(documentId: string, key: string): Promise<void> {
    await this.#change(documentId, (requests) => requests.filter((one) => one.key !== key));
  }

  /** The reply was written whole; `isCut` when its connection ended at once afterwards. */
  async replyWritten(documentId: string, key: string, isDisconnected: boolean): Promise<void> {
    const ms = isDisconnected
      ? Math.max(DISCONNECT_WINDOW_MS, this.#retryWindowMs)
      : this.#retryWindowMs;
    if (ms === 0) return this.release(documentId, key);
    const until = this.#clock.now() + ms;
    await this.#change(documentId, (requests) =>
      requests.map((one) => (one.key === key ? { ...one, until } : one)),
    );
  }

  /** Forgets what is too old to be repeated. */
  async sweep(): Promise<void> {
    const now = this.#clock.now();
    const old = (await this.#documents.documents({ kind: KIND })).filter(({ value }) =>
      parseRequests(value).every((one) => expiryTime(one) <= now),
    );
    for (let start = 0; start < old.length; start += SWEEP_BATCH_SIZE)
      // One that is used again meanwhile keeps the others of its write: they go with the next sweep.
      await this.#documents.writeDocuments(
        old
          .slice(start, start + SWEEP_BATCH_SIZE)
          .map(({ id, version }) => ({ kind: KIND, id, version })),
      );
  }

  async #change(
    documentId: string,
    change: (requests: readonly RecentRequest[]) => readonly RecentRequest[],
  ): Promise<void> {
    const { requests, version } = await this.#read(documentId);
    if (version === 0) return;
    const next = change(requests);
    const written = await this.#documents.writeDocuments([
      { kind: KIND, id: documentId, version, ...(next.length > 0 && { value: toJson(next) }) },
    ]);
    if (!written.ok) await this.#change(documentId, change);
  }

  async #acquireKey(documentId: string, retryCount: number): Promise<string> {
    const { requests, version } = await this.#read(documentId);
    const now = this.#clock.now();
    const fresh = requests.filter((one) => now < expiryTime(one));
    const match =
      retryCount === 0
        ? undefined
        : // The latest: an older one may only seem to be unanswered. A proxy may send one retry twice.
          (fresh.findLast(({ count }) => count === retryCount - 1) ??
          fresh.findLast(({ count }) => count < retryCount) ??
          fresh.at(-1));
    const key = match?.key ?? newMessageId().replaceAll('-', '');
    const next = [
      ...fresh.filter((one) => one !== match).slice(1 - MAX_EQUAL_REQUESTS),
      { key, count: Math.max(retryCount, match?.count ?? 0), at: match?.at ?? now },
    ];
    const written = await this.#documents.writeDocuments([
      { kind: KIND, id: documentId, version, value: toJson(next) },
    ]);
    return written.ok ? key : this.#acquireKey(documentId, retryCount);
  }

  async #read(
    documentId: string,
  ): Promise<{ readonly requests: readonly RecentRequest[]; readonly version: number }> {
    const found = await this.#documents.document(KIND, documentId);
    return found === undefined
      ? { requests: [], version: 0 }
      : { requests: parseRequests(found.value), version: found.version };
  }
}

function expiryTime({ at, until }: RecentRequest): number {
  return until ?? at + UNANSWERED_RETENTION_MS;
}

function toJson(requests: readonly RecentRequest[]): Json {
  return requests.map((one) => ({ ...one }));
}

function parseRequests(value: Json): readonly RecentRequest[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: Json): RecentRequest[] => {
    if (!isJsonObject(one)) return [];
    const { key, count, at, until } = one;
    const isRequest =
      typeof key === 'string' && typeof count === 'number' && typeof at === 'number';
    return isRequest ? [{ key, count, at, ...(typeof until === 'number' && { until }) }] : [];
  });
}
