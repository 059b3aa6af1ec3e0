import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { agentSource } from '../../test/cli/agent-source.ts';
import { CommandFolder, Output } from '../../test/cli/command-folder.ts';

const main = join(import.meta.dirname, 'main.ts');

/** The program in its own process. */
interface Program {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly write: (text: string) => void;
  readonly end: () => void;
  /** Closes its standard output for reading. */
  readonly stopReading: () => void;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Its exit code, or the signal that ended it. */
  readonly exit: Promise<number | string>;
}

function desk(): CommandFolder {
  const folder = new CommandFolder();
  folder.write('agent.ts', agentSource);
  return folder;
}

function start(t: TestContext, folder: CommandFolder, args: readonly string[]): Program {
  const child = spawn(process.execPath, [main, ...args], { cwd: folder.path });
  // A failed test leaves no process behind.
  t.after(() => child.kill('SIGKILL'));
  const stdout = new Output();
  const stderr = new Output();
  child.stdout.pipe(stdout);
  child.stderr.pipe(stderr);
  return {
    stdout,
    stderr,
    write: (text) => void child.stdin.write(text),
    end: () => void child.stdin.end(),
    stopReading: () => void child.stdout.destroy(),
    kill: (signal) => void child.kill(signal),
    exit: once(child, 'close').then(([code, signal]: unknown[]) =>
      typeof code === 'number' ? code : String(signal),
    ),
  };
}

async function run(
  t: TestContext,
  folder: CommandFolder,
  args: readonly string[],
  input = '',
): Promise<Program & { readonly code: number | string }> {
  const program = start(t, folder, args);
  program.write(input);
  program.end();
  return { ...program, code: await program.exit };
}

/** Runs a command for which a process adds nothing, in this one, on the store that the program has in that folder. */
async function runHere(
  folder: CommandFolder,
  args: readonly string[],
  input = '',
): ReturnType<CommandFolder['run']> {
  const store = args.includes('--store')
    ? []
    : ['--store', `sqlite:${join(folder.path, 'petrichor.db')}`];
  return folder.run([...args, ...store], input);
}

test('echo hello | petrichor run agent.ts', async (t) => {
  const folder = desk();
  const { code, stdout, stderr } = await run(t, folder, ['run', 'agent.ts'], 'hello\n');
  assert.equal(code, 0);
  assert.match(stdout.text, /^› hello\nYou said: hello$/m);
  assert.match(stdout.text, /Resume with: petrichor run agent\.ts --session \S+\n$/);
  assert.equal(stderr.raw, '');
});

test('--version prints the version of the package', async (t) => {
  const { stdout } = await run(t, new CommandFolder(), ['--version']);
  assert.equal(stdout.raw, `${packageJson.version}\n`);
});

test('one SIGINT interrupts the turn and not the program; while no turn runs, it exits with the code of the signal', async (t) => {
  const program = start(t, desk(), ['run', 'agent.ts']);
  program.write('wait\n');
  await program.stdout.shows('● wait\n');
  program.kill('SIGINT');
  await program.stdout.shows('■ Stopped.');
  program.write('hello\n');
  await program.stdout.shows(/You said: hello\n\d[\w. ]*\n\n/);
  program.kill('SIGINT');
  assert.equal(await program.exit, 130);
  assert.match(program.stdout.text, /The session is saved\. Resume with:/);
});

test('a second SIGINT exits', async (t) => {
  const program = start(t, desk(), ['run', 'agent.ts']);
  program.write('wait\n');
  await program.stdout.shows('● wait\n');
  program.kill('SIGINT');
  await program.stdout.shows('Stopping. Ctrl-C again leaves.');
  program.kill('SIGINT');
  assert.equal(await program.exit, 130);
});

