import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionKey } from '../core/index.ts';
import { InMemoryArtifactService } from './in-memory-artifact-service.ts';

const mine: SessionKey = { appName: 'a', userId: 'u', sessionId: '1' };
const other: SessionKey = { ...mine, sessionId: '2' };
const stranger: SessionKey = { ...mine, userId: 'v' };

test('each save is a version, counted from 0, and the newest is loaded unless one is named', async () => {
  const service = new InMemoryArtifactService();
  const key = { session: mine, name: 'a.txt' };
  assert.equal(await service.save(key, { text: 'one' }, { saveId: '1' }), 0);
  assert.equal(await service.save(key, { text: 'two' }, { saveId: '2' }), 1);
  assert.equal(await service.save(key, { text: 'one' }, { saveId: '1' }), 0, 'as it was given');
  assert.deepEqual(await service.load(key), { text: 'two' });
  assert.deepEqual(await service.load(key, 0), { text: 'one' });
  assert.deepEqual(
    [await service.load(key, 2), await service.load(key, -1)],
    [undefined, undefined],
  );
  assert.deepEqual(await service.versions(key), [0, 1]);
});

test("a session sees its own artifacts and its user's, and no others", async () => {
  const service = new InMemoryArtifactService();
  await service.save({ session: mine, name: 'b' }, { text: '' }, { saveId: '1' });
  await service.save({ session: mine, name: 'user:cv' }, { text: 'Ada' }, { saveId: '2' });
  await service.save({ session: other, name: 'a' }, { text: '' }, { saveId: '3' });
  assert.deepEqual(await service.list(mine), ['b', 'user:cv']);
  assert.deepEqual(await service.list(other), ['a', 'user:cv']);
  assert.deepEqual(await service.list(stranger), []);
  assert.deepEqual(await service.load({ session: other, name: 'user:cv' }), { text: 'Ada' });
  assert.equal(await service.load({ session: other, name: 'b' }), undefined);
});

test('a deleted artifact is gone with all its versions', async () => {
  const service = new InMemoryArtifactService();
  const key = { session: mine, name: 'a' };
  await service.save(key, { text: '' }, { saveId: '1' });
  await service.delete(key);
  await service.delete(key);
  assert.deepEqual([await service.load(key), await service.versions(key)], [undefined, []]);
  assert.deepEqual(await service.list(mine), []);
});

test('what was saved cannot be changed from outside', async () => {
  const service = new InMemoryArtifactService();
  const part = { text: 'before' };
  await service.save({ session: mine, name: 'a' }, part, { saveId: '1' });
  part.text = 'after';
  const loaded = await service.load({ session: mine, name: 'a' });
  assert.deepEqual(loaded, { text: 'before' });
  assert.ok(Object.isFrozen(loaded));
});

test('a name that could lead out of a folder is refused', async () => {
  const service = new InMemoryArtifactService();
  for (const name of ['', 'user:', 'a/b', 'a\\b', '..', 'a\0', 'x'.repeat(257)]) {
    await assert.rejects(
      service.save({ session: mine, name }, { text: '' }, { saveId: '1' }),
      { code: 'invalid_input' },
      name,
    );
  }
});
