import { isJsonObject } from '../core/index.ts';
import type { Json } from '../core/index.ts';
import type { Clock } from '../net/index.ts';
import type { DocumentChange, DocumentStore } from '../store/index.ts';

const KIND = 'attempt-made';
/** Nobody repeats a request after so long. */
const KEEP_MS = 24 * 60 * 60_000;

/** What a request that may be repeated has made, by the key of its attempt: repeated, it makes nothing more. */
export class Attempts {
  readonly #documents: DocumentStore;
  readonly #clock: Clock;

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents;
    this.#clock = clock;
  }

  async find(workspace: string, attempt: string): Promise<Json | undefined> {
    const found = await this.#documents.document(KIND, `${workspace}/${attempt}`);
    return found === undefined ? undefined : madeIn(found.value);
  }

  /** Keeps what it makes, unless it has made something: then it is that. */
  async keep(workspace: string, attempt: string, made: Json): Promise<Json> {
    const written = await this.#documents.writeDocuments([this.keeping(workspace, attempt, made)]);
    return written.ok ? made : ((await this.find(workspace, attempt)) ?? made);
  }

  /** What keeps it, to be written together with what it makes: refused when the attempt made something before. */
  keeping(workspace: string, attempt: string, made: Json): DocumentChange {
    const value = { made, at: this.#clock.now() };
    return { kind: KIND, id: `${workspace}/${attempt}`, version: 0, value };
  }

  /** The id to make something under: the same for every repetition. */
  async idFor(workspace: string, attempt: string, newId: string): Promise<string> {
    const id = await this.keep(workspace, attempt, newId);
    return typeof id === 'string' ? id : newId;
  }

  /** What is done once for all repetitions. */
  async once(workspace: string, attempt: string, act: () => Promise<void>): Promise<void> {
    if ((await this.find(workspace, attempt)) !== undefined) return;
    await act();
    await this.keep(workspace, attempt, true);
  }

  /** Forgets what is too old to be repeated. */
  async sweep(): Promise<void> {
    const before = this.#clock.now() - KEEP_MS;
    for (const { id, version, value } of await this.#documents.documents({ kind: KIND })) {
      const at = isJsonObject(value) ? value['at'] : undefined;
      if (typeof at !== 'number' || at < before)
        await this.#documents.writeDocuments([{ kind: KIND, id, version }]);
    }
  }
}

function madeIn(value: Json): Json | undefined {
  return isJsonObject(value) ? value['made'] : undefined;
}
