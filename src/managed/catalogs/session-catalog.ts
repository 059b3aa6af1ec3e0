import { canonicalJson, InvalidInputError, sha256Hex } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { DocumentChange, DocumentStore } from '../../store/index.ts';
import { ManagedSessionNotFoundError } from '../interface/managed-errors.ts';
import type { PageOptions, Page, SessionEnvironment } from '../interface/managed-runtime.ts';
import { paginate } from './paginate.ts';
import type { ListedEntry } from './paginate.ts';

const SESSIONS = 'session';
const START_KEYS = 'session-start';
const ENVIRONMENTS = 'session-environment';
/** The sessions whose deletion began, by id, each with the sessions of the agents that it called. */
const DELETIONS = 'session-deletion';

/** What is kept of a session beside its journal: what it began with, and what people call it. */
export interface SessionRecord {
  readonly id: string;
  readonly agentId: string;
  readonly agentVersion: number;
  /** The name of its agent in the journal. */
  readonly agentName: string;
  readonly userId: string;
  readonly environment?: SessionEnvironment;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly createdAt: number;
  /** It is being deleted: to everybody else it is gone. */
  readonly isDeleting?: true;
}

/** The sessions there are. */
export class SessionCatalog {
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore) {
    this.#documents = documents;
  }

  /**
   * The record as it is kept: an earlier one, when the start key was there. `write` writes its documents with others,
   * or none of them.
   */
  async add(
    record: SessionRecord,
    options: {
      readonly startKey?: string | undefined;
      readonly documents?: readonly DocumentChange[] | undefined;
      readonly write?: (changes: readonly DocumentChange[]) => Promise<{ readonly ok: boolean }>;
    } = {},
  ): Promise<SessionRecord> {
    const { startKey, documents = [] } = options;
    const { write = async (changes) => this.#documents.writeDocuments(changes) } = options;
    const { id } = record;
    const key = startKey === undefined ? undefined : sha256Hex(startKey);
    const written = await write([
      { kind: SESSIONS, id, version: 0, value: asJson(record) },
      ...(key === undefined ? [] : [{ kind: START_KEYS, id: key, version: 0, value: id }]),
      ...documents,
    ]);
    if (written.ok) return record;
    const earlier = key === undefined ? await this.find(id) : await this.findByStartKey(key);
    if (earlier === undefined)
      throw new InvalidInputError('id', `"${id}" is taken: start the session again.`);
    return earlier;
  }

  async findByStartKey(keyHash: string): Promise<SessionRecord | undefined> {
    const found = await this.#documents.document(START_KEYS, keyHash);
    return typeof found?.value === 'string' ? this.find(found.value) : undefined;
  }

  async find(id: string): Promise<SessionRecord | undefined> {
    const found = await this.#documents.document(SESSIONS, id);
    const record = found === undefined ? undefined : asSessionRecord(found.value);
    return record?.isDeleting === true ? undefined : record;
  }

  /** @throws ManagedSessionNotFoundError */
  async get(id: string): Promise<SessionRecord> {
    const record = await this.find(id);
    if (record === undefined) throw new ManagedSessionNotFoundError(id);
    return record;
  }

  /** Newest first; those that `shown` gives nothing for are left out. */
  async list<T>(
    options: PageOptions,
    project: (record: SessionRecord) => Promise<T | undefined>,
  ): Promise<Page<T>> {
    return paginate(options, async ({ after, limit }) => {
      const found = await this.#documents.documents({
        kind: SESSIONS,
        order: 'descending',
        limit,
        ...(after !== undefined && { after }),
      });
      return Promise.all(
        found.map(async ({ id, value }): Promise<ListedEntry<T>> => ({
          id,
          item:
            asSessionRecord(value).isDeleting === true
              ? undefined
              : await project(asSessionRecord(value)),
        })),
      );
    });
  }

  async change(
    id: string,
    change: Pick<SessionRecord, 'title' | 'metadata'>,
  ): Promise<SessionRecord> {
    const found = await this.#documents.document(SESSIONS, id);
    if (found === undefined || asSessionRecord(found.value).isDeleting === true)
      throw new ManagedSessionNotFoundError(id);
    const next = { ...asSessionRecord(found.value), ...change };
    const written = await this.#documents.writeDocuments([
      { kind: SESSIONS, id, version: found.version, value: asJson(next) },
    ]);
    return written.ok ? next : this.change(id, change);
  }

  /**
   * From here on nobody finds it but who deletes it. Undefined: there is none.
   * @param threads the sessions of the agents that it called: they are remembered until `remove`.
   */
  async beginDelete(
    id: string,
    threads: (record: SessionRecord) => Promise<readonly string[]>,
  ): Promise<{ readonly record: SessionRecord; readonly threads: readonly string[] } | undefined> {
    const [found, begun] = await Promise.all([
      this.#documents.document(SESSIONS, id),
      this.#documents.document(DELETIONS, id),
    ]);
    if (found === undefined) return undefined;
    const record: SessionRecord = { ...asSessionRecord(found.value), isDeleting: true };
    const known = Array.isArray(begun?.value) ? begun.value.map(String) : [];
    const all = [...new Set([...known, ...(await threads(record))])];
    const written = await this.#documents.writeDocuments([
      { kind: SESSIONS, id, version: found.version, value: asJson(record) },
      { kind: DELETIONS, id, version: begun?.version ?? 0, value: all },
    ]);
    return written.ok ? { record, threads: all } : this.beginDelete(id, threads);
  }

  /** The sessions whose deletion began and was not finished. */
  async deletions(): Promise<readonly string[]> {
    const begun = await this.#documents.documents({ kind: DELETIONS });
    return begun.map(({ id }) => id);
  }

  async remove(id: string): Promise<void> {
    const kinds = await Promise.all(
      [SESSIONS, DELETIONS].map(async (kind) => ({
        kind,
        found: await this.#documents.document(kind, id),
      })),
    );
    const changes = kinds.flatMap(({ kind, found }) =>
      found === undefined ? [] : [{ kind, id, version: found.version }],
    );
    if (changes.length > 0) await this.#documents.writeDocuments(changes);
  }

  /** Keeps an environment under a name made from what it says. Empty: no name. */
  async saveEnvironment(environment: SessionEnvironment): Promise<string> {
    if (Object.keys(environment).length === 0) return '';
    const value = asJson(environment);
    const name = `e${sha256Hex(canonicalJson(value)).slice(0, 16)}`;
    // There already: it says the same.
    await this.#documents.writeDocuments([{ kind: ENVIRONMENTS, id: name, version: 0, value }]);
    return name;
  }

  async environment(name: string): Promise<SessionEnvironment | undefined> {
    if (name === '') return {};
    const found = await this.#documents.document(ENVIRONMENTS, name);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by saveEnvironment
    return found?.value as SessionEnvironment | undefined;
  }
}

function asJson(value: SessionRecord | SessionEnvironment): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON all through; interfaces do not say so
  return value as unknown as Json;
}

function asSessionRecord(value: Json): SessionRecord {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by asJson under the same kind
  return value as unknown as SessionRecord;
}
