import { canonicalJson, InvalidInputError, sha256Hex } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { DocumentChange, DocumentStore } from '../../store/index.ts';
import { ManagedSessionNotFoundError } from '../interface/managed-errors.ts';
import type { SessionEnvironment } from '../interface/managed-runtime.ts';

export const SESSIONS = 'session';
const START_KEYS = 'session-start';
export const ENVIRONMENTS = 'session-environment';
/** Sessions whose deletion has started, by id, each with the sessions of the agents it called. */
const DELETIONS = 'session-deletion';

/** Labels of sessions without a record, by user and id. */
export const LABELS = 'session-labels';

/** What clients call a session. */
export type SessionLabels = Pick<SessionRecord, 'title' | 'metadata'>;

/** What is stored about a session outside of its journal: its start options and its labels. */
export interface SessionRecord {
  readonly id: string;
  /** The application that the session belongs to. Absent in records of earlier releases. */
  readonly appName?: string;
  readonly agentId: string;
  readonly agentVersion: number;
  /** The name of its agent in the journal. */
  readonly agentName: string;
  readonly userId: string;
  readonly environment?: SessionEnvironment;
  readonly title?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly createdAt: number;
  /** The session is being deleted and is hidden from all other operations. */
  readonly isDeleting?: true;
}

/** A start that a caller may repeat. */
export interface StartKey {
  readonly userId: string;
  readonly agentId: string;
  readonly dedupeKey: string;
}

/** The id under which an environment is stored. */
export function toEnvironmentName(environment: SessionEnvironment): string {
  return `e${sha256Hex(canonicalJson(asJson(environment))).slice(0, 16)}`;
}

/** The id under which the labels of a session without a record are stored. */
export function toLabelsId(owner: SessionOwnerIds, id: string): string {
  return sha256Hex(canonicalJson([owner.appName, owner.userId, id]));
}

interface SessionOwnerIds {
  readonly appName: string;
  readonly userId: string;
}

/** How the deletion of a session begins. */
export interface PlannedDeletion {
  readonly record: SessionRecord;
  /** The sessions of the agents that it called. */
  readonly threads: readonly string[];
  readonly documents: readonly DocumentChange[];
}

/** Stores the records of the managed sessions of one application. Those of other applications are hidden. */
export class SessionCatalog {
  readonly #documents: DocumentStore;
  readonly #appName: string;

  constructor(documents: DocumentStore, appName: string) {
    this.#documents = documents;
    this.#appName = appName;
  }

  /**
   * Adds a record. If the start key already exists, the earlier record is returned. `write` commits the record's
   * documents together with others, atomically.
   */
  async add(
    record: SessionRecord,
    options: {
      readonly startKey?: StartKey | undefined;
      readonly documents?: readonly DocumentChange[] | undefined;
      readonly write?: (changes: readonly DocumentChange[]) => Promise<{ readonly ok: boolean }>;
    } = {},
  ): Promise<SessionRecord> {
    const { startKey, documents = [] } = options;
    const { write = async (changes) => this.#documents.writeDocuments(changes) } = options;
    const { id } = record;
    const key = startKey === undefined ? undefined : this.#toStartKeyId(startKey);
    const own = { ...record, appName: this.#appName };
    const written = await write([
      { kind: SESSIONS, id, version: 0, value: asJson(own) },
      ...(key === undefined ? [] : [{ kind: START_KEYS, id: key, version: 0, value: id }]),
      ...documents,
    ]);
    if (written.ok) return own;
    const earlier =
      startKey === undefined ? await this.find(id) : await this.findByStartKey(startKey);
    if (earlier === undefined)
      throw new InvalidInputError('id', `"${id}" is taken: start the session again.`);
    return earlier;
  }

  async findByStartKey(key: StartKey): Promise<SessionRecord | undefined> {
    // The ids of earlier releases have no application.
    for (const id of [this.#toStartKeyId(key), sha256Hex(joinStartKey(key))]) {
      const found = await this.#documents.document(START_KEYS, id);
      const record = typeof found?.value === 'string' ? await this.find(found.value) : undefined;
      if (record !== undefined) return record;
    }
    return undefined;
  }

  async find(id: string): Promise<SessionRecord | undefined> {
    const record = await this.findAny(id);
    return record?.isDeleting === true ? undefined : record;
  }

  /** Finds a record, also of a session that is being deleted. */
  async findAny(id: string): Promise<SessionRecord | undefined> {
    const found = await this.#documents.document(SESSIONS, id);
    const record = found === undefined ? undefined : asSessionRecord(found.value);
    return record !== undefined && this.#isOwn(record) ? record : undefined;
  }

  /** @throws ManagedSessionNotFoundError if there is no such session */
  async get(id: string): Promise<SessionRecord> {
    const record = await this.find(id);
    if (record === undefined) throw new ManagedSessionNotFoundError(id);
    return record;
  }

  async change(
    id: string,
    change: Pick<SessionRecord, 'title' | 'metadata'>,
  ): Promise<SessionRecord> {
    const found = await this.#documents.document(SESSIONS, id);
    if (found === undefined || !this.#isShown(asSessionRecord(found.value)))
      throw new ManagedSessionNotFoundError(id);
    const next = { ...asSessionRecord(found.value), ...change };
    const written = await this.#documents.writeDocuments([
      { kind: SESSIONS, id, version: found.version, value: asJson(next) },
    ]);
    return written.ok ? next : this.change(id, change);
  }

  /** Reads the labels of a session that a program made. Its id is unique only with its user. */
  async readLabels({ userId, id }: Pick<SessionRecord, 'userId' | 'id'>): Promise<SessionLabels> {
    const found = await this.#documents.document(LABELS, this.#toLabelsId({ userId, id }));
    return found === undefined ? {} : asSessionLabels(found.value);
  }

  /** Changes the labels of a session that a program made. */
  async changeLabels(
    session: Pick<SessionRecord, 'userId' | 'id'>,
    change: SessionLabels,
  ): Promise<SessionLabels> {
    const id = this.#toLabelsId(session);
    const found = await this.#documents.document(LABELS, id);
    const next = { ...(found === undefined ? {} : asSessionLabels(found.value)), ...change };
    const version = found?.version ?? 0;
    const written = await this.#documents.writeDocuments([
      { kind: LABELS, id, version, value: asJson(next) },
    ]);
    return written.ok ? next : this.changeLabels(session, change);
  }

