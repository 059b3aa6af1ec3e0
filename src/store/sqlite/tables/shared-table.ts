import { listConflicts, writtenValues } from '../../../core/internal.ts';
import { type Json, type SessionKey, formatStateKey } from '../../../core/index.ts';
import { toSharedColumns } from '../../encoding/shared-columns.ts';
import type { SettledStep, SharedState } from '../../store.ts';
import type { BlobTable } from './blob-table.ts';
import type { Connection, Statement } from '../database/connection.ts';
import { packWithoutBlobs, type Packed } from '../database/packed-json.ts';

interface SharedRow {
  readonly value: Packed<Json> | null;
  readonly version: number;
}

type Writes = NonNullable<SettledStep['shared']>;
type Scope = Pick<SessionKey, 'appName' | 'userId'>;

/** The shared state of apps and users. Each key has a version. */
export class SharedTable {
  readonly #blobs: BlobTable;
  readonly #find: Statement<SharedRow>;
  readonly #all: Statement<SharedRow & { readonly user: string; readonly name: string }>;
  readonly #write: Statement<never>;

  constructor(connection: Connection, blobs: BlobTable) {
    this.#blobs = blobs;
    this.#find = connection.prepare(
      'SELECT value, version FROM shared_state WHERE app = ? AND user = ? AND name = ?',
    );
    this.#all = connection.prepare(
      `SELECT user, name, value, version FROM shared_state WHERE app = ? AND user IN ('', ?) ORDER BY rowid`,
    );
    this.#write = connection.prepare(`
      INSERT INTO shared_state (app, user, name, value, version) VALUES (?, ?, ?, ?, 1)
      ON CONFLICT (app, user, name) DO UPDATE SET value = excluded.value, version = version + 1`);
  }

  state(scope: Scope): SharedState {
    const entries: [string, Json][] = [];
    const versions: [string, number][] = [];
    for (const { user, name, value, version } of this.#all.all(scope.appName, scope.userId)) {
      const key = formatStateKey(user === '' ? 'app' : 'user', name);
      if (value !== null) entries.push([key, this.#unpack(key, value)]);
      versions.push([key, version]);
    }
    return { entries: Object.fromEntries(entries), versions: Object.fromEntries(versions) };
  }

  /** Lists the keys whose version changed after they were read. */
  findChangedKeys(scope: Scope, { reads }: Writes): readonly string[] {
    return listConflicts(reads, (key) => this.#row(scope, key)?.version ?? 0);
  }

  write(scope: Scope, { writes }: Writes): void {
    const written = writtenValues(writes, (key) => {
      const value = this.#row(scope, key)?.value ?? null;
      return value === null ? undefined : this.#unpack(key, value);
    });
    for (const [key, value] of written) {
      this.#write.run(
        ...toSharedColumns(scope, key),
        value === undefined ? null : packWithoutBlobs(value),
      );
    }
  }

  #row(scope: Scope, key: string): SharedRow | undefined {
    return this.#find.get(...toSharedColumns(scope, key));
  }

  #unpack(key: string, value: Packed<Json>): Json {
    return this.#blobs.unpack(value, `shared state ${JSON.stringify(key)}`);
  }
}
