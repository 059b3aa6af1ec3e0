import { InvalidInputError, isJsonObject, newMessageId, sha256Hex } from '../core/index.ts';
import type { Json } from '../core/index.ts';
import type { Clock } from '../net/index.ts';
import type { DocumentStore } from '../store/index.ts';

const KIND = 'sent-request';
/** A client that was not answered for so long repeats nothing any more. */
const KEEP_MS = 15 * 60_000;
/** A client whose connection broke tries again within so long. */
const BROKEN_MS = 60_000;
/** Equal requests that are remembered at once: a retry belongs to one of the last ones. */
const MAX_EQUAL = 32;
/** Documents that are removed in one write. */
const SWEPT_AT_ONCE = 200;

/** By default a retry is taken for one of an equal request of the last minute. */
export const DEFAULT_RETRY_WINDOW_MS = 60_000;

/** One request that was taken up and may not have been answered. */
interface Taken {
  readonly key: string;
  /** The highest count of a repetition that was seen of it. */
  readonly count: number;
  readonly at: number;
  /** Its reply was written. Whether it came through is not known, so a retry may come until then; epoch milliseconds. */
  readonly until?: number;
}

export interface SendRequest {
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
export class SendRegister {
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
  async take(request: SendRequest): Promise<{ readonly key: string; readonly register: string }> {
    const { keyId, path, body, retryCount } = request;
    const register = sha256Hex(`${keyId}\0${path}\0${body}`);
    return { key: await this.#take(register, retryCount), register };
  }

  /** The request was refused: nothing was done, so a retry does nothing twice. */
  async refused(register: string, key: string): Promise<void> {
    await this.#change(register, (taken) => taken.filter((one) => one.key !== key));
  }

  /** The reply was written whole; `isCut` when its connection ended at once afterwards. */
  async written(register: string, key: string, isCut: boolean): Promise<void> {
    const ms = isCut ? Math.max(BROKEN_MS, this.#retryWindowMs) : this.#retryWindowMs;
    if (ms === 0) return this.refused(register, key);
    const until = this.#clock.now() + ms;
    await this.#change(register, (taken) =>
      taken.map((one) => (one.key === key ? { ...one, until } : one)),
    );
  }

  /** Forgets what is too old to be repeated. */
  async sweep(): Promise<void> {
    const now = this.#clock.now();
    const old = (await this.#documents.documents({ kind: KIND })).filter(({ value }) =>
      takenIn(value).every((one) => endOf(one) <= now),
    );
    for (let start = 0; start < old.length; start += SWEPT_AT_ONCE)
      // One that is used again meanwhile keeps the others of its write: they go with the next sweep.
      await this.#documents.writeDocuments(
        old
          .slice(start, start + SWEPT_AT_ONCE)
          .map(({ id, version }) => ({ kind: KIND, id, version })),
      );
  }

  async #change(
    register: string,
    change: (taken: readonly Taken[]) => readonly Taken[],
  ): Promise<void> {
    const { taken, version } = await this.#read(register);
    if (version === 0) return;
    const next = change(taken);
    const written = await this.#documents.writeDocuments([
      { kind: KIND, id: register, version, ...(next.length > 0 && { value: asJson(next) }) },
    ]);
    if (!written.ok) await this.#change(register, change);
  }

  async #take(register: string, retryCount: number): Promise<string> {
    const { taken, version } = await this.#read(register);
    const now = this.#clock.now();
    const fresh = taken.filter((one) => now < endOf(one));
    const meant =
      retryCount === 0
        ? undefined
        : // The latest: an older one may only seem to be unanswered. A proxy may send one retry twice.
          (fresh.findLast(({ count }) => count === retryCount - 1) ??
          fresh.findLast(({ count }) => count < retryCount) ??
          fresh.at(-1));
    const key = meant?.key ?? newMessageId().replaceAll('-', '');
    const next = [
      ...fresh.filter((one) => one !== meant).slice(1 - MAX_EQUAL),
      { key, count: Math.max(retryCount, meant?.count ?? 0), at: meant?.at ?? now },
    ];
    const written = await this.#documents.writeDocuments([
      { kind: KIND, id: register, version, value: asJson(next) },
    ]);
    return written.ok ? key : this.#take(register, retryCount);
  }

  async #read(
    register: string,
  ): Promise<{ readonly taken: readonly Taken[]; readonly version: number }> {
    const found = await this.#documents.document(KIND, register);
    return found === undefined
      ? { taken: [], version: 0 }
      : { taken: takenIn(found.value), version: found.version };
  }
}

function endOf({ at, until }: Taken): number {
  return until ?? at + KEEP_MS;
}

function asJson(taken: readonly Taken[]): Json {
  return taken.map((one) => ({ ...one }));
}

function takenIn(value: Json): readonly Taken[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: Json): Taken[] => {
    if (!isJsonObject(one)) return [];
    const { key, count, at, until } = one;
    const isTaken = typeof key === 'string' && typeof count === 'number' && typeof at === 'number';
    return isTaken ? [{ key, count, at, ...(typeof until === 'number' && { until }) }] : [];
  });
}
