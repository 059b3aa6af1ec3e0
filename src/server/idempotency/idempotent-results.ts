import { isJsonObject } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentChange, DocumentStore } from '../../store/index.ts';

const KIND = 'attempt-made';
/** How long a request can be repeated. */
const RETENTION_MS = 24 * 60 * 60_000;

/** Results of requests by idempotency key, so that a repeated request does not repeat its effect. */
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

  /** Stores the result of a request. If one is stored already, returns that one. */
  async save(workspace: string, idempotencyKey: string, result: Json): Promise<Json> {
    const written = await this.#documents.writeDocuments([
      this.insertion(workspace, idempotencyKey, result),
    ]);
    return written.ok ? result : ((await this.find(workspace, idempotencyKey)) ?? result);
  }

  /**
   * The change that stores a result. Write it together with the effect of the request: the write fails if a result is
   * stored already.
   */
  insertion(workspace: string, idempotencyKey: string, result: Json): DocumentChange {
    const value = { made: result, at: this.#clock.now() };
    return { kind: KIND, id: `${workspace}/${idempotencyKey}`, version: 0, value };
  }

  /** Returns the id of the resource that the request creates: the same for every repetition. */
  async reserveId(workspace: string, idempotencyKey: string, newId: string): Promise<string> {
    const id = await this.save(workspace, idempotencyKey, newId);
    return typeof id === 'string' ? id : newId;
  }

  /** Runs an action, unless an earlier repetition of the request has run it. */
  async runOnce(
    workspace: string,
    idempotencyKey: string,
    action: () => Promise<void>,
  ): Promise<void> {
    if ((await this.find(workspace, idempotencyKey)) !== undefined) return;
    await action();
    await this.save(workspace, idempotencyKey, true);
  }

  /** Removes results that are too old to be repeated. */
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
