import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import {
  collect,
  commitOk,
  commitSampleSteps,
  createSession,
  nextStep,
} from '../contract/sample-steps.ts';
import { openSqliteStore } from './open-sqlite-store.ts';
import {
  ForeignDatabaseError,
  StoreCorruptError,
  StoreUnavailableError,
  StoreVersionError,
} from '../store-errors.ts';

const isRoot = process.getuid?.() === 0;

test('a file that is not a database is rejected by name and not changed', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'notes.txt');
    writeFileSync(file, 'Buy milk.\n'.repeat(500));
    await refusedUnchanged(file, StoreCorruptError);
  });
});

test('a database of another program is rejected by name and not changed', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'other.db');
    const other = new DatabaseSync(file);
    other.exec('CREATE TABLE sessions (id TEXT PRIMARY KEY)');
    other.close();
    await refusedUnchanged(file, ForeignDatabaseError);
  });
});

test('a database of a newer version is rejected by name and not changed', async () => {
  await inFolder(async (folder) => {
    const file = await makeStore(folder);
    const newer = new DatabaseSync(file);
    newer.exec('PRAGMA user_version = 999');
    newer.close();
    const error = await refusedUnchanged(file, StoreVersionError);
    assert.ok(error instanceof StoreVersionError);
    assert.equal(error.found, 999);
  });
});

test('a truncated database is rejected by name and not changed', async () => {
  await inFolder(async (folder) => {
    const file = await makeStore(folder);
    const { size } = statSync(file);
    for (const length of [size - 1024, Math.floor(size / 2), 1024, 700, 50]) {
      const copy = join(folder, `cut-${length}.db`);
      cpSync(file, copy);
      truncateSync(copy, length);
      await refusedUnchanged(copy, StoreCorruptError);
    }
  });
});

test('a database emptied under its log is rejected, and the log is kept', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'store.db');
    const store = await openSqliteStore(file);
    await store.join('one');
    await createSession(store, 'one');
    const copy = join(folder, 'copy.db');
    writeFileSync(copy, '');
    cpSync(`${file}-wal`, `${copy}-wal`);
    await store.close();
    const log = readFileSync(`${copy}-wal`);
    await refusedUnchanged(copy, StoreCorruptError);
    assert.deepEqual(readFileSync(`${copy}-wal`), log);
  });
});

test('a database overwritten in the middle is detected when that part is read', async () => {
  await inFolder(async (folder) => {
    const file = await makeStore(folder);
    const bytes = readFileSync(file);
    bytes.fill(0xab, 1024, bytes.length - (bytes.length % 1024));
    writeFileSync(file, bytes);
    await assert.rejects(readAll(file), corrupt(file));
    assert.deepEqual(readFileSync(file), bytes);
  });
});

test('a journal with a missing row is rejected when it is read, wherever the row was', async () => {
  await inFolder(async (folder) => {
    const file = await makeStore(folder);
    for (const step of [1, 20, 33, 40]) {
      const copy = join(folder, `without-${step}.db`);
      cpSync(file, copy);
      const database = new DatabaseSync(copy);
      database.prepare('DELETE FROM steps WHERE id = ((1 << 32) | ?)').run(step);
      database.close();
      await assert.rejects(readAll(copy), (error) => {
        assert.ok(error instanceof StoreCorruptError, String(error));
        assert.match(error.message, new RegExp(`step ${step} of session app/ada/s is missing`));
        return true;
      });
    }
  });
});

test('a row that is not JSON, or whose blob is missing, is rejected when it is read', async () => {
  await inFolder(async (folder) => {
    const file = await makeStore(folder);
    for (const sql of [
      `UPDATE steps SET events = '[{' WHERE id & 255 = 7`,
      `UPDATE steps SET events = x'0102' WHERE id & 255 = 7`,
      `UPDATE steps SET events = '&[{"$blob":"none"}]' WHERE id & 255 = 7`,
    ]) {
      const copy = join(folder, 'copy.db');
      cpSync(file, copy);
      const database = new DatabaseSync(copy);
      database.exec(sql);
      database.close();
      await assert.rejects(readAll(copy), (error) => {
        assert.ok(error instanceof StoreCorruptError, String(error));
        assert.match(error.message, /the events of step 7 of session app\/ada\/s cannot be read/);
        return true;
      });
    }
  });
});

test('an empty file becomes a store, like a missing file', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'new.db');
    writeFileSync(file, '');
    const store = await openSqliteStore(file);
    assert.deepEqual(await store.list({}), []);
    await store.close();
  });
});

test('a missing or read-only folder is reported as unavailable by name', async () => {
  await inFolder(async (folder) => {
    const missing = join(folder, 'none', 'store.db');
    await assert.rejects(openSqliteStore(missing), unavailable(missing));
    assert.equal(existsSync(join(folder, 'none')), false);

    chmodSync(folder, 0o555);
    const file = join(folder, 'store.db');
    await asUnprivilegedUser(() => assert.rejects(openSqliteStore(file), unavailable(file)));
    chmodSync(folder, 0o755);
    assert.deepEqual(readdirSync(folder), []);
  });
});

test('a read-only file is reported as unavailable by name', async () => {
  await inFolder(async (folder) => {
    const file = await makeStore(folder);
    chmodSync(file, 0o444);
    chmodSync(folder, 0o555);
    await asUnprivilegedUser(() => assert.rejects(openSqliteStore(file), unavailable(file)));
    chmodSync(folder, 0o755);
  });
});

/** A closed store with a session of 40 steps, enough for several pages, and no log beside it. */
async function makeStore(folder: string): Promise<string> {
  const file = join(folder, 'store.db');
  const store = await openSqliteStore(file);
  await store.join('one');
  const { row, cursor } = await commitSampleSteps(store, await createSession(store, 'one'), 39);
  await commitOk(store, [nextStep(row, cursor)]);
  await store.close();
  return file;
}

async function readAll(file: string): Promise<void> {
  const store = await openSqliteStore(file);
  try {
    const [row] = await store.list({});
    assert.ok(row);
    await collect(store.read(row.key));
  } finally {
    await store.close();
  }
}

/** Asserts that opening fails with an error that names the file, and changes no byte of it. */
async function refusedUnchanged(
  file: string,
  kind: abstract new (...values: never[]) => Error & { readonly file: string },
): Promise<unknown> {
  const before = readFileSync(file);
  const error = await readAll(file).then(
    () => assert.fail('it was opened'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof kind, String(error));
  assert.equal(error.file, file);
  assert.ok(error.message.includes(file));
  assert.deepEqual(readFileSync(file), before);
  return error;
}

function corrupt(file: string): (error: unknown) => boolean {
  return (error) => error instanceof StoreCorruptError && error.message.includes(file);
}

function unavailable(file: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StoreUnavailableError, String(error));
    assert.ok(error.message.includes(file));
    return true;
  };
}

/** Root ignores file permissions, so root acts as another user for a while. */
async function asUnprivilegedUser(action: () => Promise<void>): Promise<void> {
  if (!isRoot) return action();
  process.seteuid?.(65534);
  try {
    await action();
  } finally {
    process.seteuid?.(0);
  }
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-store-'));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
