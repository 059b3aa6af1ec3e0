import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { InvalidInputError } from '../../../core/index.ts';
import {
  collect,
  commitOk,
  createSession,
  getExisting,
  nextStep,
  sessionKey,
  summary,
} from '../../contract/sample-steps.ts';
import { openSqliteStore } from '../open-sqlite-store.ts';

test('a stopped process still owns its effects, and a killed one does not', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'store.db');
    const child = await runChild(
      file,
      `
      await store.join('child');
      const row = await createSession(store, 'child');
      await commitOk(store, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
      console.log('ready');
      setInterval(() => undefined, 1000);`,
    );
    await line(child, 'ready');
    const store = await openSqliteStore(file);
    await store.join('one');
    const query = { owner: 'one', agents: ['assistant'], now: 0, limit: 9 };
    const key = sessionKey('s');
    assert.deepEqual(await store.claim(key, 'one'), { ok: false, owned: 'child' });

    child.kill('SIGSTOP');
    await stopped(child);
    assert.deepEqual(await store.claim(key, 'one'), { ok: false, owned: 'child' });
    assert.deepEqual((await store.findRunnable(query)).sessions, []);
    await store.join('another');
    assert.equal((await getExisting(store, key)).owner, 'child');

    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal((await store.findRunnable(query)).sessions.length, 1);
    const claim = await store.claim(key, 'one');
    assert.ok(claim.ok);
    assert.deepEqual([claim.recovered, claim.row.epoch], [true, 2]);

    // The next join removes the files of dead owners.
    assert.deepEqual(ownerFiles(folder), ['another', 'child', 'one']);
    await store.join('last');
    assert.deepEqual(ownerFiles(folder), ['another', 'last', 'one']);
    await store.close();
    assert.deepEqual(readdirSync(folder), ['store.db']);
  });
});

test('a process that reads every file of its owner, or copies it, still owns its effects', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'store.db');
    const child = await runChild(
      file,
      `
      import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
      await store.join('child');
      const row = await createSession(store, 'child');
      await commitOk(store, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
      const folder = ${JSON.stringify(folder)};
      for (const name of readdirSync(folder).filter((one) => /-(owner|live)-/.test(one))) {
        const path = folder + '/' + name;
        // Sockets cannot be opened as files.
        try { readFileSync(path); } catch (error) { if (error.code !== 'ENXIO') throw error; }
        try { copyFileSync(path, path + '.copy'); } catch (error) { if (error.code !== 'ENXIO') throw error; }
      }
      console.log('read');
      setInterval(() => undefined, 1000);`,
    );
    await line(child, 'read');
    const store = await openSqliteStore(file);
    await store.join('one');
    const key = sessionKey('s');
    assert.deepEqual(await store.claim(key, 'one'), { ok: false, owned: 'child' });
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal((await store.claim(key, 'one')).ok, true);
    await store.close();
  });
});

test('nothing acknowledged is lost when a process is killed while it commits', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'store.db');
    for (let round = 0; round < 8; round++) {
      const child = await runChild(
        file,
        `
        await store.join('round ${round}');
        const row = await createSession(store, 'round ${round}', 's${round}');
        for (let head = 0; ; head++) {
          const cursor = { records: head * 2, events: head * 2 };
          const [result] = await store.commit([nextStep({ ...row, head }, cursor, { snapshot: { head } })]);
          const { inputSeq } = await store.inject(row.key, { place: 'p', value: head }, String(head));
          appendFileSync(${JSON.stringify(join(folder, `acknowledged-${round}`))}, JSON.stringify([result.ok, head + 1, inputSeq]) + '\\n');
          console.log('');
        }`,
      );
      let lines = 0;
      for await (const _ of createInterface({ input: child.stdout ?? assert.fail() }))
        if (++lines === 5 + round * 11) child.kill('SIGKILL');
      // Lines that the process printed last may not have come through.
      const acknowledged: unknown = JSON.parse(
        readFileSync(join(folder, `acknowledged-${round}`), 'utf8')
          .trim()
          .split('\n')
          .at(-1) ?? '',
      );
      const store = await openSqliteStore(file);
      const key = sessionKey(`s${round}`);
      const [, head, inputs] = acknowledged as [boolean, number, number];
      const row = await getExisting(store, key);
      assert.ok(row.head >= head && row.head <= head + 1, `${row.head} after ${head}`);
      assert.deepEqual(
        (await collect(store.read(key))).map(({ seq }) => seq),
        Array.from({ length: row.head * 2 }, (_, index) => index + 1),
      );
      assert.equal((await collect(store.steps(key, 0))).length, row.head);
      assert.deepEqual(await store.snapshot(key), {
        step: row.head,
        marking: { head: row.head - 1 },
      });
      const inbox = await store.inbox(key, 0);
      assert.ok(inbox.length >= inputs && inbox.length <= inputs + 1);
      await store.close();
    }
  });
});

