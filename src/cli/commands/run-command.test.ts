import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentSource } from '../../../test/cli/agent-source.ts';
import { CommandFolder, type Running, type RunOptions } from '../../../test/cli/command-folder.ts';

/** A folder with an agent in it. */
class RunFolder extends CommandFolder {
  constructor(source = agentSource) {
    super();
    this.write('agent.ts', source);
  }

  /** The runs of tools, as the tools recorded them. */
  get runs(): readonly string[] {
    return readFileSync(join(this.path, 'runs.log'), 'utf8').trim().split('\n');
  }

  chat(options?: RunOptions, ...more: readonly string[]): Running {
    return this.start(this.args(...more), options);
  }

  args(...more: readonly string[]): readonly string[] {
    return ['run', 'agent.ts', '--session', 'demo', '--store', this.store, ...more];
  }

  async say(...lines: readonly string[]): ReturnType<CommandFolder['run']> {
    return this.run(this.args(), lines.map((line) => `${line}\n`).join(''));
  }

  async sessions(): Promise<readonly Record<string, unknown>[]> {
    return (await this.run(['sessions', '--store', this.store, '--json'])).stdout.json;
  }
}

test('a piped message is answered, and the program ends with its input', async () => {
  const { code, stdout, stderr, listened } = await new RunFolder().say('hello');
  assert.equal(code, 0);
  assert.match(stdout.text, /^assistant · session demo · sqlite:/);
  assert.match(stdout.text, /^› hello\nYou said: hello\n/m);
  assert.match(
    stdout.text,
    /Resume with: petrichor run agent\.ts --session demo --store sqlite:\S+\n$/,
  );
  assert.equal(stderr.raw, '');
  assert.equal(listened(), 0, 'no signal is listened to any more');
});

test('several piped messages are turns of one session, and empty lines are skipped', async () => {
  const folder = new RunFolder();
  const { stdout } = await folder.say('one', '', '  ', 'two');
  assert.match(stdout.text, /You said: one\n[^]*You said: two\n/);
  const [session] = await folder.sessions();
  assert.deepEqual(
    [session?.['session'], session?.['status'], session?.['events']],
    ['demo', 'idle', 8],
  );
});

test('calls are printed with their arguments, and results with their call', async () => {
  const folder = new RunFolder();
  const { stdout } = await folder.say('read a.txt b.txt');
  assert.match(stdout.text, /^● read_file \{"path":"a\.txt"\}\n● read_file \{"path":"b\.txt"\}\n/m);
  assert.match(stdout.text, /^ {2}└ read_file \{"path":"a\.txt"\} · \d[\w. ]* · text of a\.txt$/m);
  assert.match(
    stdout.text,
    /^ {2}└ (?:read_file \{"path":"b\.txt"\} · )?\d[\w. ]* · text of b\.txt$/m,
  );
  assert.deepEqual([...folder.runs].toSorted(), ['read a.txt', 'read b.txt']);
});

test('a call that needs approval is prompted for, and runs after "yes"', async () => {
  const folder = new RunFolder();
  const { code, stdout } = await folder.say('delete a.txt', 'y', 'thanks');
  assert.equal(code, 0);
  assert.match(
    stdout.text,
    /^● delete_file \{"path":"a\.txt"\}\n {2}Allow it\? y\/n › y\n {2}└ \d[\w. ]* · done$/m,
  );
  assert.match(stdout.text, /You said: thanks/);
  assert.deepEqual(folder.runs, ['delete a.txt']);
});

test('each of several calls has a prompt, and a "no" passes its reason to the model', async () => {
  const folder = new RunFolder();
  const { stdout } = await folder.say('delete a.txt b.txt', 'no, I need it', 'yes');
  assert.match(
    stdout.text,
    /"path":"a\.txt"\}\n {2}Allow it\? y\/n › no, I need it\n {2}└ denied · .*I need it$/m,
  );
  assert.match(stdout.text, /Then: \{"error":.*I need it.*\} \{"result":null\}/s);
  assert.deepEqual(folder.runs, ['delete b.txt']);
});

test('an invalid answer repeats the prompt and approves nothing', async () => {
  const folder = new RunFolder();
  const { stdout } = await folder.say('delete a.txt', 'yes but be careful', 'sure', 'n');
  assert.equal(stdout.text.match(/Answer y or n/g)?.length, 2);
  assert.match(stdout.text, /└ denied/);
  assert.throws(() => folder.runs, /ENOENT/);
});

