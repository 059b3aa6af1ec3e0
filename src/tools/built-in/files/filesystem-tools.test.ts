import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, beforeEach, describe, it } from 'node:test';
import type { JsonObject } from '../../../core/index.ts';
import { callTool, getErrorCode } from '../../../../test/tools/call-tool.ts';
import type { ToolResponse } from '../../tool/tool-response.ts';
import { WorkspaceFolder } from '../workspace/workspace-folder.ts';
import { filesystemTools } from './filesystem-tools.ts';

const base = mkdtempSync(join(tmpdir(), 'petrichor-files-'));
const folder = join(base, 'inside');
const outside = join(base, 'outside');
const SECRET = 'the secret of the host';
const tools = filesystemTools({ environment: { folder } });
after(() => rmSync(base, { recursive: true }));

beforeEach(() => {
  for (const path of [folder, outside]) {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
  }
  writeFileSync(join(outside, 'secret.txt'), SECRET);
});

function call(name: string, args: JsonObject, signal?: AbortSignal): Promise<ToolResponse> {
  const tool = tools.find((one) => one.name === name);
  assert.ok(tool !== undefined);
  return callTool(tool, args, signal === undefined ? {} : { signal });
}

async function ok(name: string, args: JsonObject): Promise<JsonObject> {
  const { outcome, response } = await call(name, args);
  assert.equal(outcome, 'ok', JSON.stringify(response));
  return response;
}

const writeContent = (path: string, text: string | Buffer): void =>
  writeFileSync(join(folder, path), text);
const readContent = (path: string): string => readFileSync(join(folder, path), 'utf8');