test('a session killed during a tool continues, and the screen reports the crash', async (t) => {
  const folder = desk();
  const args = ['run', 'agent.ts', '--session', 'demo'];
  const first = start(t, folder, [...args, '--json']);
  first.write('wait\n');
  // The tool itself prints that it runs.
  await first.stdout.shows('"kind":"progress","text":"waiting"');
  first.kill('SIGKILL');
  assert.equal(await first.exit, 'SIGKILL');

  const second = await run(t, folder, args, 'and now?\n');
  assert.equal(second.code, 0);
  const expectedOutput = [
    /^Stopped in the middle of a turn \(\d events, the last [^)]+\)\. It continues:$/m,
    /^› wait\n● wait\n↻ wait runs again, attempt 2: the process died while it ran\.\n {2}└ .*waited$/m,
    /^Then: \{"result":"waited"\}$/m,
    /^› and now\?\nYou said: and now\?$/m,
  ];
  for (const part of expectedOutput) assert.match(second.stdout.text, part);
  assert.deepEqual(readRuns(folder), ['wait 1', 'wait 2']);

  const { stdout } = await runHere(folder, ['replay', 'demo']);
  assert.match(stdout.text, /owner 2 took the session/);
  assert.match(stdout.text, /tool\.run +ok in attempt 2 /);
});

test('errors are messages on stderr, with their exit codes', async (t) => {
  const folder = desk();
  folder.write('broken.ts', 'throw new Error("No API key.");');
  await runHere(folder, ['run', 'agent.ts'], 'hello\n');
  const cases: readonly (readonly [args: readonly string[], code: number, says: RegExp])[] = [
    [['replay', 'nobody'], 1, /There is no session "nobody"/],
    [['run', 'missing.ts'], 1, /missing\.ts does not exist/],
    [['run', 'broken.ts'], 1, /broken\.ts could not be loaded: No API key\./],
    [['run', 'agent.ts', '--store', 'ftp://x'], 1, /Unknown store URL scheme "ftp:"/],
    [['fly'], 2, /There is no command "fly"/],
  ];
  const check = (
    program: { readonly code: unknown; readonly stdout: Output; readonly stderr: Output },
    [args, code, message]: (typeof cases)[number],
  ): void => {
    assert.equal(program.code, code, args.join(' '));
    assert.match(program.stderr.text, message);
    assert.equal(program.stderr.text.trimEnd().split('\n').length, 1, 'no stack, no warning');
    assert.equal(program.stdout.raw, '');
  };
  for (const one of cases) check(await runHere(folder, one[0]), one);
  // A process adds its exit code, and the warnings of Node. One for each code.
  for (const one of cases.filter(([args]) => ['broken.ts', 'fly'].includes(args.at(-1) ?? '')))
    check(await run(t, folder, one[0]), one);
});

test('every line of --json is JSON', async () => {
  const folder = desk();
  const chat = await runHere(
    folder,
    ['run', 'agent.ts', '--session', 'demo', '--json'],
    'read a.txt\n',
  );
  assert.equal(chat.code, 0);
  assert.deepEqual(
    [chat.stdout.json[0]?.['type'], chat.stdout.json.at(-1)?.['type']],
    ['opened', 'left'],
  );
  const list = await runHere(folder, ['sessions', '--json']);
  assert.deepEqual(
    list.stdout.json.map(({ session }) => session),
    ['demo'],
  );
  const replay = await runHere(folder, ['replay', 'demo', '--json']);
  assert.equal(replay.stdout.json.at(-1)?.['type'], 'marking');
});

test('the program ends without an error when its output is no longer read', async (t) => {
  const folder = desk();
  await runHere(folder, ['run', 'agent.ts', '--session', 'demo'], 'hello\n'.repeat(40));
  const program = start(t, folder, ['replay', 'demo']);
  program.stopReading();
  assert.equal(await program.exit, 0);
  assert.equal(program.stderr.raw, '');
});

function readRuns(folder: CommandFolder): readonly string[] {
  try {
    return readFileSync(join(folder.path, 'runs.log'), 'utf8').trim().split('\n');
  } catch {
    return [];
  }
}