test('an unanswered call keeps waiting, and the next run prompts for it first', async () => {
  const folder = new RunFolder();
  const left = await folder.say('delete a.txt');
  assert.equal(left.code, 0);
  assert.match(left.stdout.text, /^delete_file still waits for an approval\.$/m);
  assert.equal((await folder.sessions())[0]?.['status'], 'waiting');

  const resumed = await folder.say('y', 'done?');
  assert.match(
    resumed.stdout.text,
    /^1 call waits for your answer \(5 events, the last [^)]+\)\.$/m,
  );
  assert.match(
    resumed.stdout.text,
    /^› delete a\.txt\nDeleting\.\n● delete_file .*\n {2}Allow it\? y\/n › y\n/m,
  );
  assert.match(resumed.stdout.text, /› done\?\nYou said: done\?/);
  assert.deepEqual(folder.runs, ['delete a.txt']);
});

test('a call answered from outside accepts a line of JSON or text', async () => {
  const { stdout } = await new RunFolder().say('ask', '{"n":1}', 'ask', 'just text');
  assert.match(
    stdout.text,
    /● ask\n {2}Its result \(JSON or text\) › \{"n":1\}\n {2}└ \{"n":1\}\nThen: \{"n":1\}/,
  );
  assert.match(stdout.text, /› just text\n {2}└ just text\nThen: \{"result":"just text"\}/);
});

test('a call that requests input shows its question, also in a later run', async () => {
  const folder = new RunFolder();
  const question = /● order\n {2}│ Which colour\?\n/;
  assert.match((await folder.say('order')).stdout.text, question);
  const { stdout } = await folder.say('{"colour":"red"}');
  assert.match(stdout.text, question);
  assert.match(
    stdout.text,
    / {2}Its result \(JSON or text\) › \{"colour":"red"\}\n {2}└ red\nThen: \{"result":"red"\}/,
  );
});

test('a failed turn prints the reason, and a piped run exits with 1', async () => {
  const { code, stdout } = await new RunFolder().say('fail', 'still there?');
  assert.equal(code, 1);
  assert.match(stdout.text, /^✖ .*nothing works today$/m);
  assert.match(stdout.text, /You said: still there\?/);
});

test('--json prints an object per line, with every event of the log in order', async () => {
  const folder = new RunFolder();
  const { stdout, code } = await folder.run(folder.args('--json'), 'read a.txt\ndelete a.txt\ny\n');
  assert.equal(code, 0);
  const objects = stdout.json;
  assert.deepEqual(objects[0], {
    type: 'opened',
    session: 'demo',
    user: 'default',
    agent: 'assistant',
    store: folder.store,
    unfinished: [],
    resumed: false,
  });
  const seqs = objects.flatMap(({ seq }) => seq ?? []);
  assert.deepEqual(
    seqs,
    seqs.map((_, i) => i + 1),
  );
  for (const type of [
    'user.message',
    'tool.call',
    'tool.answered',
    'tool.result',
    'agent.message',
    'turn.ended',
    'partial',
  ]) {
    assert.ok(
      objects.some((one) => one['type'] === type),
      type,
    );
  }
  assert.deepEqual(objects.at(-1), {
    type: 'left',
    why: 'end_of_input',
    status: 'idle',
    pending: [],
    lastSeq: seqs.length,
  });
});

test('--json lists the calls that still wait', async () => {
  const folder = new RunFolder();
  const { stdout } = await folder.run(folder.args('--json'), 'delete a.txt\n');
  const { status, pending } = stdout.json.at(-1) ?? {};
  assert.equal(status, 'waiting');
  assert.ok(Array.isArray(pending) && pending.length === 1);
});

test('a new session gets an id, which the last line prints', async () => {
  const folder = new RunFolder();
  const { stdout } = await folder.run(['run', 'agent.ts', '--store', folder.store], 'hello\n');
  const [, id] = /--session (\S+)/.exec(stdout.text) ?? [];
  assert.deepEqual(
    (await folder.sessions()).map(({ session }) => session),
    [id],
  );
});