describe('the file tools', () => {
  it('do not open files of an open SQLite database, which keeps its locks', async () => {
    const database = new DatabaseSync(join(folder, 'data.db'));
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a TEXT)');
    database.exec(`INSERT INTO t VALUES ('needle')`);
    // A write lock of this process: it would be released if the tools closed a file of the database.
    database.exec('BEGIN IMMEDIATE');
    writeContent('notes.txt', 'needle');
    for (const path of ['data.db', 'data.db-wal', 'data.db-shm']) {
      const read = await call('read', { file_path: path });
      assert.equal(getErrorCode(read), 'file_in_use', path);
      const write = await call('write', { file_path: path, content: 'x' });
      assert.equal(getErrorCode(write), 'file_in_use', path);
    }
    const { matches, skipped } = await ok('grep', { pattern: 'needle' });
    assert.deepEqual([matches, skipped], [[{ path: 'notes.txt', line: 1, text: 'needle' }], 3]);
    const other = spawnSync(
      process.execPath,
      [
        '--no-warnings',
        '--eval',
        `const { DatabaseSync } = require('node:sqlite');
         const other = new DatabaseSync(${JSON.stringify(join(folder, 'data.db'))});
         other.exec('BEGIN IMMEDIATE');`,
      ],
      { encoding: 'utf8' },
    );
    assert.match(other.stderr, /database is locked/);
    database.exec('COMMIT');
    database.close();
    // A closed database is an ordinary file.
    assert.equal(getErrorCode(await call('read', { file_path: 'data.db' })), 'binary_file');
  });

  it('have names, descriptions and argument schemas for the model', () => {
    assert.deepEqual(
      tools.map(({ name, readOnly, idempotent, onCrash, needsApproval }) => [
        name,
        readOnly,
        idempotent,
        onCrash,
        needsApproval,
      ]),
      [
        ['read', true, false, 'rerun', false],
        ['write', false, true, 'rerun', false],
        ['edit', false, false, 'unknown', false],
        ['list', true, false, 'rerun', false],
        ['glob', true, false, 'rerun', false],
        ['grep', true, false, 'rerun', false],
      ],
    );
    for (const { declaration } of tools) {
      assert.equal(declaration.parameters['additionalProperties'], false);
      const properties = Object.values(declaration.parameters['properties'] as JsonObject);
      assert.ok(properties.every((one) => typeof (one as JsonObject)['description'] === 'string'));
    }
  });

  it('write, read, edit, list and find files in their folder', async () => {
    assert.deepEqual(await ok('write', { file_path: 'src/deep/a.ts', content: 'one\ntwo\n' }), {
      path: 'src/deep/a.ts',
      bytes: 8,
    });
    await ok('write', { file_path: '/workspace/src/b.md', content: 'two ways' });
    assert.deepEqual(await ok('read', { file_path: './src//deep/a.ts' }), {
      content: 'one\ntwo',
      first_line: 1,
      last_line: 2,
      total_lines: 2,
    });
    await ok('edit', { file_path: 'src/deep/a.ts', old_string: 'two', new_string: '$& three' });
    assert.equal(readContent('src/deep/a.ts'), 'one\n$& three\n');
    assert.deepEqual(await ok('list', { path: 'src' }), {
      entries: [
        { name: 'b.md', kind: 'file', bytes: 8 },
        { name: 'deep', kind: 'folder' },
      ],
      truncated: false,
    });
    assert.deepEqual(await ok('glob', { pattern: '*.ts' }), {
      paths: ['src/deep/a.ts'],
      truncated: false,
    });
    assert.deepEqual(await ok('glob', { pattern: '**/*', path: 'src' }), {
      paths: ['src/b.md', 'src/deep/a.ts'],
      truncated: false,
    });
    assert.deepEqual(await ok('grep', { pattern: '^t|three$' }), {
      matches: [
        { path: 'src/b.md', line: 1, text: 'two ways' },
        { path: 'src/deep/a.ts', line: 2, text: '$& three' },
      ],
      skipped: 0,
      truncated: false,
    });
    assert.deepEqual(
      await ok('grep', { pattern: 'TWO', path: 'src/b.md', ignore_case: true, glob: '*.ts' }),
      {
        matches: [{ path: 'src/b.md', line: 1, text: 'two ways' }],
        skipped: 0,
        truncated: false,
      },
    );
  });

  it('read a range of lines, and never more than fits a model request', async () => {
    writeContent('long.txt', Array.from({ length: 5_000 }, (_, i) => `line ${i + 1}`).join('\n'));
    assert.deepEqual(await ok('read', { file_path: 'long.txt', offset: 4_999, limit: 10 }), {
      content: 'line 4999\nline 5000',
      first_line: 4_999,
      last_line: 5_000,
      total_lines: 5_000,
    });
    assert.equal((await ok('read', { file_path: 'long.txt' }))['last_line'], 2_000);
    assert.equal(
      getErrorCode(await call('read', { file_path: 'long.txt', offset: 5_001 })),
      'text_not_found',
    );
    writeContent('wide.txt', 'x'.repeat(1_000_000));
    const { content } = await ok('read', { file_path: 'wide.txt' });
    assert.ok(String(content).length < 100_100);
    writeContent('empty.txt', '');
    assert.deepEqual(await ok('read', { file_path: 'empty.txt' }), {
      content: '',
      first_line: 1,
      last_line: 0,
      total_lines: 0,
    });
  });

  it('edit a unique text, or every occurrence with replace_all', async () => {
    writeContent('a.txt', 'aa b aa');
    for (const old_string of ['none', '', 'aa']) {
      assert.equal(
        getErrorCode(await call('edit', { file_path: 'a.txt', old_string, new_string: 'x' })),
        'text_not_found',
      );
    }
    assert.equal(readContent('a.txt'), 'aa b aa');
    await ok('edit', { file_path: 'a.txt', old_string: 'aa', new_string: 'c', replace_all: true });
    assert.equal(readContent('a.txt'), 'c b c');
  });

  it('lose no concurrent edit', async () => {
    writeContent('counts.txt', Array.from({ length: 20 }, (_, i) => `<${i}>`).join('\n'));
    const edits = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        call('edit', { file_path: 'counts.txt', old_string: `<${i}>`, new_string: `[${i}]` }),
      ),
    );
    assert.ok(edits.every(({ outcome }) => outcome === 'ok'));
    assert.equal(
      readContent('counts.txt'),
      Array.from({ length: 20 }, (_, i) => `[${i}]`).join('\n'),
    );
  });

  it('do not overwrite a file that changed between the read and the write of an edit', async () => {
    writeContent('a.txt', 'mine');
    await using root = await WorkspaceFolder.open(folder);
    const { identity } = await root.read('a.txt', 100);
    writeContent('a.txt', 'theirs');
    await assert.rejects(root.write('a.txt', Buffer.from('edited'), identity), {
      code: 'file_changed',
    });
    assert.equal(readContent('a.txt'), 'theirs');
    assert.deepEqual(readdirSync(folder), ['a.txt']);
  });

  it('replace a file atomically and keep its mode', async () => {
    writeContent('run.sh', 'old');
    chmodSync(join(folder, 'run.sh'), 0o750);
    await ok('write', { file_path: 'run.sh', content: 'new' });
    assert.equal(statSync(join(folder, 'run.sh')).mode & 0o777, 0o750);
    assert.deepEqual(readdirSync(folder), ['run.sh']);
  });

  it(
    'create files as the owner of the folder',
    { skip: userInfo().uid !== 0 && 'only root can' },
    async () => {
      chownSync(folder, 65_534, 65_534);
      await ok('write', { file_path: 'sub/a.txt', content: 'x' });
      assert.deepEqual(
        ['sub', 'sub/a.txt'].map((path) => statSync(join(folder, path)).uid),
        [65_534, 65_534],
      );
    },
  );

  it('stop when the signal is aborted', async () => {
    writeContent('a.txt', 'x');
    const aborted = AbortSignal.abort(new Error('interrupted'));
    for (const [name, args] of [
      ['read', { file_path: 'a.txt' }],
      ['write', { file_path: 'b.txt', content: '' }],
      ['grep', { pattern: 'x' }],
    ] as const) {
      assert.equal((await call(name, args, aborted)).outcome, 'error');
    }
    assert.ok(!existsSync(join(folder, 'b.txt')));
  });
});

