import type { SessionActivity, SessionKey, SessionStatus } from '../../../core/index.ts';
import { toSessionStatus } from '../../rules/row-status.ts';
import type { DocumentItem, InputItem, SharedItem, TombstoneItem } from '../../store-item.ts';
import type { InputSeq } from '../../store.ts';
import type { Json } from '../../../core/index.ts';
import { packWithoutBlobs, type Packed } from '../database/packed-json.ts';
import { WRITES_KIND } from '../database/wal-loss-detector.ts';
import type { Connection, Statement } from '../database/connection.ts';
import type { BlobTable } from './blob-table.ts';

interface NamedRow {
  readonly id: number;
  readonly app: string;
  readonly user: string;
  readonly name: string;
}

interface StatusRow {
  readonly last_seq: number;
  readonly status: SessionActivity;
  readonly phase: string | null;
}

interface SharedRow {
  readonly app: string;
  readonly user: string;
  readonly name: string;
  readonly value: Packed<Json> | null;
  readonly version: number;
}

/** The statements that only exports and imports need. */
export class ItemTable {
  readonly #blobs: BlobTable;
  readonly #page: Statement<NamedRow>;
  readonly #status: Statement<StatusRow>;
  readonly #keys: Statement<{ input: InputSeq; key: string }>;
  readonly #kinds: Statement<{ kind: string }>;
  readonly #shared: Statement<SharedRow>;
  readonly #tombstones: Statement<Omit<NamedRow, 'id'> & { readonly uid: string }>;
  readonly #others: Statement<object>;
  readonly #apps: Statement<{ app: string }>;
  readonly #insertDocument: Statement<never>;
  readonly #insertShared: Statement<never>;
  readonly #insertTombstone: Statement<never>;

  constructor(connection: Connection, blobs: BlobTable) {
    this.#blobs = blobs;
    this.#page = connection.prepare(
      'SELECT id, app, user, name FROM sessions WHERE id > ? ORDER BY id LIMIT ?',
    );
    this.#status = connection.prepare('SELECT last_seq, status, phase FROM sessions WHERE id = ?');
    this.#keys = connection.prepare(
      'SELECT input, key FROM input_keys WHERE session = ? AND input > ? ORDER BY input LIMIT ?',
    );
    this.#kinds = connection.prepare(
      `SELECT DISTINCT kind FROM documents WHERE kind <> '${WRITES_KIND}' ORDER BY kind`,
    );
    this.#shared = connection.prepare(
      'SELECT app, user, name, value, version FROM shared_state ORDER BY app, user, name',
    );
    this.#tombstones = connection.prepare(
      'SELECT app, user, name, uid FROM tombstones ORDER BY app, user, name',
    );
    const other = 'WHERE uid = ? AND NOT (app = ? AND user = ? AND name = ?)';
    this.#others = connection.prepare(
      `SELECT 1 FROM sessions ${other} UNION ALL SELECT 1 FROM tombstones ${other} LIMIT 1`,
    );
    this.#apps = connection.prepare('SELECT DISTINCT app FROM usage ORDER BY app');
    this.#insertDocument = connection.prepare(
      'INSERT INTO documents (kind, id, version, value) VALUES (?, ?, ?, ?)',
    );
    this.#insertShared = connection.prepare(
      'INSERT INTO shared_state (app, user, name, value, version) VALUES (?, ?, ?, ?, ?)',
    );
    this.#insertTombstone = connection.prepare(
      'INSERT INTO tombstones (app, user, name, uid) VALUES (?, ?, ?, ?)',
    );
  }

  /** Lists sessions with an id above `after`. */
  page(after: number, limit: number): readonly { readonly id: number; readonly key: SessionKey }[] {
    return this.#page.all(after, limit).map((row) => ({ id: row.id, key: toKey(row) }));
  }

  /** The status that the session would have if it were not quarantined. */
  status(session: number): SessionStatus {
    const row = this.#status.get(session);
    const { last_seq: lastSeq = 0, status: activity = 'idle', phase = null } = row ?? {};
    return toSessionStatus({ lastSeq, activity, status: phase });
  }

  inputKeys(
    session: number,
    after: InputSeq,
    limit: number,
  ): readonly Pick<InputItem, 'inputSeq' | 'dedupeKey'>[] {
    return this.#keys
      .all(session, after, limit)
      .map(({ input, key }) => ({ inputSeq: input, dedupeKey: key }));
  }

  documentKinds(): readonly string[] {
    return this.#kinds.all().map(({ kind }) => kind);
  }

  shared(): readonly SharedItem[] {
    return this.#shared.all().map(({ app: appName, user: userId, name, value, version }) => {
      const item = { type: 'shared', appName, userId, name, version } as const;
      if (value === null) return item;
      return { ...item, value: this.#blobs.unpack(value, `shared state ${JSON.stringify(name)}`) };
    });
  }

  tombstones(): readonly TombstoneItem[] {
    return this.#tombstones
      .all()
      .map((row) => ({ type: 'tombstone', key: toKey(row), uid: row.uid }));
  }

  usageApps(): readonly string[] {
    return this.#apps.all().map(({ app }) => app);
  }

  insertDocument({ kind, id, version, value }: DocumentItem): void {
    this.#insertDocument.run(kind, id, version, packWithoutBlobs(value));
  }

  insertShared({ appName, userId, name, value, version }: SharedItem): void {
    const packed = value === undefined ? null : packWithoutBlobs(value);
    this.#insertShared.run(appName, userId, name, packed, version);
  }

  /** Inserts a tombstone that is no change. */
  /** True if a session or a tombstone of another key has this uid. Reads all rows. */
  isUidOfOther({ key, uid }: Pick<TombstoneItem, 'key' | 'uid'>): boolean {
    const values = [uid, key.appName, key.userId, key.sessionId] as const;
    return this.#others.get(...values, ...values) !== undefined;
  }

  insertTombstone({ key, uid }: TombstoneItem): void {
    this.#insertTombstone.run(key.appName, key.userId, key.sessionId, uid);
  }
}

function toKey({ app, user, name }: Omit<NamedRow, 'id'>): SessionKey {
  return { appName: app, userId: user, sessionId: name };
}
