import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { makeFolder, makeFolderSync } from './make-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'petrichor-make-folder-'));
after(() => rmSync(root, { recursive: true }));

const forms = {
  makeFolder,
  makeFolderSync: async (path: string, mode: number) => makeFolderSync(path, mode),
};

for (const [name, make] of Object.entries(forms))
  describe(name, () => {
    it('creates a folder with its parents, and again', async () => {
      const parent = join(root, name);
      const folder = join(parent, 'a', 'b');
      await make(folder, 0o700);
      await make(folder, 0o700);
      for (const path of [parent, join(parent, 'a'), folder])
        assert.equal(statSync(path).mode & 0o777, 0o700);
    });

    it('refuses the path of a file, and one below a file', async () => {
      const file = join(root, `${name}.txt`);
      writeFileSync(file, '');
      await assert.rejects(make(file, 0o700), { code: 'EEXIST' });
      await assert.rejects(make(join(file, 'a', 'b'), 0o700), { code: 'ENOTDIR' });
    });

    const skip = existsSync('/proc/self') ? false : 'there is no /proc';
    it('ends where the system refuses every folder', { skip }, async () => {
      await assert.rejects(make('/proc/petrichor', 0o700), { code: 'ENOENT' });
      await assert.rejects(make('/proc/petrichor/a/b', 0o700), { code: 'ENOENT' });
    });

    it('creates nothing but the folder that the path names, also behind a link', async () => {
      const here = join(root, `${name}-links`);
      mkdirSync(join(here, 'other', 'folder'), { recursive: true });
      symlinkSync(join(here, 'other', 'folder'), join(here, 'link'));
      await make(`${here}/link/../a`, 0o755);
      assert.deepEqual(readdirSync(here).toSorted(), ['a', 'link', 'other']);
      assert.deepEqual(readdirSync(join(here, 'other')), ['folder']);
    });

    it('creates a folder that several callers create at once', async () => {
      const folder = join(root, `${name}-at-once`, 'a', 'b', 'c');
      await Promise.all(Array.from({ length: 20 }, async () => make(folder, 0o755)));
      assert.ok(existsSync(folder));
    });
  });
