import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { commitSampleSteps, createSession } from '../../contract/sample-steps.ts';
import { openSqliteStore } from '../open-sqlite-store.ts';
import { StoreCorruptError } from '../../store-errors.ts';

test('a store whose write-ahead log was deleted is rejected, and the error says what to do', async () => {
  await afterKill(async (file) => {
    assert.ok(existsSync(`${file}-wal`), 'all of it is in the log');
    rmSync(`${file}-wal`);
    const before = readFileSync(file);
    const error = await refusal(file);
    assert.match(error.message, /write-ahead log .*store\.db-wal was removed/);
    assert.match(error.message, /To continue without the lost writes, remove .*store\.db-writes/);
    // The file was not changed, so a second attempt fails in the same way.
    await refusal(file);
    assert.deepEqual(readFileSync(file), before);
    // Without the witness file the rest can be opened.
    rmSync(`${file}-writes`);
    assert.equal(await sessions(file), 0);
  });
});

test('a store whose index of the log was also deleted is rejected', async () => {
  await afterKill(async (file) => {
    for (const name of [`${file}-wal`, `${file}-shm`]) rmSync(name);
    await refusal(file);
  });
});

test('a store whose log was deleted after a partial checkpoint is rejected', async () => {
  await afterKill(async (file) => {
    rmSync(`${file}-wal`);
    const error = await refusal(file);
    assert.match(error.message, /lacks its last writes/);
  }, `await database.exec('PRAGMA wal_checkpoint(TRUNCATE)');`);
});

test('a store whose process was killed opens with all data', async () => {
  await afterKill(async (file) => {
    assert.equal(await sessions(file), 1);
    assert.deepEqual(readdirSync(join(file, '..')), ['store.db']);
  });
});

test('a store that another program checkpointed opens with all data', async () => {
  await afterKill(async (file) => {
    const other = new DatabaseSync(file);
    other.prepare('SELECT count(*) FROM sessions').get();
    other.close();
    assert.equal(existsSync(`${file}-wal`), false);
    assert.ok(existsSync(`${file}-writes`));
    assert.equal(await sessions(file), 1);
  });
});

test('a store that was emptied, or removed without its log, is rejected', async () => {
  await afterKill(async (file) => {
    const whole = readFileSync(file);
    writeFileSync(file, '');
    assert.match((await refusal(file)).message, /is empty, but its write-ahead log/);
    rmSync(file);
    assert.match((await refusal(file)).message, /does not exist, but its write-ahead log/);
    assert.equal(existsSync(file), false);
    writeFileSync(file, whole);
    assert.equal(await sessions(file), 1);
  });
});

test('a store that was emptied and lost its log is rejected, and a removed one starts empty', async () => {
  await afterKill(async (file) => {
    for (const name of [`${file}-wal`, `${file}-shm`]) rmSync(name);
    writeFileSync(file, '');
    assert.match((await refusal(file)).message, /To start a new store, remove that file/);
    rmSync(file);
    assert.equal(await sessions(file), 0);
  });
});

test('a copy of all files of an open store opens with all data, and a copy without the log is rejected', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'store.db');
    const store = await openSqliteStore(file);
    await store.join('one');
    await commitSampleSteps(store, await createSession(store, 'one'), 3);
    for (const name of ['', '-wal', '-writes'])
      cpSync(`${file}${name}`, join(folder, `whole.db${name}`));
    for (const name of ['', '-writes']) cpSync(`${file}${name}`, join(folder, `half.db${name}`));
    await store.close();
    assert.equal(await sessions(join(folder, 'whole.db')), 1);
    await refusal(join(folder, 'half.db'));
  });
});

/** Creates the files that remain when a process that wrote to a store is killed. */
async function afterKill(check: (file: string) => Promise<void>, between = ''): Promise<void> {
  await inFolder(async (folder) => {
    const file = join(folder, 'store.db');
    const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
    const code = `
      import { openSqliteStore } from ${url('../open-sqlite-store.ts')};
      import { commitSampleSteps, createSession } from ${url('../../contract/sample-steps.ts')};
      let database;
      const store = await openSqliteStore(${JSON.stringify(file)}, {
        failpoints: { opened: (opened) => { database = opened; } },
      });
      await store.join('child');
      let { row, cursor } = await commitSampleSteps(store, await createSession(store, 'child'), 20);
      ${between}
      for (let n = 0; n < 20; n++) ({ row, cursor } = await commitSampleSteps(store, row, 1, cursor));
      process.send('written');
      setInterval(() => undefined, 1000);`;
    const child = spawn(
      process.execPath,
      ['--no-warnings', '--input-type=module', '--eval', code],
      {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      },
    );
    await once(child, 'message');
    child.kill('SIGKILL');
    await once(child, 'exit');
    // Without the files of the owner.
    for (const name of readdirSync(folder))
      if (/-(?:owner|live)-/.test(name)) rmSync(join(folder, name));
    await check(file);
  });
}

async function sessions(file: string): Promise<number> {
  const store = await openSqliteStore(file);
  try {
    return (await store.list({})).length;
  } finally {
    await store.close();
  }
}

async function refusal(file: string): Promise<StoreCorruptError> {
  const error = await sessions(file).then(
    () => assert.fail('it was opened'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof StoreCorruptError, String(error));
  assert.equal(error.file, file);
  return error;
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-log-'));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
