import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../client/index.ts';
import { openServerFixture, countingTool } from '../../../test/server/server-fixture.ts';
import type { ServerFixture } from '../../../test/server/server-fixture.ts';
import { scriptedChat } from '../../../test/server/scripted-chat.ts';
import { CommandFolder } from '../../../test/cli/command-folder.ts';

async function createFolder(): Promise<ServerFixture> {
  const on = await openServerFixture(scriptedChat, { tools: [countingTool('bash')] });
  await createClient({ baseUrl: on.url }).agents.create({
    name: 'Helper',
    model: 'gemini-2.5-flash',
    tools: [
      {
        type: 'agent_toolset_20260401',
        default_config: { enabled: false },
        configs: [{ name: 'bash', enabled: true, permission_policy: { type: 'always_ask' } }],
      },
      { type: 'custom', name: 'deploy', description: 'd', input_schema: { type: 'object' } },
    ],
  });
  return on;
}

test('lines become messages, and the answers are printed', async () => {
  await using on = await createFolder();
  const { code, stdout } = await new CommandFolder().run(['chat', on.url], 'hello\nworld\n');
  assert.equal(code, 0);
  assert.match(stdout.text, /^› hello\nYou said: hello\n› world\nYou said: world\n/m);
  assert.match(stdout.text, /Resume with: petrichor chat \S+ --session session_\S+\n$/);
});

test('a missing or rejected key is an error that says how to set one, without the key', async () => {
  await using on = await openServerFixture(scriptedChat, { server: { keys: 'required' } });
  const without = await new CommandFolder().run(['chat', on.url], 'hello\n');
  assert.equal(without.code, 1);
  assert.match(without.stderr.text, /The server needs a key: .*--key KEY or PETRICHOR_API_KEY/);
  const wrong = await new CommandFolder().run(['chat', on.url, '--key', 'ptk_wrong'], 'hello\n');
  assert.match(wrong.stderr.text, /The server rejected this key: .*petrichor keys create/);
  assert.doesNotMatch(wrong.stderr.text, /ptk_wrong/);
});

test('the prompt for a waiting call has all of its arguments', async () => {
  await using on = await createFolder();
  const { stdout } = await new CommandFolder().run(
    ['chat', on.url],
    'call bash a.txt\nmaybe\ny\ncall bash b.txt\nn not that one\n',
  );
  assert.match(stdout.text, /● bash \{"path":"a\.txt"\}\n +Allow it\? y\/n › maybe\nAnswer y or n/);
  assert.match(stdout.text, /Allow it\? y\/n › y\n +└ \{"ok":true\}\nResults:/);
  assert.match(stdout.text, /Allow it\? y\/n › n not that one\n[^]*not that one/);
});

test('a line of text answers a custom tool', async () => {
  await using on = await createFolder();
  const { stdout } = await new CommandFolder().run(
    ['chat', on.url],
    'call deploy x\nall went well\n',
  );
  assert.match(stdout.text, /Its result \(text\) › all went well\n[^]*Results: [^]*all went well/);
});

test('a chat continues with the calls that were left open', async () => {
  await using on = await createFolder();
  const folder = new CommandFolder();
  const { stdout } = await folder.run(['chat', on.url], 'call bash a.txt\n');
  const [, session = ''] = /--session (\S+)/.exec(stdout.text) ?? [];
  const again = await folder.run(['chat', on.url, '--session', session], 'y\nthanks\n');
  assert.match(again.stdout.text, /^› call bash a\.txt\n● bash/m);
  assert.match(
    again.stdout.text,
    /Allow it\? y\/n › y\n[^]*Results:[^]*› thanks\nYou said: thanks/,
  );
});

test('with --json every event is printed as a line, as the server sent it', async () => {
  await using on = await createFolder();
  const { stdout } = await new CommandFolder().run(['chat', on.url, '--json'], 'hello\n');
  const types = stdout.json.map(({ type }) => type);
  assert.ok(types.includes('agent.message'));
  assert.equal(types.at(-1), 'session.status_idle');
});

test('Ctrl-C interrupts the running turn, and a second one exits', async () => {
  await using on = await createFolder();
  const running = new CommandFolder().start(['chat', on.url]);
  await running.stdout.shows('› ');
  running.type('slowly 500\n');
  await running.stdout.shows('word 3');
  running.signal('SIGINT');
  await running.stdout.shows('Stopping.');
  await running.stdout.shows(/Stopping\.[^]*› /);
  running.signal('SIGINT');
  assert.equal(await running.exit, 130);
  assert.equal(running.listened(), 0);
});

test('a server without an agent, or with several, is an error that says what to do', async () => {
  await using on = await openServerFixture(scriptedChat);
  const folder = new CommandFolder();
  assert.match((await folder.run(['chat', on.url])).stderr.text, /no agent yet/);
  const client = createClient({ baseUrl: on.url });
  const params = { name: 'A', model: 'gemini-2.5-flash' };
  const [one] = [await client.agents.create(params), await client.agents.create(params)];
  const { code, stderr } = await folder.run(['chat', on.url]);
  assert.equal(code, 2);
  assert.match(stderr.text, new RegExp(`--agent ID: .*${one?.id}`));
});
