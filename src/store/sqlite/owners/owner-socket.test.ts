import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import {
  commitOk,
  createSession,
  nextStep,
  sessionKey,
  summary,
} from '../../contract/sample-steps.ts';
import { openSqliteStore } from '../open-sqlite-store.ts';
import { isOwnerAlive, readMark } from './owner-mark.ts';
import { isListening, openOwnerSocket } from './owner-socket.ts';

test('a socket answers until it is closed, and has the permissions of the database', async () => {
  await inFolder(async (folder) => {
    const database = join(folder, 'store.db');
    writeFileSync(database, '');
    chmodSync(database, 0o600);
    const socket = await openOwnerSocket(database);
    assert.equal(statSync(join(folder, socket.address)).mode & 0o777, 0o600);
    assert.equal(await isListening(database, socket.address), true);
    socket.close();
    assert.equal(await isListening(database, socket.address), false);
    assert.deepEqual(readdirSync(folder), ['store.db']);
  });
});

test('a database can have a long path', async () => {
  await inFolder(async (folder) => {
    const deep = join(folder, 'd'.repeat(120));
    mkdirSync(deep);
    for (const [name, isElsewhere] of [
      ['store.db', false],
      [`${'n'.repeat(120)}.db`, true],
    ] as const) {
      const database = join(deep, name);
      writeFileSync(database, '');
      const socket = await openOwnerSocket(database);
      assert.equal(isAbsolute(socket.address), isElsewhere);
      assert.equal(await isListening(database, socket.address), true);
      socket.close();
      assert.equal(await isListening(database, socket.address), false);
    }
  });
});

test('a stopped process counts as alive, however often it is checked', async () => {
  await inFolder(async (folder) => {
    const database = join(folder, 'store.db');
    writeFileSync(database, '');
    const module = JSON.stringify(new URL('./owner-socket.ts', import.meta.url).href);
    const child = await runChild(`
      import { openOwnerSocket } from ${module};
      const socket = await openOwnerSocket(${JSON.stringify(database)});
      process.send(socket.address);
      setInterval(() => undefined, 1000);`);
    const [address]: unknown[] = await once(child, 'message');
    assert.ok(typeof address === 'string');
    child.kill('SIGSTOP');
    // More than the backlog of the socket.
    for (let times = 0; times < 600; times++)
      assert.equal(await isListening(database, address), true, `asked ${times} times`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(await isListening(database, address), false);
    assert.ok(existsSync(join(folder, address)), 'nothing was tidied up yet');
  });
});

/** How an older version tested an owner: if the owner's file can be read, the owner is dead. */
function seemsAliveToFormerVersion(file: string): boolean {
  if (!existsSync(file)) return false;
  let probe: DatabaseSync | undefined;
  try {
    probe = new DatabaseSync(file, { readOnly: true });
    probe.exec('PRAGMA busy_timeout = 0');
    probe.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch {
    return existsSync(file);
  } finally {
    probe?.close();
  }
}

test('an older version sees a live owner as alive, and a closed one as gone', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'store.db');
    const store = await openSqliteStore(file);
    await store.join('one');
    assert.equal(seemsAliveToFormerVersion(`${file}-owner-one`), true);
    await store.leave('one');
    assert.equal(seemsAliveToFormerVersion(`${file}-owner-one`), false);
    await store.close();
  });
});

test('an owner of an older version is alive while it holds its lock, and can be replaced when it dies', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'store.db');
    const store = await openSqliteStore(file);
    await store.join('former');
    const row = await createSession(store, 'former');
    await commitOk(store, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
    // As if an older version had joined: its file is empty and locked, and its row exists.
    await store.close();
    const database = new DatabaseSync(file);
    database.exec(`INSERT INTO owners VALUES ('former')`);
    database.close();
    const child = await runChild(`
      import { DatabaseSync } from 'node:sqlite';
      const lock = new DatabaseSync(${JSON.stringify(`${file}-owner-former`)});
      lock.exec('PRAGMA journal_mode = MEMORY');
      lock.exec('BEGIN EXCLUSIVE');
      process.send('locked');
      setInterval(() => undefined, 1000);`);
    await once(child, 'message');
    const later = await openSqliteStore(file);
    await later.join('one');
    const key = sessionKey('s');
    assert.deepEqual(await later.claim(key, 'one'), { ok: false, owned: 'former' });
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal((await later.claim(key, 'one')).ok, true);
    await later.join('two');
    assert.equal(existsSync(`${file}-owner-former`), false);
    await later.close();
  });
});

test('an unreadable mark file counts as alive', async () => {
  await inFolder(async (folder) => {
    const mark = join(folder, 'store.db-owner-one');
    for (const text of ['{', '[]', '{"address": 7}']) {
      writeFileSync(mark, text);
      const read = readMark(mark);
      assert.equal(read.kind, 'unreadable');
      assert.equal(await isOwnerAlive(read, mark, join(folder, 'store.db')), true);
    }
  });
});

async function runChild(code: string): Promise<ChildProcess> {
  return spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', code], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-owner-'));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
