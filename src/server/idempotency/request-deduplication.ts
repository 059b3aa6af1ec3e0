import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError, isJsonObject, newMessageId, sha256Hex } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentStore } from '../../store/index.ts';

const KIND = 'sent-request';
/** How long a request without a response can be retried. */
const UNANSWERED_RETENTION_MS = 15 * 60_000;
/** How long after a broken connection a client may retry. */
const DISCONNECT_WINDOW_MS = 60_000;
/** How many equal requests are remembered. A retry belongs to one of the last ones. */
const MAX_EQUAL_REQUESTS = 32;
/** How many documents one write removes. */
const SWEEP_BATCH_SIZE = 200;

/** Default of `ServerOptions.retryWindowMs`. */
export const DEFAULT_RETRY_WINDOW_MS = 60_000;

/** A request whose response may not have reached the client. */
interface RecentRequest {
  readonly key: string;
  /** The highest retry count seen for this request. */
  readonly count: number;
  readonly at: number;
  /** The response was written, but it may be lost. Retries are recognized until this time, in epoch milliseconds. */
  readonly until?: number;
}

export interface DeduplicatedRequest {
  readonly keyId: string;
  readonly path: string;
  readonly body: string;
  /** How many retries the client reports to have sent before. */
  readonly retryCount: number;
}

/**
 * Tells a retry from a request that is sent twice on purpose. Stock clients send no idempotency key, but they count
 * their retries. A retry belongs to an equal request whose response may not have reached the client, and gets that
 * request's key. A response that was written to its connection may still be lost behind a proxy, so an equal request is
 * remembered for `retryWindowMs` after its response. A request is stored before it is carried out, so retries are
 * recognized across a crash.
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

  /** Returns the key of the request. A request with a key that was used before has no further effect. */
  async acquire(
    request: DeduplicatedRequest,
  ): Promise<{ readonly key: string; readonly documentId: string }> {
    const { keyId, path, body, retryCount } = request;
    const documentId = sha256Hex(`${keyId}\0${path}\0${body}`);
    return { key: await this.#acquireKey(documentId, retryCount), documentId };
  }

  /** Forgets a request that was refused. It had no effect, so a retry repeats nothing. */
  async release(documentId: string, key: string): Promise<void> {
    await this.#change(documentId, (requests) => requests.filter((one) => one.key !== key));
  }

  /** Records that the whole response was written. `isDisconnected`: the connection closed right after it. */
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

  /** Removes requests that are too old to be retried. */
  async sweep(): Promise<void> {
    const now = this.#clock.now();
    const old = (await this.#documents.documents({ kind: KIND })).filter(({ value }) =>
      parseRequests(value).every((one) => expiryTime(one) <= now),
    );
    for (let start = 0; start < old.length; start += SWEEP_BATCH_SIZE)
      // A document that is used again meanwhile makes its whole batch fail. The next sweep removes the rest.
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
      {
        kind: KIND,
        id: documentId,
        version,
        ...omitUndefined({ value: next.length > 0 ? toJson(next) : undefined }),
      },
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
        : // The latest match: an older one may have been answered. A proxy may send one retry twice.
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
    return isRequest
      ? [
          {
            key,
            count,
            at,
            ...omitUndefined({ until: typeof until === 'number' ? until : undefined }),
          },
        ]
      : [];
  });
}
