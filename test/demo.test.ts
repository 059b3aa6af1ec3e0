import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { auditLog } from '../examples/demo/audit.ts';
import { Folder } from '../examples/demo/folder.ts';

interface DemoResult {
  readonly session: string;
  readonly killedAt: readonly { readonly tool: string; readonly done: string }[];
  readonly toolRuns: Readonly<Record<string, object>>;
  readonly events: number;
  readonly gapFree: boolean;
  readonly report: string;
}

const main = join(import.meta.dirname, '..', 'examples', 'demo', 'main.ts');
const temporaryFolders: string[] = [];

async function runDemo(
  ...options: readonly string[]
): Promise<{ shown: DemoResult; story: string }> {
  const args = [main, '--json', ...options];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
    timeout: 600_000,
  });
  const lines = stdout.trimEnd().split('\n');
  assert.equal(lines.length, 1);
  const result: DemoResult = JSON.parse(lines[0] ?? '');
  temporaryFolders.push(dirname(result.report));
  return { shown: result, story: stderr };
}

const read = { starts: 1, completions: 1, unknown: 0 };

after(async () => {
  for (const folder of temporaryFolders) await rm(folder, { recursive: true });
});

describe('the demo', () => {
  let demo: Awaited<ReturnType<typeof runDemo>>;
  before(async () => {
    demo = await runDemo();
  });

  it('kills the process in a read-only tool, which runs again, and in a writing tool, which does not', () => {
    const { shown } = demo;
    assert.equal(shown.session, 'demo');
    assert.deepEqual(
      shown.killedAt.map(({ tool }) => tool),
      ['count_words', 'write_report'],
    );
    assert.deepEqual(shown.toolRuns, {
      list_files: read,
      read_file: read,
      count_words: { starts: 4, completions: 3, unknown: 0 },
      write_report: { starts: 1, completions: 0, unknown: 1 },
    });
    assert.equal(shown.events, 26);
    assert.equal(shown.gapFree, true);
  });

  it('writes one complete report with correct counts', async () => {
    const report = await readFile(demo.shown.report, 'utf8');
    assert.equal(report.match(/^# Words in this repository$/gm)?.length, 1);
    const rows = [...report.matchAll(/^\| (\S+) \| (\d+) \| (\d+) \|$/gm)];
    assert.deepEqual(
      rows.map(([, path]) => path),
      ['docs', 'src/core', 'src/net'],
    );
    const folder = await Folder.at(join(import.meta.dirname, '..'));
    for (const [, path = '', files] of rows) {
      assert.equal((await folder.textFiles(path)).length, Number(files));
    }
  });

  it('reports what was killed and what was not run again', () => {
    const [begins, second, third] = demo.story.split('takes the session over');
    assert.match(begins ?? '', /✖ kill -9 \d+ inside count_words: \d+ of \d+ files counted/);
    assert.match(second ?? '', /not run again +list_files docs · read_file package\.json · count_/);
    assert.match(second ?? '', /run again +count_words \S+: it only reads, so attempt 2 begins/);
    assert.match(third ?? '', /unknown +write_report: it may have happened/);
    assert.match(third ?? '', /numbered without a gap/);
  });

  it('--half: a half-written report is written again after approval, once', async () => {
    const { shown } = await runDemo('--half');
    assert.deepEqual(shown.toolRuns['write_report'], { starts: 2, completions: 1, unknown: 0 });
    const report = await readFile(shown.report, 'utf8');
    assert.equal(report, await readFile(demo.shown.report, 'utf8'));
  });

  it('counts gaps with a reader that detects each missing row', () => {
    const folder = dirname(demo.shown.report);
    const database = join(folder, 'demo.db');
    const damaged = join(folder, 'damaged.db');
    assert.deepEqual(auditLog(database, 'demo'), { events: demo.shown.events, gapFree: true });
    using original = new DatabaseSync(database);
    const steps = original.prepare('SELECT id FROM steps ORDER BY id').all();
    assert.ok(steps.length > 10);
    for (const { id = null } of steps) {
      copyFileSync(database, damaged);
      using copy = new DatabaseSync(damaged);
      copy.prepare('DELETE FROM steps WHERE id = ?').run(id);
      assert.equal(auditLog(damaged, 'demo').gapFree, false);
    }
  });

  it('confines its tools to one folder', async () => {
    const root = await mkdtemp(join(tmpdir(), 'petrichor-folder-'));
    const outside = await mkdtemp(join(tmpdir(), 'petrichor-elsewhere-'));
    temporaryFolders.push(root, outside);
    await writeFile(join(root, 'a.md'), 'inside');
    await writeFile(join(outside, 'b.md'), 'outside');
    await symlink(outside, join(root, 'link'));
    const folder = await Folder.at(root);
    assert.deepEqual(await folder.textFiles('.'), ['a.md']);
    for (const path of [
      '..',
      '../b.md',
      'x/../../b.md',
      join(outside, 'b.md'),
      'link/b.md',
      'link',
    ]) {
      await assert.rejects(folder.inside(path), /is outside the folder/);
    }
  });
});
