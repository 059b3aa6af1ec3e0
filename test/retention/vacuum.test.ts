import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SimulatedClock } from '../../src/net/index.ts';
import { removeOrphans } from '../../src/runtime/index.ts';
import { MemoryStore, openStore } from '../../src/store/index.ts';
import { FileArtifactService } from '../../src/tools/index.ts';
import type { ArtifactService } from '../../src/tools/index.ts';
import { S3ArtifactService } from '../../src/tools/artifacts/s3/index.ts';
import { fakeS3 } from '../artifacts/fake-s3.ts';
import { fakeServer } from '../artifacts/fake-server.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { openNoter } from '../copies/loaded-store.ts';

const DAY = 86_400_000;

test('petrichor vacuum makes a file smaller, and removes the artifacts of deleted sessions', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  const key = (sessionId: string): { appName: string; userId: string; sessionId: string } => ({
    appName: 'petrichor',
    userId: 'default',
    sessionId,
  });
  const service = new FileArtifactService({ rootDir: at('artifacts') });
  const part = { inlineData: { mimeType: 'text/plain', data: btoa('kept') } };
  {
    await using runtime = await openNoter(at('notes.db'), [], at('artifacts'));
    for (const id of ['one', 'two', 'three']) {
      const session = await runtime.session(id);
      for (let turn = 0; turn < 4; turn++) await session.ask(`turn ${turn} of ${id}`);
    }
    await service.save({ session: key('two'), name: 'user:mine' }, part, { saveId: 'u' });
    await service.save({ session: key('elsewhere'), name: 'a' }, part, { saveId: 'e' });
    // A program uses the store: it is not written anew.
    const refused = await folder.run(['vacuum', '--store', at('notes.db'), '--full']);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr.text, /is in use by 1 other runtime/);
    const light = await folder.run(['vacuum', '--store', at('notes.db'), '--json']);
    assert.equal(light.code, 0, light.stderr.text);
    assert.equal(await (await runtime.session('three')).ask('more'), 'Noted.');
  }
  const store = await openStore(at('notes.db'));
  for (const id of ['one', 'two']) assert.equal(await store.delete(key(id)), true);
  await store.close();
  const args = ['vacuum', '--store', at('notes.db'), '--full', '--artifacts', at('artifacts')];
  const young = await folder.run([...args, '--json']);
  assert.deepEqual(young.stdout.json[0]?.['removed'], { artifacts: 0, imports: 0 });
  const { bytesBefore, bytesAfter } = Object(young.stdout.json[0]);
  assert.ok(bytesAfter < bytesBefore, `${bytesAfter} of ${bytesBefore}`);
  assert.equal(statSync(at('notes.db')).size, bytesAfter);

  const clock = new SimulatedClock(Date.now() + 2 * DAY);
  const running = folder.start(args, { input: '', clock });
  assert.equal(await running.exit, 0);
  assert.match(running.stdout.text, /Removed 2 artifacts and 0 import records/);
  assert.deepEqual(await service.list(key('one')), ['user:mine']);
  assert.deepEqual(await service.list(key('three')), ['notes.txt', 'user:mine']);
  // This store never had the session, so another one may have it.
  assert.deepEqual(await service.list(key('elsewhere')), ['a', 'user:mine']);
});

test('orphans of a bucket are removed, and what is young or in use stays', async () => {
  const clock = new SimulatedClock(1_700_000_000_000);
  const bucket = fakeS3('things');
  const server = await fakeServer(bucket.answer);
  try {
    for (const prefix of ['', 'adk/']) {
      const store = new MemoryStore();
      await store.join('maker');
      const artifacts = new S3ArtifactService({
        bucketName: 'things',
        prefix,
        clock,
        config: {
          endpoint: server.url,
          region: 'eu-central-1',
          forcePathStyle: true,
          credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
        },
      });
      const save = async (sessionId: string): Promise<void> => {
        const session = { appName: 'a/b', userId: 'ada', sessionId };
        const init = { agent: 'a', owner: 'maker', at: clock.now(), netHash: 'n' };
        await store.create(session, init);
        const part: Parameters<ArtifactService['save']>[1] = { text: sessionId };
        await artifacts.save({ session, name: 'note' }, part, { saveId: sessionId });
      };
      for (const id of ['old', 'kept']) await save(id);
      // Another program may have objects in the bucket.
      const other = { bytes: Buffer.from('x'), contentType: 'text/plain', metadata: {} };
      bucket.objects.put(`${prefix}100%/ada/sessions/old/note`, other);
      clock.advance(3 * DAY);
      await save('young');
      for (const sessionId of ['old', 'young'])
        await store.delete({ appName: 'a/b', userId: 'ada', sessionId });
      assert.deepEqual(await removeOrphans(store, { artifacts, clock }), {
        artifacts: 1,
        imports: 0,
      });
      const names = bucket.objects.names().filter((name) => name.startsWith(`${prefix}a%2Fb/`));
      const sessions = new Set(names.map((name) => name.slice(prefix.length).split('/')[3] ?? ''));
      assert.deepEqual([...sessions].toSorted(), ['kept', 'young']);
    }
  } finally {
    await server.stop();
  }
});
