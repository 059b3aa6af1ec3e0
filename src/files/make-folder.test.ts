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
import { makeFolder } from './make-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'petrichor-make-folder-'));
after(() => rmSync(root, { recursive: true }));

describe('makeFolder', () => {
  it('creates a folder with its parents, and again', () => {
    const parent = join(root, 'parent');
    const folder = join(parent, 'a', 'b');
    makeFolder(folder, 0o700);
    makeFolder(folder, 0o700);
    for (const path of [parent, join(parent, 'a'), folder])
      assert.equal(statSync(path).mode & 0o777, 0o700);
  });

  it('refuses the path of a file, and one below a file', () => {
    const file = join(root, 'file.txt');
    writeFileSync(file, '');
    assert.throws(() => makeFolder(file, 0o700), { code: 'EEXIST' });
    assert.throws(() => makeFolder(join(file, 'a', 'b'), 0o700), { code: 'ENOTDIR' });
  });

  const skip = existsSync('/proc/self') ? false : 'there is no /proc';
  it('ends where the system refuses every folder', { skip }, () => {
    assert.throws(() => makeFolder('/proc/petrichor', 0o700), { code: 'ENOENT' });
    assert.throws(() => makeFolder('/proc/petrichor/a/b', 0o700), { code: 'ENOENT' });
  });

  it('creates nothing but the folder that the path names, also behind a link', () => {
    const here = join(root, 'links');
    mkdirSync(join(here, 'other', 'folder'), { recursive: true });
    symlinkSync(join(here, 'other', 'folder'), join(here, 'link'));
    makeFolder(`${here}/link/../a`, 0o755);
    assert.deepEqual(readdirSync(here).toSorted(), ['a', 'link', 'other']);
    assert.deepEqual(readdirSync(join(here, 'other')), ['folder']);
  });

  it('creates a folder that several callers create at once', async () => {
    const folder = join(root, 'at-once', 'a', 'b', 'c');
    await Promise.all(Array.from({ length: 20 }, async () => makeFolder(folder, 0o755)));
    assert.ok(existsSync(folder));
  });
});
