import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openNoter } from '../../../test/copies/loaded-store.ts';
import { CommandFolder } from '../../../test/cli/command-folder.ts';

test('quotas shows what is used of the quotas of a file, as a table and as JSON', async () => {
  const folder = new CommandFolder();
  const store = join(folder.path, 'quotas.db');
  const artifacts = join(folder.path, 'artifacts');
  {
    await using runtime = await openNoter(store, [], artifacts);
    await (await runtime.session('a')).ask('one');
    await runtime.session('b', { user: 'ada' });
  }
  const file = join(folder.path, 'quotas.json');
  writeFileSync(
    file,
    JSON.stringify({
      app: { sessions: 100 },
      user: { tokensPerDay: 50_000, sessions: 2 },
      users: { ada: { tokensPerDay: null } },
    }),
  );
  const run = ['quotas', '--store', store, '--quotas', file, '--app', 'petrichor'];
  const { code, stdout } = await folder.run([...run, '--json']);
  assert.equal(code, 0);
  assert.deepEqual(
    stdout.json.map(({ scope, user, quota, used, limit }) => [scope, user, quota, used, limit]),
    [
      ['app', undefined, 'sessions', 2, 100],
      ['user', 'ada', 'sessions', 1, 2],
      ['user', 'default', 'tokensPerDay', 0, 50_000],
      ['user', 'default', 'sessions', 1, 2],
    ],
  );
  const table = await folder.run([...run, '--user', 'ada']);
  assert.match(
    table.stdout.text,
    /^WHO +QUOTA +USED +LIMIT +RENEWS\nada +open sessions +1 +2 +never\n$/,
  );
  writeFileSync(file, JSON.stringify({ user: { storageBytes: 1e9 } }));
  const measure = async (...options: string[]): Promise<number> => {
    const found = await folder.run([...run, '--user', 'default', '--json', ...options]);
    return Number(found.stdout.json[0]?.['used']);
  };
  // The agent has saved the message as an artifact.
  assert.equal(await measure('--artifacts', artifacts), (await measure()) + 'one'.length);
});

test('quotas and serve refuse a file with an unknown or invalid quota, by its name', async () => {
  const folder = new CommandFolder();
  const file = join(folder.path, 'quotas.json');
  const refuse = async (text: string, message: RegExp): Promise<void> => {
    writeFileSync(file, text);
    for (const command of ['quotas', 'serve']) {
      const { code, stderr } = await folder.run([command, '--quotas', file]);
      assert.equal(code, 2);
      assert.match(stderr.text, message);
    }
  };
  await refuse('{"user":{"tokensPerDays":1}}', /tokensPerDays/);
  await refuse('{"user":{"sessions":-1}}', /user\.sessions/);
  await refuse('{', /quotas\.json/);
  assert.equal((await folder.run(['quotas'])).code, 2);
});