describe('the file tools do not leave their folder', () => {
  const paths: readonly (readonly [what: string, path: string])[] = [
    ['a climbing path', '../outside/secret.txt'],
    ['a path that climbs later', 'a/../../outside/secret.txt'],
    ['a path that climbs and comes back', '../inside/a.txt'],
    ['two points alone', '..'],
    ['an absolute path', join(outside, 'secret.txt')],
    ['an absolute path inside', join(folder, 'a.txt')],
    ['a system file', '/etc/passwd'],
    ['/proc/self/root', `/proc/self/root${outside}/secret.txt`],
    ['/proc/self/cwd', '/proc/self/cwd/package.json'],
    ['a climb from the folder as commands see it', '/workspace/../outside/secret.txt'],
    ['a name like that folder', '/workspaces/../secret.txt'],
    ['a NUL', 'a.txt\0.png'],
    ['a name too long', 'x'.repeat(300)],
    ['too many names', 'a/'.repeat(200)],
    ['a link to a file', 'link-out'],
    ['a link to a folder', 'folder-out/secret.txt'],
    ['a link to a link', 'link-to-link'],
    ['a link to the root of the system', 'root-link/etc/passwd'],
    ['a link inside to inside', 'link-in'],
    ['a link to itself', 'loop'],
    ['a link to /proc/self/fd', 'fd-link/0'],
  ];

  beforeEach(() => {
    writeContent('a.txt', 'inside');
    for (const [name, target] of [
      ['link-out', join(outside, 'secret.txt')],
      ['folder-out', outside],
      ['link-to-link', 'link-out'],
      ['root-link', '/'],
      ['link-in', 'a.txt'],
      ['loop', 'loop'],
      ['fd-link', '/proc/self/fd'],
      ['dangling', join(outside, 'new.txt')],
    ] as const) {
      symlinkSync(target, join(folder, name));
    }
  });

  for (const [what, path] of paths) {
    it(`by ${what}`, async () => {
      const tried = await Promise.all([
        call('read', { file_path: path }),
        call('write', { file_path: path, content: 'ESCAPED' }),
        call('edit', {
          file_path: path,
          old_string: 'e',
          new_string: 'ESCAPED',
          replace_all: true,
        }),
        call('list', { path }),
        call('glob', { pattern: '*', path }),
        call('grep', { pattern: '.', path }),
      ]);
      assert.deepEqual(
        tried.map(({ outcome }) => outcome),
        Array.from(tried, () => 'error'),
      );
      assert.doesNotMatch(JSON.stringify(tried), /secret of the host|root:x/);
      assert.equal(readFileSync(join(outside, 'secret.txt'), 'utf8'), SECRET);
      assert.deepEqual(readdirSync(outside), ['secret.txt']);
      assert.equal(readContent('a.txt'), 'inside');
    });
  }

  it('by a dangling link', async () => {
    // The link itself is not a regular file: it is neither followed nor replaced.
    assert.equal(
      getErrorCode(await call('write', { file_path: 'dangling', content: 'ESCAPED' })),
      'not_a_file',
    );
    assert.deepEqual(readdirSync(outside), ['secret.txt']);
  });

  it('by a search: links are listed as links and not followed', async () => {
    const found = await Promise.all([
      ok('list', {}),
      ok('glob', { pattern: '**' }),
      ok('grep', { pattern: 'secret|inside|root' }),
    ]);
    const [listed, globbed, grepped] = found;
    assert.ok(
      ((listed?.['entries'] ?? []) as readonly JsonObject[]).some(
        ({ name, kind }) => name === 'folder-out' && kind === 'link',
      ),
    );
    assert.deepEqual(globbed?.['paths'], ['a.txt']);
    assert.deepEqual(grepped?.['matches'], [{ path: 'a.txt', line: 1, text: 'inside' }]);
  });

  it('by a pattern with ".." or an absolute path', async () => {
    for (const pattern of ['../outside/*', '/etc/*', `${outside}/*`]) {
      assert.deepEqual((await ok('glob', { pattern }))['paths'], []);
    }
  });

  it('by the text of an error', async () => {
    const errors = await Promise.all([
      call('read', { file_path: 'none/a.txt' }),
      call('read', { file_path: 'a.txt/x' }),
      call('write', { file_path: 'a.txt/x', content: '' }),
      call('list', { path: 'a.txt' }),
      call('read', { file_path: 'x'.repeat(255) }),
    ]);
    assert.ok(errors.every(({ outcome }) => outcome === 'error'));
    assert.ok(!JSON.stringify(errors).includes(base));
  });
});

