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

interface Shown {
  readonly session: string;
  readonly killedAt: readonly { readonly tool: string; readonly done: string }[];
  readonly toolRuns: Readonly<Record<string, object>>;
  readonly events: number;
  readonly gapFree: boolean;
  readonly report: string;
}

const main = join(import.meta.dirname, '..', 'examples', 'demo', 'main.ts');
const temporary: string[] = [];

async function runDemo(...options: readonly string[]): Promise<{ shown: Shown; story: string }> {
  const args = [main, '--json', ...options];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  const lines = stdout.trimEnd().split('\n');
  assert.equal(lines.length, 1);
  const shown: Shown = JSON.parse(lines[0] ?? '');
  temporary.push(dirname(shown.report));
  return { shown, story: stderr };
}

const read = { starts: 1, completions: 1, unknown: 0 };

after(async () => {
  for (const folder of temporary) await rm(folder, { recursive: true });
});

describe('the demonstration', () => {
  let whole: Awaited<ReturnType<typeof runDemo>>;
  before(async () => {
    whole = await runDemo();
  });

  it('kills inside a tool that reads, which runs again, and inside one that writes, which does not', () => {
    const { shown } = whole;
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

  it('leaves one whole report with what was really counted', async () => {
    const report = await readFile(whole.shown.report, 'utf8');
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

  it('tells a person what was killed and what was not run again', () => {
    const [begins, second, third] = whole.story.split('takes the session over');
    assert.match(begins ?? '', /✖ kill -9 \d+ inside count_words: \d+ of \d+ files counted/);
    assert.match(second ?? '', /not run again +list_files docs · read_file package\.json · count_/);
    assert.match(second ?? '', /run again +count_words \S+: it only reads, so attempt 2 begins/);
    assert.match(third ?? '', /unknown +write_report: it may have happened/);
    assert.match(third ?? '', /numbered without a gap/);
  });

  it('has a person who lets a half-written report be written again, once', async () => {
    const { shown } = await runDemo('--half');
    assert.deepEqual(shown.toolRuns['write_report'], { starts: 2, completions: 1, unknown: 0 });
    const report = await readFile(shown.report, 'utf8');
    assert.equal(report, await readFile(whole.shown.report, 'utf8'));
  });

  it('counts gaps with a reader that sees any missing row', () => {
    const folder = dirname(whole.shown.report);
    const database = join(folder, 'demo.db');
    const damaged = join(folder, 'damaged.db');
    assert.deepEqual(auditLog(database, 'demo'), { events: whole.shown.events, gapFree: true });
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
    const elsewhere = await mkdtemp(join(tmpdir(), 'petrichor-elsewhere-'));
    temporary.push(root, elsewhere);
    await writeFile(join(root, 'a.md'), 'inside');
    await writeFile(join(elsewhere, 'b.md'), 'outside');
    await symlink(elsewhere, join(root, 'link'));
    const folder = await Folder.at(root);
    assert.deepEqual(await folder.textFiles('.'), ['a.md']);
    for (const path of [
      '..',
      '../b.md',
      'x/../../b.md',
      join(elsewhere, 'b.md'),
      'link/b.md',
      'link',
    ]) {
      await assert.rejects(folder.inside(path), /is outside the folder/);
    }
  });
});