  async removeLabels(session: Pick<SessionRecord, 'userId' | 'id'>): Promise<void> {
    const id = this.#toLabelsId(session);
    const found = await this.#documents.document(LABELS, id);
    if (found === undefined) return;
    const change = { kind: LABELS, id, version: found.version };
    if (!(await this.#documents.writeDocuments([change])).ok) await this.removeLabels(session);
  }

  /**
   * Marks a session as being deleted, which hides it from all other operations. Returns `undefined` if there is no such
   * session.
   * @param threads the sessions of the agents it called; they are stored until `remove`
   */
  async beginDelete(
    id: string,
    threads: (record: SessionRecord) => Promise<readonly string[]>,
  ): Promise<PlannedDeletion | undefined> {
    const planned = await this.planDelete(id, threads);
    if (planned === undefined) return undefined;
    const written = await this.#documents.writeDocuments(planned.documents);
    return written.ok ? planned : this.beginDelete(id, threads);
  }

  /** The changes of documents with which `beginDelete` begins. Returns `undefined` if there is no such session. */
  async planDelete(
    id: string,
    threads: (record: SessionRecord) => Promise<readonly string[]>,
  ): Promise<PlannedDeletion | undefined> {
    const [found, begun] = await Promise.all([
      this.#documents.document(SESSIONS, id),
      this.#documents.document(DELETIONS, id),
    ]);
    if (found === undefined || !this.#isOwn(asSessionRecord(found.value))) return undefined;
    const record: SessionRecord = { ...asSessionRecord(found.value), isDeleting: true };
    const known = Array.isArray(begun?.value) ? begun.value.map(String) : [];
    const all = [...new Set([...known, ...(await threads(record))])];
    const documents = [
      { kind: SESSIONS, id, version: found.version, value: asJson(record) },
      { kind: DELETIONS, id, version: begun?.version ?? 0, value: all },
    ];
    return { record, threads: all, documents };
  }

  /** Lists the sessions whose deletion started and has not finished. */
  async deletions(): Promise<readonly string[]> {
    const begun = await this.#documents.documents({ kind: DELETIONS });
    const records = await Promise.all(begun.map(async ({ id }) => this.findAny(id)));
    return records.flatMap((record) => record?.id ?? []);
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

  /** Stores an environment under a name derived from its content. The empty environment has an empty name. */
  async saveEnvironment(environment: SessionEnvironment): Promise<string> {
    if (Object.keys(environment).length === 0) return '';
    const value = asJson(environment);
    const name = toEnvironmentName(environment);
    // If the document exists, it has the same content.
    await this.#documents.writeDocuments([{ kind: ENVIRONMENTS, id: name, version: 0, value }]);
    return name;
  }

  async environment(name: string): Promise<SessionEnvironment | undefined> {
    if (name === '') return {};
    const found = await this.#documents.document(ENVIRONMENTS, name);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by saveEnvironment
    return found?.value as SessionEnvironment | undefined;
  }

  #isOwn({ appName }: SessionRecord): boolean {
    return appName === undefined || appName === this.#appName;
  }

  #isShown(record: SessionRecord): boolean {
    return record.isDeleting !== true && this.#isOwn(record);
  }

  #toStartKeyId(key: StartKey): string {
    return sha256Hex(canonicalJson([this.#appName, joinStartKey(key)]));
  }

  #toLabelsId({ userId, id }: Pick<SessionRecord, 'userId' | 'id'>): string {
    return toLabelsId({ appName: this.#appName, userId }, id);
  }
}

function joinStartKey({ userId, agentId, dedupeKey }: StartKey): string {
  return `${userId}\0${agentId}\0${dedupeKey}`;
}

function asSessionLabels(value: Json): SessionLabels {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by changeLabels under the same kind
  return value as unknown as SessionLabels;
}

function asJson(value: SessionRecord | SessionEnvironment | SessionLabels): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all members are JSON; an interface does not express that
  return value as unknown as Json;
}

function asSessionRecord(value: Json): SessionRecord {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by asJson under the same kind
  return value as unknown as SessionRecord;
}