test('two stores in one process see whether the other is alive', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'store.db');
    const [one, two] = [await openSqliteStore(file), await openSqliteStore(file)];
    await one.join('one');
    await two.join('two');
    const row = await createSession(one, 'one');
    await commitOk(one, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
    // The test must not release a lock: closing any descriptor of a file releases the POSIX locks of the process.
    for (let times = 0; times < 3; times++) {
      assert.deepEqual(await two.claim(row.key, 'two'), { ok: false, owned: 'one' });
    }
    await one.close();
    assert.equal((await two.claim(row.key, 'two')).ok, true);
    await two.close();
  });
});

test('an owner is recognized through another name of the file', async () => {
  await inFolder(async (folder) => {
    const [file, link] = [join(folder, 'store.db'), join(folder, 'link.db')];
    const one = await openSqliteStore(file);
    symlinkSync(file, link);
    const two = await openSqliteStore(link);
    await one.join('one');
    await two.join('two');
    const row = await createSession(one, 'one');
    await commitOk(one, [nextStep(row, undefined, { summary: summary({ inFlight: 1 }) })]);
    assert.deepEqual(await two.claim(row.key, 'two'), { ok: false, owned: 'one' });
    await Promise.all([one.close(), two.close()]);
  });
});

test('two runtimes cannot join with the same id, and one runtime can join twice', async () => {
  await inFolder(async (folder) => {
    const file = join(folder, 'store.db');
    const [one, two] = [await openSqliteStore(file), await openSqliteStore(file)];
    await one.join('same');
    await one.join('same');
    await assert.rejects(two.join('same'), InvalidInputError);
    await one.leave('same');
    await two.join('same');
    await two.leave('same');
    await two.leave('never');
    await Promise.all([one.close(), two.close()]);
  });
});

test('an owner can have any name', async () => {
  await inFolder(async (folder) => {
    const store = await openSqliteStore(join(folder, 'store.db'));
    const owner = '../../etc/ünïcode & co'.repeat(5);
    await store.join(owner);
    assert.equal((await createSession(store, owner)).owner, owner);
    assert.match(ownerFiles(folder).join(), /^[0-9a-f]{64}$/);
    await store.close();
  });
});

async function runChild(file: string, body: string): Promise<ChildProcess> {
  const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
  const code = `
    import { appendFileSync } from 'node:fs';
    import { openSqliteStore } from ${url('../open-sqlite-store.ts')};
    import { commitOk, createSession, nextStep, summary } from ${url('../../contract/sample-steps.ts')};
    const store = await openSqliteStore(${JSON.stringify(file)});
    ${body}`;
  return spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function line(child: ChildProcess, expected: string): Promise<void> {
  for await (const text of createInterface({ input: child.stdout ?? assert.fail() })) {
    if (text === expected) return;
  }
  assert.fail(`the child ended without saying "${expected}"`);
}

/** Resolves when the process is stopped, because a signal takes effect later. */
async function stopped(child: ChildProcess): Promise<void> {
  while (!readProcessState(String(child.pid)).startsWith('T')) {
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

/** The state of a process, `T` for stopped: from /proc, or else from `ps`. */
function readProcessState(pid: string): string {
  if (!existsSync('/proc/self/stat')) {
    return execFileSync('ps', ['-o', 'stat=', '-p', pid]).toString();
  }
  return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '');
}

function ownerFiles(folder: string): readonly string[] {
  const prefix = 'store.db-owner-';
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .toSorted();
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-store-'));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
