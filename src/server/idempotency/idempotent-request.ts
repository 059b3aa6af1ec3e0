import { isDeepStrictEqual } from 'node:util';
import { omitUndefined } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentChange, DocumentStore, StoredDocument } from '../../store/index.ts';
import { KEYED_KIND, parseSeparateResult, SEPARATE_RESULT_KIND } from './request-form.ts';
import type { RequestForm, RequestRecord } from './request-form.ts';

/** How long after a broken connection a client may retry. */
const DISCONNECT_WINDOW_MS = 60_000;

export interface IdempotentRequestOptions {
  readonly documents: DocumentStore;
  readonly clock: Clock;
  readonly form: RequestForm;
  readonly workspace: string;
  readonly retryWindowMs: number;
}

/**
 * A request that a client may repeat. A document records that it arrived, and what it did. A repetition finds both, has
 * no further effect, and gets the same response.
 */
export class IdempotentRequest {
  readonly #documents: DocumentStore;
  readonly #clock: Clock;
  readonly #form: RequestForm;
  readonly #workspace: string;
  readonly #retryWindowMs: number;
  #document: StoredDocument | undefined;
  /** This request, or the earlier one that it repeats, as the document has it. */
  #stored: RequestRecord | undefined;
  /** This request as the document should have it. */
  #record: RequestRecord;
  /** The document did not have the request before this repetition. */
  #isFirst = false;

  constructor(options: IdempotentRequestOptions) {
    const { form, clock } = options;
    this.#documents = options.documents;
    this.#clock = clock;
    this.#form = form;
    this.#workspace = options.workspace;
    this.#retryWindowMs = options.retryWindowMs;
    this.#record = { key: form.newKey, count: form.retryCount, at: clock.now() };
  }

  /** The same for every repetition of the request, and different for every other request. */
  get key(): string {
    return this.#record.key;
  }

  /** What an earlier repetition did. Undefined: none took effect. */
  async findResult(): Promise<Json | undefined> {
    const { key, result } = this.#record;
    if (result !== undefined || this.#stored === undefined || this.#isFirst) return result;
    const id = `${this.#workspace}/${key}`;
    return parseSeparateResult((await this.#documents.document(SEPARATE_RESULT_KIND, id))?.value);
  }

  /** Stores the request before it takes effect, so that its repetitions are recognized from now on. */
  async claim(): Promise<void> {
    while (!isDeepStrictEqual(this.#stored, this.#record)) await this.#tryWrite(this.#record);
  }

  /**
   * The change that stores the request with its result. Write it in the transaction of the effect, then call
   * `onCompleted`. The write fails if a repetition wrote meanwhile: then call `read`.
   */
  completion(result: Json): DocumentChange {
    return this.#change(this.#form.put(this.#document?.value, this.#complete(result), this.#now));
  }

  /** The change that `completion` returned was written. */
  onCompleted(result: Json): void {
    this.#onWritten(this.#complete(result));
  }

  /**
   * Finds out whether the request repeats an earlier one.
   * @throws HttpError 409 when the `Idempotency-Key` was sent with another body
   */
  async read(): Promise<void> {
    const { kind, id, retryCount } = this.#form;
    this.#document = await this.#documents.document(kind, id);
    this.#stored = this.#form.findRepeated(this.#document?.value, this.key, this.#now);
    if (this.#stored === undefined) return;
    this.#record = { ...this.#stored, count: Math.max(retryCount, this.#stored.count) };
  }

  /** Stores a result, unless a repetition has stored one. Returns the stored result. */
  async save(result: Json): Promise<Json> {
    for (;;) {
      const earlier = await this.findResult();
      if (earlier !== undefined) return earlier;
      if (await this.#tryWrite(this.#complete(result))) return result;
    }
  }

  /** Returns the id of the resource that the request creates: the same for every repetition. */
  async reserveId(newId: string): Promise<string> {
    const id = await this.save(newId);
    return typeof id === 'string' ? id : newId;
  }

  /** Runs an action, unless an earlier repetition of the request has run it. */
  async runOnce(action: () => Promise<void>): Promise<void> {
    if ((await this.findResult()) !== undefined) return;
    await action();
    await this.save(true);
  }

  /**
   * Forgets a request that was refused. It had no effect, so the next equal one is a new request. What a repetition did
   * meanwhile is kept.
   */
  async release(): Promise<void> {
    if (this.#isFirst) await this.#forget(({ result }) => result === undefined);
  }

  /**
   * Records that the response was written. A request without an `Idempotency-Key` is then remembered for the retry
   * window only.
   * @param isDelivered `unsure`: the connection closed right after the response
   */
  async onAnswered(isDelivered: true | 'unsure'): Promise<void> {
    if (this.#form.kind === KEYED_KIND) return;
    const windowMs =
      isDelivered === 'unsure'
        ? Math.max(DISCONNECT_WINDOW_MS, this.#retryWindowMs)
        : this.#retryWindowMs;
    if (windowMs === 0) return this.#forget(() => true);
    const until = this.#now + windowMs;
    while (this.#stored !== undefined && this.#stored.until !== until)
      await this.#tryWrite({ ...this.#record, until });
  }

  get #now(): number {
    return this.#clock.now();
  }

  #complete(result: Json): RequestRecord {
    return { ...this.#record, result };
  }

  async #forget(isUnneeded: (stored: RequestRecord) => boolean): Promise<void> {
    while (this.#stored !== undefined && isUnneeded(this.#stored)) {
      const value = this.#form.remove(this.#document?.value, this.key, this.#now);
      if ((await this.#documents.writeDocuments([this.#change(value)])).ok)
        this.#stored = undefined;
      else await this.read();
    }
  }

  /** Writes the record. If another request has changed the document meanwhile, reads it and returns false. */
  async #tryWrite(record: RequestRecord): Promise<boolean> {
    const value = this.#form.put(this.#document?.value, record, this.#now);
    const { ok } = await this.#documents.writeDocuments([this.#change(value)]);
    if (ok) this.#onWritten(record);
    else await this.read();
    return ok;
  }

  #onWritten(record: RequestRecord): void {
    const { kind, id } = this.#form;
    const value = this.#form.put(this.#document?.value, record, this.#now);
    this.#document = { kind, id, version: (this.#document?.version ?? 0) + 1, value };
    this.#isFirst ||= this.#stored === undefined;
    this.#stored = record;
    this.#record = record;
  }

  #change(value: Json | undefined): DocumentChange {
    const { kind, id } = this.#form;
    const version = this.#document?.version ?? 0;
    return { kind, id, version, ...omitUndefined({ value }) };
  }
}