test('without a session id the program lists the sessions that wait', async () => {
  const folder = new RunFolder();
  await folder.say('delete a.txt');
  const fresh = await folder.run(['run', 'agent.ts', '--store', folder.store], 'hello\n');
  assert.match(fresh.stdout.text, /^Unfinished sessions: demo\. Resume one with --session ID\.$/m);
  const named = await folder.say('n');
  assert.doesNotMatch(named.stdout.text, /unfinished/);
});

test('without a message no session is created', async () => {
  const folder = new RunFolder();
  const { code, stdout } = await folder.say();
  assert.equal(code, 0);
  assert.doesNotMatch(stdout.text, /The session is saved/);
  assert.deepEqual(await folder.sessions(), []);
});

test('a store in memory is not offered for a later run', async () => {
  const folder = new RunFolder();
  const { stdout } = await folder.run(['run', 'agent.ts', '--store', 'memory:'], 'hello\n');
  assert.match(stdout.text, /You said: hello/);
  assert.doesNotMatch(stdout.text, /Resume with/);
});

test('sessions of different users are separate', async () => {
  const folder = new RunFolder();
  await folder.say('hello');
  const other = await folder.run(folder.args('--user', 'ann'), 'hi\n');
  assert.match(other.stdout.text, /session demo · user ann/);
  assert.doesNotMatch(other.stdout.text, /hello/);
  const users = new Set((await folder.sessions()).map(({ user }) => user));
  assert.deepEqual(users, new Set(['ann', 'default']));
});

test('the session of another agent is rejected by name', async () => {
  const folder = new RunFolder();
  await folder.say('hello');
  folder.write('other.ts', agentSource.replaceAll(`name: 'assistant'`, `name: 'other'`));
  const { code, stderr, stdout } = await folder.run(
    ['run', 'other.ts', '--session', 'demo', '--store', folder.store],
    'hi\n',
  );
  assert.equal(code, 1);
  assert.match(stderr.text, /^petrichor: Session "demo" belongs to agent "assistant", not "other"/);
  assert.equal(stdout.raw, '');
});

test('a store that cannot be opened is an error message and exit code 1', async () => {
  const folder = new RunFolder();
  for (const [url, message] of [
    ['redis://here', /Unknown store URL scheme "redis:"/],
    [
      `sqlite:${folder.path}/no/such/folder/x.db`,
      /cannot be reached\. Check that its folder exists/,
    ],
    [`sqlite:${folder.path}/agent.ts`, /agent\.ts .*Nothing was written to it/],
  ] as const) {
    const { code, stderr } = await folder.run(['run', 'agent.ts', '--store', url], 'hi\n');
    assert.equal(code, 1);
    assert.match(stderr.text, message);
    assert.equal(stderr.text.trimEnd().split('\n').length, 1);
  }
});

test('at a terminal an answer streams in below the prompt, and Ctrl-D exits', async () => {
  const chat = new RunFolder().chat();
  await chat.stdout.shows('/help lists the commands, Ctrl-D leaves\n\n› ');
  chat.type('hello you\r');
  await chat.stdout.shows(/› hello you\r?\nYou said: hello you\n\d[\w. ]*\n\n› /);
  chat.type('\u0004');
  assert.equal(await chat.exit, 0);
  await chat.stdout.shows('The session is saved.');
});

test('Ctrl-C interrupts the running turn, and the chat continues', async () => {
  const folder = new RunFolder();
  const chat = folder.chat();
  chat.type('wait\r');
  await chat.stdout.shows('● wait\n');
  chat.type('\u0003');
  await chat.stdout.shows(/Stopping\. Ctrl-C again leaves\.\n {2}└ (?:wait \{\} · )?stopped/);
  await chat.stdout.shows(/■ Stopped\.\n(?:\d.*\n)?\n› /);
  chat.type('hello\r');
  await chat.stdout.shows(/You said: hello\n.*\n\n› $/);
  chat.type('\u0003');
  assert.equal(await chat.exit, 0);
  assert.deepEqual(folder.runs, ['wait 1']);
});

test('Ctrl-C twice during a turn exits, and the session can be resumed', async () => {
  const folder = new RunFolder();
  const chat = folder.chat();
  chat.type('wait\r');
  await chat.stdout.shows('● wait\n');
  chat.type('\u0003\u0003');
  assert.equal(await chat.exit, 130);
  const resumed = await folder.say('hello');
  assert.equal(resumed.code, 0);
  assert.match(resumed.stdout.text, /› wait\n● wait\n[^]*› hello\nYou said: hello/);
});

