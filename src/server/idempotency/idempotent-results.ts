import { isJsonObject } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentChange, DocumentStore } from '../../store/index.ts';

const KIND = 'attempt-made';
/** Nobody repeats a request after so long. */
const RETENTION_MS = 24 * 60 * 60_000;

/** What a request that may be repeated has made, by the key of its attempt: repeated, it makes nothing more. */
export class IdempotentResults {
  readonly #documents: DocumentStore;
  readonly #clock: Clock;

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents;
    this.#clock = clock;
  }

  async find(workspace: string, idempotencyKey: string): Promise<Json | undefined> {
    const found = await this.#documents.document(KIND, `${workspace}/${idempotencyKey}`);
    return found === undefined ? undefined : parseResult(found.value);
  }

  /** Keeps what it makes, unless it has made something: then it is that. */
  async save(workspace: string, idempotencyKey: string, result: Json): Promise<Json> {
    const written = await this.#documents.writeDocuments([
      this.insertion(workspace, idempotencyKey, result),
    ]);
    return written.ok ? result : ((await this.find(workspace, idempotencyKey)) ?? result);
  }

  /** What keeps it, to be written together with what it makes: refused when the attempt made something before. */
  insertion(workspace: string, idempotencyKey: string, result: Json): DocumentChange {
    const value = { made: result, at: this.#clock.now() };
    return { kind: KIND, id: `${workspace}/${idempotencyKey}`, version: 0, value };
  }

  /** The id to make something under: the same for every repetition. */
  async reserveId(workspace: string, idempotencyKey: string, newId: string): Promise<string> {
    const id = await this.save(workspace, idempotencyKey, newId);
    return typeof id === 'string' ? id : newId;
  }

  /** What is done once for all repetitions. */
  async runOnce(
    workspace: string,
    idempotencyKey: string,
    action: () => Promise<void>,
  ): Promise<void> {
    if ((await this.find(workspace, idempotencyKey)) !== undefined) return;
    await action();
    await this.save(workspace, idempotencyKey, true);
  }

  /** Forgets what is too old to be repeated. */
  async sweep(): Promise<void> {
    const before = this.#clock.now() - RETENTION_MS;
    for (const { id, version, value } of await this.#documents.documents({ kind: KIND })) {
      const at = isJsonObject(value) ? value['at'] : undefined;
      if (typeof at !== 'number' || at < before)
        await this.#documents.writeDocuments([{ kind: KIND, id, version }]);
    }
  }
}

function parseResult(value: Json): Json | undefined {
  return isJsonObject(value) ? value['made'] : undefined;
}
