import assert from 'node:assert/strict';
import type { SessionKey } from '../../core/index.ts';
import type { ArtifactKey, ArtifactPart, ArtifactService } from '../artifacts/artifact-service.ts';

/** One requirement of every artifact service, checked on a service without artifacts. */
export interface ArtifactServiceCase {
  readonly name: string;
  readonly check: (service: ArtifactService) => Promise<void>;
}

const mine: SessionKey = { appName: 'a', userId: 'u', sessionId: '1' };
const other: SessionKey = { ...mine, sessionId: '2' };
const stranger: SessionKey = { ...mine, userId: 'v' };
const file = (name: string, session: SessionKey = mine): ArtifactKey => ({ session, name });

export const artifactServiceContract: readonly ArtifactServiceCase[] = [
  {
    name: 'each save is a version, counted from 0, and the newest is loaded by default',
    check: async (service) => {
      const key = file('a.txt');
      assert.equal(await service.load(key), undefined);
      assert.equal(await service.save(key, { text: 'one' }, { saveId: '1' }), 0);
      assert.equal(await service.save(key, { text: 'two' }, { saveId: '2' }), 1);
      assert.deepEqual(await service.load(key), { text: 'two' });
      assert.deepEqual(await service.load(key, 0), { text: 'one' });
      assert.deepEqual(
        [await service.load(key, 2), await service.load(key, -1)],
        [undefined, undefined],
      );
      assert.deepEqual(await service.versions(key), [0, 1]);
    },
  },
  {
    name: 'the bytes of all versions are counted, by user and by app, until they are deleted',
    check: async (service) => {
      const count = async (userId?: string): Promise<number | undefined> =>
        service.countBytes?.({ appName: 'a', ...(userId !== undefined && { userId }) });
      if (service.countBytes === undefined) return;
      assert.equal(await count(), 0);
      await service.save(file('a.txt'), { text: 'four' }, { saveId: '1' });
      await service.save(file('a.txt'), { text: 'sixsix' }, { saveId: '2' });
      const data = Buffer.from([1, 2, 3]).toString('base64');
      const image = { inlineData: { mimeType: 'image/png', data } };
      await service.save(file('user:b.png'), image, { saveId: '1' });
      const ofUser = await count('u');
      assert.ok(ofUser !== undefined && ofUser >= 13, `${ofUser}`);
      await service.save(file('c', stranger), { text: 'seven' }, { saveId: '1' });
      assert.equal(await count('u'), ofUser);
      const all = await count();
      assert.ok(all !== undefined && all >= ofUser + 5, `${all}`);
      await service.delete(file('a.txt'));
      await service.delete(file('user:b.png'));
      assert.equal(await count('u'), 0);
      assert.equal(await service.countBytes({ appName: 'b' }), 0);
    },
  },
  {
    name: 'versions are sorted as numbers, and the next one follows',
    check: async (service) => {
      const key = file('a');
      for (let version = 0; version < 12; version++)
        assert.equal(
          await service.save(key, { text: `${version}` }, { saveId: `${version}` }),
          version,
        );
      assert.deepEqual(await service.versions(key), [...Array.from({ length: 12 }).keys()]);
      assert.deepEqual(await service.load(key), { text: '11' });
    },
  },
  {
    name: 'a repeated saveId returns the version of the first save, whatever was saved since',
    check: async (service) => {
      const key = file('a');
      assert.equal(await service.save(key, { text: 'one' }, { saveId: '1' }), 0);
      assert.equal(await service.save(key, { text: 'two' }, { saveId: '2' }), 1);
      assert.equal(await service.save(key, { text: 'one' }, { saveId: '1' }), 0);
      assert.deepEqual(await service.versions(key), [0, 1]);
      assert.equal(await service.save(file('b'), { text: 'one' }, { saveId: '1' }), 0);
      await service.delete(key);
      assert.equal(await service.save(key, { text: 'again' }, { saveId: '2' }), 0);
      assert.deepEqual(await service.load(key), { text: 'again' });
    },
  },
  {
    name: 'ten concurrent saves get ten versions, and none is lost',
    check: async (service) => {
      const key = file('a');
      const ten = Array.from({ length: 10 }, (_, index) => `${index}`);
      const versions = await Promise.all(
        ten.map(async (text) => service.save(key, { text }, { saveId: text })),
      );
      assert.deepEqual(
        versions.toSorted((a, b) => a - b),
        [...ten.keys()],
      );
      for (const [index, version] of versions.entries())
        assert.deepEqual(await service.load(key, version), { text: `${index}` });
    },
  },
  {
    name: "a session sees its own artifacts and its user's, and no others",
    check: async (service) => {
      await service.save(file('b'), { text: '' }, { saveId: '1' });
      await service.save(file('user:cv'), { text: 'Ada' }, { saveId: '2' });
      await service.save(file('a', other), { text: '' }, { saveId: '3' });
      await service.save(file('cv'), { text: 'mine' }, { saveId: '4' });
      assert.deepEqual(await service.list(mine), ['b', 'cv', 'user:cv']);
      assert.deepEqual(await service.list(other), ['a', 'user:cv']);
      assert.deepEqual(await service.list(stranger), []);
      assert.deepEqual(await service.load(file('user:cv', other)), { text: 'Ada' });
      assert.deepEqual(await service.load(file('cv')), { text: 'mine' });
      assert.equal(await service.load(file('b', other)), undefined);
    },
  },
  {
    name: 'a deleted artifact is gone with all its versions',
    check: async (service) => {
      const key = file('a');
      await service.save(key, { text: '' }, { saveId: '1' });
      await service.save(file('ab'), { text: 'stays' }, { saveId: '1' });
      await service.delete(key);
      await service.delete(key);
      assert.deepEqual([await service.load(key), await service.versions(key)], [undefined, []]);
      assert.deepEqual(await service.list(mine), ['ab']);
    },
  },
  {
    name: 'data, texts and references are loaded as they were saved',
    check: async (service) => {
      const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 256));
      const parts: readonly ArtifactPart[] = [
        { inlineData: { mimeType: 'image/png', data: bytes.toString('base64') } },
        { inlineData: { mimeType: 'application/octet-stream', data: '' } },
        { text: 'Grüße, 世界 \0 \u{1f600}' },
        { text: '' },
        { text: 'half a pair: \ud800' },
        { fileData: { mimeType: 'text/html', fileUri: `https://example.com/${'x'.repeat(2000)}` } },
      ];
      for (const [index, part] of parts.entries()) {
        await service.save(file('a'), part, { saveId: `${index}` });
        assert.deepEqual(await service.load(file('a')), part);
        assert.deepEqual(await service.load(file('a'), index), part);
      }
    },
  },
  {
    name: 'a saved part cannot be changed by the caller',
    check: async (service) => {
      const part = { text: 'before' };
      await service.save(file('a'), part, { saveId: '1' });
      part.text = 'after';
      const loaded = await service.load(file('a'));
      assert.deepEqual(loaded, { text: 'before' });
      assert.ok(Object.isFrozen(loaded));
    },
  },
  {
    name: 'describe returns the type, creation time and metadata of a version',
    check: async (service) => {
      const before = Date.now();
      const key = file('report.pdf');
      const customMetadata = { author: 'Ada — München' };
      const inlineData = { mimeType: 'application/pdf', data: 'AAAA' };
      await service.save(key, { inlineData }, { saveId: '1', customMetadata });
      await service.save(key, { text: 'x' }, { saveId: '2' });
      const first = await service.describe(key, 0);
      assert.ok(first !== undefined);
      const { canonicalUri, createdAt, ...rest } = first;
      assert.deepEqual(rest, { version: 0, mimeType: 'application/pdf', customMetadata });
      assert.match(canonicalUri, /^[a-z0-9]+:.*report\.pdf/);
      assert.ok(createdAt >= before && createdAt <= Date.now());
      const newest = await service.describe(key);
      assert.deepEqual(
        [newest?.version, newest?.mimeType, newest?.customMetadata],
        [1, 'text/plain', {}],
      );
      assert.notEqual(newest?.canonicalUri, canonicalUri);
      const fileData = { mimeType: 'text/html', fileUri: 'https://example.com' };
      await service.save(key, { fileData }, { saveId: '3' });
      assert.equal((await service.describe(key))?.mimeType, undefined);
      assert.equal(await service.describe(key, 9), undefined);
      assert.equal(await service.describe(file('none')), undefined);
    },
  },
  {
    name: 'names that resemble paths and long names are valid',
    check: async (service) => {
      const names = [
        '.',
        '.hidden',
        '~x',
        '%2E',
        'a b.txt',
        'ä',
        '世'.repeat(256),
        'CON',
        'a:b',
        '*',
      ];
      for (const name of names) await service.save(file(name), { text: name }, { saveId: '1' });
      for (const name of names) assert.deepEqual(await service.load(file(name)), { text: name });
      assert.deepEqual(await service.list(mine), names.toSorted());
      const dots: SessionKey = { appName: '.', userId: '..', sessionId: '../../x/' };
      await service.save(file('a', dots), { text: 'dots' }, { saveId: '1' });
      await service.save(file('user:a', dots), { text: 'own' }, { saveId: '1' });
      assert.deepEqual(await service.list(dots), ['a', 'user:a']);
      assert.deepEqual(await service.load(file('a', dots)), { text: 'dots' });
      assert.deepEqual(await service.load(file('user:a', dots)), { text: 'own' });
    },
  },
  {
    name: 'a name that could leave its folder is rejected, and so is too much metadata',
    check: async (service) => {
      for (const name of ['', 'user:', 'a/b', 'a\\b', '..', 'a\0', 'x'.repeat(257)]) {
        await assert.rejects(
          service.save(file(name), { text: '' }, { saveId: '1' }),
          { code: 'invalid_input' },
          name,
        );
      }
      const customMetadata = { long: 'x'.repeat(1000) };
      await assert.rejects(service.save(file('a'), { text: '' }, { saveId: '1', customMetadata }), {
        code: 'invalid_input',
      });
      assert.deepEqual(await service.list(mine), []);
    },
  },
];