describe('special files do not block the file tools', () => {
  it('a pipe, a socket, a device and a folder are rejected at once', async () => {
    spawnSync('/bin/sh', ['-c', 'mkfifo pipe'], { cwd: folder });
    mkdirSync(join(folder, 'sub'));
    const server = createServer().listen(join(folder, 'socket'));
    await once(server, 'listening');
    const names = ['pipe', 'socket', 'sub'];
    if (spawnSync('mknod', [join(folder, 'device'), 'c', '1', '5']).status === 0)
      names.push('device');
    for (const name of names) {
      assert.equal(getErrorCode(await call('read', { file_path: name })), 'not_a_file', name);
      assert.equal(
        getErrorCode(await call('write', { file_path: name, content: '' })),
        'not_a_file',
        name,
      );
    }
    assert.deepEqual((await ok('grep', { pattern: '.' }))['matches'], []);
    server.close();
  });

  it('a huge file is rejected without reading it, and skipped by a search', async () => {
    writeContent('huge', '');
    truncateSync(join(folder, 'huge'), 1024 ** 4);
    assert.equal(getErrorCode(await call('read', { file_path: 'huge' })), 'file_too_large');
    assert.equal(
      getErrorCode(await call('edit', { file_path: 'huge', old_string: 'a', new_string: 'b' })),
      'file_too_large',
    );
    assert.deepEqual(await ok('grep', { pattern: '.' }), {
      matches: [],
      skipped: 1,
      truncated: false,
    });
  });

  it('binary files are rejected, so that an edit cannot corrupt them', async () => {
    writeContent('nul.bin', Buffer.from([65, 0, 66]));
    writeContent('latin.txt', Buffer.from([0x61, 0xe9, 0x62]));
    for (const file_path of ['nul.bin', 'latin.txt']) {
      assert.equal(getErrorCode(await call('read', { file_path })), 'binary_file');
      assert.equal(
        getErrorCode(await call('edit', { file_path, old_string: 'a', new_string: 'b' })),
        'binary_file',
      );
    }
    writeContent('bom.txt', '\uFEFFa');
    await ok('edit', { file_path: 'bom.txt', old_string: 'a', new_string: 'b' });
    assert.equal(readContent('bom.txt'), '\uFEFFb');
  });

  it('content that is too large, a pattern that is too long, and arguments of a wrong type are rejected first', async () => {
    assert.equal(
      (await call('write', { file_path: 'a', content: 'x'.repeat(1024 * 1024 + 1) })).outcome,
      'error',
    );
    assert.equal((await call('grep', { pattern: 'x'.repeat(1_001) })).outcome, 'error');
    assert.equal((await call('read', { file_path: 'a', offset: 0 })).outcome, 'error');
    assert.equal((await call('read', { file_path: 'a', more: 1 })).outcome, 'error');
    assert.deepEqual(readdirSync(folder), []);
  });

  it('a pattern with catastrophic backtracking in other engines ends', async () => {
    writeContent('a.txt', `${'a'.repeat(50_000)}b`);
    assert.deepEqual((await ok('grep', { pattern: '^(a+)+$' }))['matches'], []);
  });
});

