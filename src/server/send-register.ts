import { isJsonObject, newMessageId, sha256Hex } from '../core/index.ts';
import type { Json } from '../core/index.ts';
import type { Clock } from '../net/index.ts';
import type { DocumentStore } from '../store/index.ts';

const KIND = 'sent-request';
/** A client that was not answered for so long repeats nothing any more. */
const KEEP_MS = 15 * 60_000;
/** A client whose connection broke tries again within so long. */
const KEEP_WRITTEN_MS = 60_000;

/** One request that was taken up and may not have been answered. */
interface Taken {
  readonly key: string;
  /** The highest count of a repetition that was seen of it. */
  readonly count: number;
  readonly at: number;
  /** Its reply was written, and whether it came through is not known: a repetition would come soon. */
  readonly written?: true;
}

export interface SendRequest {
  readonly keyId: string;
  readonly path: string;
  readonly body: string;
  /** How often the client says it has tried before. */
  readonly retryCount: number;
}

/**
 * Tells a repeated request from one that is meant twice. Clients send no key, but they count their repetitions: a
 * repetition belongs to an equal request whose reply did not reach its client, and gets that request's key. What is
 * known of it is durable before the request is carried out, so it holds across a crash.
 */
export class SendRegister {
  readonly #documents: DocumentStore;
  readonly #clock: Clock;

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents;
    this.#clock = clock;
  }

  /** The key to do it under: doing it again under the same key does nothing. */
  async take(request: SendRequest): Promise<{ readonly key: string; readonly register: string }> {
    const { keyId, path, body, retryCount } = request;
    const register = sha256Hex(`${keyId}\0${path}\0${body}`);
    return { key: await this.#take(register, retryCount), register };
  }

  /** The reply reached its client: whatever comes after it is meant. */
  async delivered(register: string, key: string): Promise<void> {
    const { taken, version } = await this.#read(register);
    const rest = taken.filter((one) => one.key !== key);
    if (rest.length === taken.length) return;
    const written = await this.#documents.writeDocuments([
      { kind: KIND, id: register, version, ...(rest.length > 0 && { value: asJson(rest) }) },
    ]);
    if (!written.ok) await this.delivered(register, key);
  }

  /** The reply was written, and then the connection ended: nobody knows whether it came through. */
  async written(register: string, key: string): Promise<void> {
    const { taken, version } = await this.#read(register);
    const next = taken.map((one): Taken =>
      one.key === key ? { ...one, written: true, at: this.#clock.now() } : one,
    );
    const value = asJson(next);
    const written = await this.#documents.writeDocuments([
      { kind: KIND, id: register, version, ...(next.length > 0 && { value }) },
    ]);
    if (!written.ok) await this.written(register, key);
  }

  /** Forgets what is too old to be repeated. */
  async sweep(): Promise<void> {
    const now = this.#clock.now();
    for (const { id, version, value } of await this.#documents.documents({ kind: KIND })) {
      if (takenIn(value).every((one) => endOf(one) <= now))
        await this.#documents.writeDocuments([{ kind: KIND, id, version }]);
    }
  }

  async #take(register: string, retryCount: number): Promise<string> {
    const { taken, version } = await this.#read(register);
    const now = this.#clock.now();
    const fresh = taken.filter((one) => now < endOf(one));
    const meant =
      retryCount === 0
        ? undefined
        : // The latest: an older one may only seem to be unanswered.
          (fresh.findLast(({ count }) => count === retryCount - 1) ??
          fresh.findLast(({ count }) => count < retryCount));
    const key = meant?.key ?? newMessageId().replaceAll('-', '');
    const next = [
      ...fresh.filter((one) => one !== meant),
      { key, count: retryCount, at: meant?.at ?? now },
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

function endOf({ at, written }: Taken): number {
  return at + (written === true ? KEEP_WRITTEN_MS : KEEP_MS);
}

function asJson(taken: readonly Taken[]): Json {
  return taken.map((one) => ({ ...one }));
}

function takenIn(value: Json): readonly Taken[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: Json): Taken[] => {
    if (!isJsonObject(one)) return [];
    const { key, count, at, written } = one;
    const isTaken = typeof key === 'string' && typeof count === 'number' && typeof at === 'number';
    return isTaken ? [{ key, count, at, ...(written === true && { written }) }] : [];
  });
}
