import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { StoreFailedError } from '../../store-errors.ts';
import { StoreVersionError } from '../../store-errors.ts';
import type { Migrations } from './migrations.ts';
import { openDatabase } from './open-database.ts';
import { sleep } from './retry-busy.ts';
import { MIGRATIONS, PAGE_SIZE } from './schema.ts';

const policy = { busyMs: 5000, sleep };

const FIRST = "CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('kept');";
const SECOND = 'ALTER TABLE note ADD COLUMN stars INTEGER NOT NULL DEFAULT 5;';
const BROKEN = 'ALTER TABLE note ADD COLUMN more TEXT; ALTER TABLE none ADD COLUMN x;';

test('a database of an older version is migrated to the newest one with its data', async () => {
  await withFile(async (file) => {
    assert.deepEqual(await read(file, [FIRST], 'SELECT * FROM note'), [{ text: 'kept' }]);
    const rows = await read(file, [FIRST, SECOND], 'SELECT * FROM note');
    assert.deepEqual(rows, [{ text: 'kept', stars: 5 }]);
    assert.deepEqual(await read(file, [FIRST, SECOND], 'PRAGMA user_version'), [
      { user_version: 2 },
    ]);
    await assert.rejects(read(file, [FIRST], 'SELECT 1'), StoreVersionError);
  });
});

test('a migration that fails leaves the database at its version', async () => {
  await withFile(async (file) => {
    await read(file, [FIRST], 'SELECT 1');
    await assert.rejects(read(file, [FIRST, BROKEN], 'SELECT 1'), (error) => {
      assert.ok(error instanceof StoreFailedError, String(error));
      assert.match(String(error.cause), /no such table: none/);
      return true;
    });
    assert.deepEqual(await read(file, [FIRST], 'SELECT * FROM note'), [{ text: 'kept' }]);
    const rows = await read(file, [FIRST, SECOND], 'SELECT * FROM note');
    assert.deepEqual(rows, [{ text: 'kept', stars: 5 }]);
  });
});

test('a file with the first schema keeps its data, and can store documents', async () => {
  await withFile(async (file) => {
    const insert = "INSERT INTO tombstones VALUES ('app', 'ada', 's', 'uid')";
    await read(file, [...MIGRATIONS.slice(0, 1), insert], 'SELECT 1');
    const first = MIGRATIONS.slice(0, 1);
    const rest = MIGRATIONS.slice(1);
    const rows = await read(file, [...first, insert, ...rest], 'SELECT uid FROM tombstones');
    assert.deepEqual(rows, [{ uid: 'uid' }]);
    const none = await read(file, [...first, insert, ...rest], 'SELECT * FROM documents');
    assert.deepEqual(none, []);
  });
});

test('concurrent opens of a new database migrate it once', async () => {
  await withFile(async (file) => {
    const opened = await Promise.all(
      Array.from({ length: 8 }, () => openDatabase(file, [FIRST, SECOND], policy)),
    );
    for (const { database } of opened) {
      assert.deepEqual(plain(database.prepare('SELECT * FROM note').all()), [
        { text: 'kept', stars: 5 },
      ]);
      database.close();
    }
  });
});

test('a new database has the settings that durability depends on', async () => {
  await withFile(async (file) => {
    const { database } = await openDatabase(file, MIGRATIONS, policy);
    const pragma = (name: string): unknown =>
      Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    assert.equal(pragma('journal_mode'), 'wal');
    assert.equal(pragma('synchronous'), 2, 'FULL');
    assert.equal(pragma('busy_timeout'), 0);
    assert.equal(pragma('page_size'), PAGE_SIZE);
    database.close();
  });
});

async function read(file: string, migrations: Migrations, sql: string): Promise<unknown> {
  const { database } = await openDatabase(file, migrations, policy);
  try {
    return plain(database.prepare(sql).all());
  } finally {
    database.close();
  }
}

/** Copies a row, because rows have no prototype. */
function plain(rows: ReturnType<ReturnType<DatabaseSync['prepare']>['all']>): unknown {
  return rows.map((row) => ({ ...row }));
}

async function withFile(body: (file: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-store-'));
  try {
    await body(join(folder, 'store.db'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
