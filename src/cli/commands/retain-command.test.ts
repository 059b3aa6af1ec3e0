import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { noteAgent } from '../../../test/copies/loaded-store.ts';
import { CommandFolder } from '../../../test/cli/command-folder.ts';
import { SimulatedClock } from '../../net/index.ts';
import { openRuntime } from '../../runtime/index.ts';

test('sessions that a policy no longer keeps are listed, and then deleted', async () => {
  const folder = new CommandFolder();
  const store = join(folder.path, 'old.db');
  {
    const clock = new SimulatedClock(1_700_000_000_000);
    await using runtime = await openRuntime({ agents: [noteAgent([])], store, clock });
    for (const id of ['one', 'two']) await (await runtime.session(id)).ask('hello');
    for await (const _ of (await runtime.session('waits')).send('ask'));
  }
  const policy = folder.write(
    'policy.json',
    JSON.stringify({ $schema: 'retention.schema.json', rules: [{ deleteAfterDays: 90 }] }),
  );
  const listed = await folder.run(['retain', policy, '--store', store, '--dry-run']);
  assert.equal(listed.code, 0);
  assert.match(
    listed.stdout.text,
    /^planned: session "one" of user default, app petrichor, since 2023-11-14$/m,
  );
  assert.match(listed.stdout.text, /^kept: session "waits" [^\n]*: status$/m);
  assert.match(
    listed.stdout.text,
    /^2 would be archived or deleted, 0 would be trimmed, 1 kept because of their state, 0 changed/m,
  );

  const done = await folder.run(['retain', policy, '--store', store, '--json']);
  assert.deepEqual(
    done.stdout.json.map(({ key, outcome }) => [Object(key).sessionId, outcome]),
    [
      ['one', 'deleted'],
      ['two', 'deleted'],
      ['waits', 'kept'],
    ],
  );
  const left = await folder.run(['sessions', '--store', store, '--json']);
  assert.equal(left.stdout.json.length, 1);
  const again = await folder.run(['retain', policy, '--store', store, '--app', 'other']);
  assert.match(again.stdout.text, /^0 archived, 0 deleted, 0 trimmed, 0 kept/);
});

test('the journals of sessions that stay are trimmed, and replay shows where they begin', async () => {
  const folder = new CommandFolder();
  const store = join(folder.path, 'long.db');
  {
    const clock = new SimulatedClock(1_700_000_000_000);
    await using runtime = await openRuntime({ agents: [noteAgent([])], store, clock });
    const session = await runtime.session('long');
    for (const text of ['one', 'two']) await session.ask(text);
  }
  const rules = JSON.stringify({ rules: [{ trimAfterDays: 30 }] });
  const policy = folder.write('policy.json', rules);
  const options = ['--store', store];
  const listed = await folder.run(['retain', policy, ...options, '--dry-run']);
  const planned = /^planned: session "long" [^\n]*: (\d+ records up to step \d+)$/m;
  const [, amount = '?'] = planned.exec(listed.stdout.text) ?? [];
  assert.match(listed.stdout.text, /^0 would be archived or deleted, 1 would be trimmed, 0 kept/m);
  const done = await folder.run(['retain', policy, ...options]);
  assert.match(done.stdout.text, new RegExp(`^trimmed: session "long" .*: ${amount}$`, 'm'));
  assert.match(done.stdout.text, /^0 archived, 0 deleted, 1 trimmed, 0 kept/m);
  const again = await folder.run(['retain', policy, ...options]);
  assert.match(again.stdout.text, /^0 archived, 0 deleted, 0 trimmed/);
  const replay = await folder.run(['replay', 'long', ...options]);
  assert.equal(replay.code, 0);
  assert.match(replay.stdout.text, /base +the records up to this one were removed/);
});

test('a policy that cannot be read or is invalid is refused, and nothing is deleted', async () => {
  const folder = new CommandFolder();
  const store = join(folder.path, 'kept.db');
  const cases: readonly (readonly [string, RegExp])[] = [
    ['[]', /policy\.json: retention/],
    ['{', /policy\.json: /],
    ['{ "rules": [{ "deleteAfter": 3 }] }', /rules\[0\]\.deleteAfter/],
  ];
  for (const [text, message] of cases) {
    const policy = folder.write('policy.json', text);
    for (const command of ['retain', 'serve']) {
      const args = command === 'retain' ? [policy] : ['--retention', policy];
      const { code, stderr } = await folder.run([command, ...args, '--store', store]);
      assert.equal(code, 2);
      assert.match(stderr.text, message);
    }
  }
  const missing = await folder.run(['retain', join(folder.path, 'none.json'), '--store', store]);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr.text, /ENOENT/);
});
