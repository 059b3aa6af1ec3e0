import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { FileArtifactService } from '../../tools/index.ts';
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
  const saved = new FileArtifactService({ rootDir: join(folder.path, 'artifacts') });
  const session = { appName: 'petrichor', userId: 'default', sessionId: 'small' };
  const data = Buffer.alloc(300_000).toString('base64');
  const part = { inlineData: { mimeType: 'image/png', data } };
  for (const saveId of ['1', '2']) await saved.save({ session, name: 'a' }, part, { saveId });
  await saved.save({ session, name: 'user:b' }, { text: 'mine' }, { saveId: '3' });
  const measured = ['--artifacts', join(folder.path, 'artifacts'), '--json'];
  const [first, second] = (await folder.run(['sizes', '--store', store, ...measured])).stdout.json;
  assert.deepEqual([first?.['artifactBytes'], second?.['artifactBytes']], [600_000, 0]);
  assert.equal(first?.['bytes'], 600_000 + Number(small?.['bytes']));
  const table = await folder.run(['sizes', '--store', store, '--limit', '1']);
  assert.match(
    table.stdout.text,
    /^SESSION[^]*\nlarge +noter [^]*\n2 sessions with [\d,]+ bytes\.\n$/,
  );
  assert.doesNotMatch(table.stdout.text, /small/);
  assert.equal((await folder.run(['sizes', '--store', store, '--limit', 'all'])).code, 2);
});
