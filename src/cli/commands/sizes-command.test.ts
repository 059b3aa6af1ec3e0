import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openNoter } from '../../../test/copies/loaded-store.ts';
import { CommandFolder } from '../../../test/cli/command-folder.ts';

test('sessions are listed by their bytes, the largest first', async () => {
  const folder = new CommandFolder();
  const store = join(folder.path, 'sizes.db');
  {
    await using runtime = await openNoter(store, []);
    await (await runtime.session('small')).ask('one');
    const large = await runtime.session('large');
    for (const text of ['one', 'two', 'three']) await large.ask(text);
  }
  const { code, stdout } = await folder.run(['sizes', '--store', store, '--json']);
  assert.equal(code, 0);
  const [large, small] = stdout.json;
  assert.deepEqual(Object(large?.['key']).sessionId, 'large');
  assert.equal(small?.['agent'], 'noter');
  assert.ok(Number(small?.['journalBytes']) > 1000);
  assert.ok(Number(large?.['journalBytes']) > 2 * Number(small?.['journalBytes']));
  for (const one of [large, small])
    assert.equal(
      Number(one?.['journalBytes']) + Number(one?.['logBytes']) + Number(one?.['otherBytes']),
      one?.['bytes'],
    );
  const table = await folder.run(['sizes', '--store', store, '--limit', '1']);
  assert.match(
    table.stdout.text,
    /^SESSION[^]*\nlarge +noter [^]*\n2 sessions with [\d,]+ bytes\.\n$/,
  );
  assert.doesNotMatch(table.stdout.text, /small/);
  assert.equal((await folder.run(['sizes', '--store', store, '--limit', 'all'])).code, 2);
});