describe('while another process replaces folders and files by links', () => {
  // A write creates the folder again when it is missing for a moment; then everything is set up again.
  const swap = (outside: string): string => `
    const { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
    const lay = () => {
      for (const path of ['sub', 'sub-link', 'sub-spare', 'f.txt', 'f-link', 'f-spare']) rmSync(path, { recursive: true, force: true });
      mkdirSync('sub');
      for (const path of ['sub/secret.txt', 'f.txt']) writeFileSync(path, 'inside');
      symlinkSync('${outside}', 'sub-link');
      symlinkSync('${outside}/secret.txt', 'f-link');
    };
    const turn = (a, b, spare) => { renameSync(a, spare); renameSync(b, a); renameSync(a, b); renameSync(spare, a); };
    lay();
    process.stdout.write('begun');
    for (;;) try { turn('sub', 'sub-link', 'sub-spare'); turn('f.txt', 'f-link', 'f-spare'); } catch { try { lay(); } catch {} }`;

  it('nothing outside the folder is read or written', async (t) => {
    const swapper = spawn(process.execPath, ['-e', swap(outside)], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    t.after(() => swapper.kill('SIGKILL'));
    await once(swapper.stdout, 'data');
    const seen = new Set<unknown>();
    for (let i = 0; i < 200; i += 1) {
      const read = await Promise.all([
        call('read', { file_path: 'sub/secret.txt' }),
        call('read', { file_path: 'f.txt' }),
        call('grep', { pattern: 'secret' }),
        call('write', { file_path: 'sub/new.txt', content: 'x' }),
      ]);
      for (const one of read) seen.add(one.outcome);
      assert.doesNotMatch(JSON.stringify(read), /secret of the host/);
    }
    swapper.kill('SIGKILL');
    await once(swapper, 'exit');
    assert.deepEqual(readdirSync(outside), ['secret.txt']);
    // Both occurred: folders, and links in their place.
    assert.deepEqual(seen, new Set(['ok', 'error']));
  });

  it('a write to a hard link of an outside file does not change that file', async () => {
    linkSync(join(outside, 'secret.txt'), join(folder, 'hard'));
    await ok('write', { file_path: 'hard', content: 'mine' });
    // A write replaces the file, so the content under the other name stays.
    assert.equal(readFileSync(join(outside, 'secret.txt'), 'utf8'), SECRET);
  });
});
