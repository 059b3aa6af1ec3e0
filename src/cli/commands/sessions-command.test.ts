import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentSource } from '../../../test/cli/agent-source.ts';
import { CommandFolder } from '../../../test/cli/command-folder.ts';
import { openStore } from '../../store/index.ts';

/** A store with an idle session, one that waits, and one of another user. */
async function createStore(): Promise<CommandFolder> {
  const folder = new CommandFolder();
  folder.write('agent.ts', agentSource);
  const run = ['run', 'agent.ts', '--store', folder.store];
  await folder.run([...run, '--session', 'idle'], 'hello\n');
  await folder.run([...run, '--session', 'asks'], 'delete a.txt\n');
  await folder.run([...run, '--session', 'hers', '--user', 'ann'], 'hello\n');
  return folder;
}

test('sessions are listed with their status and waiting calls, last changed first', async () => {
  const folder = await createStore();
  const { code, stdout } = await folder.run(['sessions', '--store', folder.store]);
  assert.equal(code, 0);
  const [head, ...rows] = stdout.text.trimEnd().split('\n');
  assert.match(head ?? '', /^SESSION +AGENT +STATUS +EVENTS +CHANGED +WAITS FOR$/);
  assert.match(rows[0] ?? '', /^hers \(user ann\) +assistant +idle +4 +(?:just now|\d+ min ago)$/);
  assert.match(
    rows[1] ?? '',
    /^asks +assistant +waiting +5 +(?:just now|\d+ min ago) +delete_file: approval$/,
  );
  assert.match(rows[2] ?? '', /^idle +assistant +idle +4 +(?:just now|\d+ min ago)$/);
});

test('with --json sessions are one object per line', async () => {
  const folder = await createStore();
  const { stdout } = await folder.run(['sessions', '--store', folder.store, '--json']);
  const facts = stdout.json.map(({ session, user, app, agent, status, events }) => [
    session,
    user,
    app,
    agent,
    status,
    events,
  ]);
  assert.deepEqual(facts, [
    ['hers', 'ann', 'petrichor', 'assistant', 'idle', 4],
    ['asks', 'default', 'petrichor', 'assistant', 'waiting', 5],
    ['idle', 'default', 'petrichor', 'assistant', 'idle', 4],
  ]);
});

test('sessions are filtered by user, agent, app and count', async () => {
  const folder = await createStore();
  const named = async (...choice: readonly string[]): Promise<readonly unknown[]> => {
    const { stdout } = await folder.run(['sessions', '--store', folder.store, '--json', ...choice]);
    return stdout.json.map(({ session }) => session);
  };
  assert.deepEqual(await named('--user', 'default'), ['asks', 'idle']);
  assert.deepEqual(await named('--agent', 'nobody'), []);
  assert.deepEqual(await named('--app', 'petrichor', '--limit', '1'), ['hers']);
});

test('a quarantined session is found by its status and released, and a hung owner is evicted', async () => {
  const folder = await createStore();
  const store = await openStore(folder.store);
  const key = { appName: 'petrichor', userId: 'ann', sessionId: 'hers' };
  for (let failure = 0; failure < 3; failure++) await store.recordHydration(key, false);
  const named = async (status: string): Promise<readonly unknown[]> => {
    const list = ['sessions', '--store', folder.store, '--json', '--status', status];
    return (await folder.run(list)).stdout.json.map(({ session }) => session);
  };
  assert.deepEqual(await named('quarantined'), ['hers']);
  assert.deepEqual(await named('idle'), ['idle']);
  const release = ['unquarantine', 'hers', '--store', folder.store];
  assert.match((await folder.run(release)).stdout.text, /"hers" is released; it is idle/);
  assert.match((await folder.run(release)).stdout.text, /is idle, not quarantined\. Nothing/);
  assert.deepEqual(await named('quarantined'), []);

  await store.join('hung');
  const claimed = await store.claim(key, 'hung');
  assert.ok(claimed.ok);
  const evict = ['evict', 'hers', '--store', folder.store, '--json'];
  const [facts] = (await folder.run(evict)).stdout.json;
  assert.deepEqual([facts?.['evicted'], facts?.['user']], ['hung', 'ann']);
  assert.equal((await store.find(key))?.owner, null);

  const idle = (await store.list({})).filter(({ key: { sessionId } }) => sessionId === 'idle');
  for (const one of [key, ...idle.map((row) => row.key)]) await store.claim(one, 'hung');
  const evictAll = ['evict', '--owner', 'hung', '--store', folder.store, '--json'];
  const [taken] = (await folder.run(evictAll)).stdout.json;
  assert.deepEqual(taken, { owner: 'hung', sessions: 1 + idle.length });
  assert.deepEqual(
    (await store.list({})).filter(({ owner }) => owner === 'hung'),
    [],
  );
  const again = await folder.run(['evict', '--owner', 'hung', '--store', folder.store]);
  assert.equal(again.stdout.text, '0 sessions were taken from hung.\n');
  assert.equal((await folder.run(['evict', '--store', folder.store])).code, 2);
  await store.close();

  const unknown = await folder.run(['evict', 'none', '--store', folder.store]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr.text, /There is no session "none" in sqlite:/);
  const withUser = await folder.run(['evict', 'idle', '--store', folder.store, '--user', 'ann']);
  assert.match(withUser.stderr.text, /There is no session "idle" of user "ann" in sqlite:/);
  const wrong = await folder.run(['sessions', '--store', folder.store, '--status', 'hung']);
  assert.equal(wrong.code, 2);
  assert.match(
    wrong.stderr.text,
    /--status must be one of queued, running, waiting, .*, quarantined; it is "hung"/,
  );
  await folder.run(['run', 'agent.ts', '--store', folder.store, '--session', 'hers'], 'hello\n');
  const both = await folder.run(['evict', 'hers', '--store', folder.store]);
  assert.equal(both.code, 2);
  assert.match(both.stderr.text, /There are 2 sessions "hers"/);
});

test('an empty result does not claim that the store is empty', async () => {
  const folder = await createStore();
  const list = ['sessions', '--store', folder.store, '--status', 'quarantined'];
  assert.equal((await folder.run(list)).stdout.text, 'No session matches.\n');
});

test('a session of another app is listed with its app, which replay and evict accept', async () => {
  const folder = await createStore();
  const run = ['run', 'agent.ts', '--store', folder.store, '--session', 'theirs'];
  await folder.run([...run, '--app', 'shop'], 'hello\n');
  const { stdout } = await folder.run(['sessions', '--store', folder.store]);
  assert.match(stdout.text, /^theirs \(app shop\) /m);
});

test('a truncated list says so', async () => {
  const folder = await createStore();
  const { stdout } = await folder.run(['sessions', '--store', folder.store, '--limit', '2']);
  assert.match(stdout.text, /^The 2 most recently changed; --limit shows more\.$/m);
});

test('a missing store is an error, and is not created', async () => {
  const folder = new CommandFolder();
  const file = join(folder.path, 'sessions.db');
  for (const command of [['sessions'], ['replay', 'demo']]) {
    const { code, stderr } = await folder.run([...command, '--store', folder.store]);
    assert.equal(code, 1);
    assert.match(stderr.text, /There is no store at .*sessions\.db\. Name a store with --store/);
    assert.equal(existsSync(file), false);
  }
});

test('a store in memory is an error, because it has no sessions to list', async () => {
  const { code, stderr } = await new CommandFolder().run(['sessions', '--store', 'memory:']);
  assert.equal(code, 1);
  assert.match(stderr.text, /A store in memory ends with its program/);
});