test('SIGTERM exits cleanly during a turn', async () => {
  const folder = new RunFolder();
  const chat = folder.chat();
  chat.type('wait\r');
  await chat.stdout.shows('● wait\n');
  chat.signal('SIGTERM');
  assert.equal(await chat.exit, 143);
  assert.equal(chat.listened(), 0);
});

test('SIGINT interrupts a piped turn, and the next lines are still sent', async () => {
  const folder = new RunFolder();
  const chat = folder.chat({ input: 'wait\nhello\n' });
  await chat.stdout.shows('● wait\n');
  chat.signal('SIGINT');
  assert.equal(await chat.exit, 0);
  assert.match(chat.stdout.text, /■ Stopped\.\n[^]*› hello\nYou said: hello/);
});

test('text typed during a turn appears at the next prompt', async () => {
  const chat = new RunFolder().chat();
  chat.type('wait\r');
  await chat.stdout.shows('● wait\n');
  chat.type('first\rsecond');
  chat.type('\u0003');
  await chat.stdout.shows(/› first\nYou said: first\n/);
  await chat.stdout.shows(/› second$/);
  chat.type(' half\r');
  await chat.stdout.shows('You said: second half');
  chat.hangUp();
  assert.equal(await chat.exit, 0);
});

test('lines that begin with / are commands, and // is a literal /', async () => {
  const chat = new RunFolder().chat();
  chat.type('/log\r');
  await chat.stdout.shows('This session has no events yet.');
  chat.type('//etc is a folder\r');
  await chat.stdout.shows('You said: /etc is a folder');
  chat.type('/log\r');
  await chat.stdout.shows(/^ {4}1 {2}\d\d:\d\d:\d\d\.\d{3} {2}user\.message +\/etc is a folder$/m);
  await chat.stdout.shows(/^ {4}4 .* turn\.ended +end_turn$/m);
  chat.type('/dance\r');
  await chat.stdout.shows('There is no command /dance. /help lists the commands.');
  chat.type('/help\r');
  await chat.stdout.shows(/^\/exit +leave; the session is saved$/m);
  chat.type('/exit\r');
  assert.equal(await chat.exit, 0);
});

test('a line that ends with a backslash continues on the next line', async () => {
  const chat = new RunFolder().chat();
  chat.type('one\\\r');
  await chat.stdout.shows('… ');
  chat.type('two\r');
  await chat.stdout.shows('You said: one\ntwo');
  chat.hangUp();
  assert.equal(await chat.exit, 0);
});

test('leaving at a prompt leaves the call waiting', async () => {
  const folder = new RunFolder();
  const chat = folder.chat();
  chat.type('delete a.txt\r');
  await chat.stdout.shows('Allow it? y/n › ');
  chat.type('/exit\r');
  assert.equal(await chat.exit, 0);
  assert.match(chat.stdout.text, /delete_file still waits for an approval\./);
  assert.equal((await folder.sessions())[0]?.['status'], 'waiting');
});

test('a prompt shows all arguments, however long, and makes hidden characters visible', async () => {
  const long = `${'x'.repeat(300)}\u202egnp`;
  const { stdout } = await new RunFolder().say(`delete ${long}`, 'n');
  assert.match(stdout.text, /● delete_file \{"path":"x{300}\\u202egnp"\}\n/);
});

test('the output of a model cannot control the terminal', async () => {
  const chat = new RunFolder().chat();
  chat.type('ring\r');
  await chat.stdout.shows('bell [2Jcleared');
  assert.ok(!chat.stdout.raw.includes('\u0007') && !chat.stdout.raw.includes('\u001b[2J'));
  chat.hangUp();
  await chat.exit;
});

const CYAN = '\u001b[36m';

test('colors are for terminals only, and NO_COLOR disables them there', async () => {
  const coloured = new RunFolder().chat();
  await coloured.stdout.shows('› ');
  assert.ok(coloured.stdout.raw.includes(CYAN));
  const plain = new RunFolder().chat({ env: { NO_COLOR: '1' } });
  await plain.stdout.shows('› ');
  assert.ok(!plain.stdout.raw.includes(CYAN));
  for (const chat of [coloured, plain]) {
    chat.hangUp();
    await chat.exit;
  }
  assert.ok(!(await new RunFolder().say('hello')).stdout.raw.includes('\u001b'));
});
