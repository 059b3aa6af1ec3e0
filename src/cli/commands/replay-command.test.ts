import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { agentSource } from '../../../test/cli/agent-source.ts';
import { CommandFolder, type Running } from '../../../test/cli/command-folder.ts';

async function after(input: string): Promise<CommandFolder> {
  const folder = new CommandFolder();
  folder.write('agent.ts', agentSource);
  await folder.run(['run', 'agent.ts', '--session', 'demo', '--store', folder.store], input);
  return folder;
}

async function replay(
  folder: CommandFolder,
  ...more: readonly string[]
): Promise<Running & { readonly code: number }> {
  return folder.run(['replay', 'demo', '--store', folder.store, ...more]);
}

test('a replay prints a line per firing, from the start to the end of the turn', async () => {
  const { code, stdout } = await replay(await after('read a.txt\n'));
  assert.equal(code, 0);
  const lines = stdout.text.trimEnd().split('\n');
  const names = lines
    .slice(0, -1)
    .map((line) => /^ +\d+ {2}\d\d:\d\d:\d\d\.\d{3}(?: +[\d.]+ m?s)? +(\S+)/.exec(line)?.[1]);
  assert.deepEqual(names, [
    'begin',
    'input',
    'turn.start',
    'model.call',
    'model.route',
    'tool.run',
    'turn.continue',
    'model.call',
    'model.route',
    'turn.end',
  ]);
  assert.match(
    stdout.text,
    /tool\.run +read_file \{"path":"a\.txt"\} {2}tool\.call → tool\.result$/m,
  );
  assert.match(stdout.text, /^8 firings in \d+ records\. Now: turn\.permit, conversation ×4\.$/m);
});

test('a replay runs nothing and needs no agent', async () => {
  const folder = await after('read a.txt\n');
  const log = join(folder.path, 'runs.log');
  const before = readFileSync(log, 'utf8');
  rmSync(join(folder.path, 'agent.ts'));
  assert.equal((await replay(folder)).code, 0);
  assert.equal(readFileSync(log, 'utf8'), before);
});

test('a replay shows waiting calls as tokens, and the answer as an input', async () => {
  const folder = await after('delete a.txt\n');
  const waiting = await replay(folder, '--json');
  const { type, tokens } = waiting.stdout.json.at(-1) ?? {};
  assert.equal(type, 'marking');
  assert.partialDeepStrictEqual(tokens, { 'tool.parked': 1, 'turn.waiting': 1, 'turn.current': 1 });
  await folder.run(['run', 'agent.ts', '--session', 'demo', '--store', folder.store], 'y\n');
  assert.match((await replay(folder)).stdout.text, /input +approved {2}→ answer\.in$/m);
});

test('the JSON lines number the records, and list places with token counts', async () => {
  const { stdout } = await replay(await after('read a.txt b.txt\n'), '--json');
  const entries = stdout.json;
  const seqs = entries.flatMap(({ seq }) => (typeof seq === 'number' ? [seq] : []));
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
  );
  const reask = entries.find(({ transition }) => transition === 'turn.continue');
  assert.partialDeepStrictEqual(reask, {
    type: 'firing',
    outcome: 'fired',
    take: { 'tool.result': 2 },
  });
  const runs = entries.filter(({ transition }) => transition === 'tool.run');
  assert.deepEqual(
    runs.map(({ outcome, attempts }) => [outcome, attempts]),
    [
      ['ok', 1],
      ['ok', 1],
    ],
  );
});

test('a firing that another firing took is printed as aborted', async () => {
  const folder = new CommandFolder();
  folder.write('agent.ts', agentSource);
  const chat = folder.start(['run', 'agent.ts', '--session', 'demo', '--store', folder.store], {
    input: 'wait\n',
  });
  await chat.stdout.shows('● wait\n');
  chat.signal('SIGINT');
  await chat.exit;
  const { stdout } = await replay(folder);
  assert.match(stdout.text, /tool\.run +aborted {2}wait \{\} {2}tool\.call →$/m);
  assert.match(stdout.text, /turn\.interrupt /);
});

test('an unknown session is rejected with the command that lists sessions', async () => {
  const folder = await after('hello\n');
  const { code, stderr } = await folder.run(['replay', 'other', '--store', folder.store]);
  assert.equal(code, 1);
  assert.match(
    stderr.text,
    /There is no session "other" of user "default" and app "petrichor" in sqlite:.*`petrichor sessions` lists/,
  );
  assert.equal((await replay(folder, '--user', 'ann')).code, 1);
});

test('an invalid session id is rejected with the name of the field', async () => {
  const folder = await after('hello\n');
  const { code, stderr } = await folder.run(['replay', '', '--store', folder.store]);
  assert.equal(code, 1);
  assert.match(stderr.text, /sessionId: must not be empty/);
});

function damage(folder: CommandFolder, statement: string): void {
  const database = new DatabaseSync(join(folder.path, 'sessions.db'));
  database.exec(statement);
  database.close();
}

const stepId = (number: number): string =>
  `(SELECT id FROM steps ORDER BY id LIMIT 1 OFFSET ${number - 1})`;

test('a journal with a missing step is rejected with the name of its file', async () => {
  const folder = await after('read a.txt\n');
  damage(folder, `DELETE FROM steps WHERE id = ${stepId(3)}`);
  const { code, stdout, stderr } = await replay(folder);
  assert.equal(code, 1);
  assert.match(
    stderr.text,
    /sessions\.db is damaged: step 3 of session petrichor\/default\/demo is missing/,
  );
  assert.doesNotMatch(stdout.text, /firings in/);
});

test('a journal with inconsistent records is rejected at the first inconsistent record', async () => {
  const folder = await after('hello\nhello\n');
  damage(
    folder,
    `UPDATE steps SET records = (SELECT records FROM steps WHERE id = ${stepId(4)}) WHERE id = ${stepId(2)}`,
  );
  const { code, stderr } = await replay(folder, '--json');
  assert.equal(code, 1);
  const [failure] = stderr.json;
  assert.equal(failure?.['code'], 'journal_damaged');
  assert.match(
    String(failure?.['message']),
    /damaged at record 6: .* which is not there\. Restore the store from a backup\.$/,
  );
});

test('a file that is not a store is rejected by name', async () => {
  const folder = new CommandFolder();
  const file = folder.write(
    'notes.txt',
    'not a database, but long enough to look like one '.repeat(100),
  );
  const { code, stderr } = await folder.run(['replay', 'demo', '--store', file]);
  assert.equal(code, 1);
  assert.match(stderr.text, /notes\.txt .*Nothing was written to it/);
});
