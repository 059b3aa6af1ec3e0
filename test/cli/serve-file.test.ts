import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { agentSource } from './agent-source.ts';
import { CommandFolder, type Running } from './command-folder.ts';

const adk = new URL('../../src/adk/index.ts', import.meta.url).href;

/** A module with one agent of each kind, whose model is scripted. */
const everyKind = `
import { sequential, START, workflow } from '${new URL('../../src/agents/index.ts', import.meta.url).href}';
import { App, LlmAgent } from '${adk}';
${agentSource}
const chat = (name) => agent({ name, model, tools });
export const line = sequential({ name: 'line', subAgents: [chat('first')] });
export const flow = workflow({
  name: 'flow',
  nodes: [{ kind: 'agent', name: 'only', agent: chat('only') }],
  edges: [{ from: START, to: 'only' }],
});
export const desk = new App({ name: 'desk', rootAgent: new LlmAgent({ name: 'clerk', model }) });
export const rootAgent = new LlmAgent({ name: 'root', model });
export const agents = [{ name: 'Stored', model: 'gpt-5' }];
export const resolver = async () => model;
`;

async function startServer(
  folder: CommandFolder,
  args: readonly string[],
): Promise<Running & { readonly url: string }> {
  const running = folder.start(['serve', ...args, '--port', '0', '--store', folder.store]);
  const ended = running.exit.then(() => assert.fail(running.stderr.text));
  await Promise.race([running.stdout.shows(/Serving on \S+ from[^]*\n {2}\S/), ended]);
  ended.catch(() => {});
  const [, url = ''] = /Serving on (\S+) from/.exec(running.stdout.text) ?? [];
  return { ...running, url };
}

async function stop(running: Running): Promise<void> {
  running.signal('SIGTERM');
  assert.equal(await running.exit, 0);
  assert.equal(running.stderr.text, '');
}

test('serve FILE serves every kind of agent, prints it, and chat talks with each', async () => {
  const folder = new CommandFolder();
  folder.write('agents.ts', everyKind);
  const server = await startServer(folder, ['agents.ts']);
  const kinds: Readonly<Record<string, string>> = {
    agent_assistant: 'agent()',
    agent_line: 'agent()',
    agent_flow: 'agent()',
    agent_desk: 'ADK app',
    agent_root: 'ADK app',
    agent_stored: 'definition',
  };
  await server.stdout.shows(/agent_assistant/);
  for (const [id, kind] of Object.entries(kinds)) {
    const line = server.stdout.text.split('\n').find((one) => one.includes(`${id} `));
    assert.ok(line?.trimEnd().endsWith(kind), `${id}: ${line}`);
    const chat = folder.start(['chat', server.url, '--agent', id], { input: 'Hello\n' });
    assert.equal(await chat.exit, 0, chat.stderr.text);
    assert.match(chat.stdout.text, /You said: Hello/, id);
  }
  await stop(server);
});

test('chat approves a call of an agent from code, and the session goes on after a restart', async () => {
  const folder = new CommandFolder();
  folder.write('agent.ts', agentSource);
  const one = await startServer(folder, ['agent.ts']);
  const chat = folder.start(['chat', one.url], { input: 'delete a.txt\ny\n' });
  assert.equal(await chat.exit, 0, chat.stderr.text);
  assert.match(chat.stdout.text, /Then: /);
  const { sessions } = createClient({ baseUrl: one.url });
  const ids: string[] = [];
  for await (const { id } of sessions.list()) ids.push(id);
  await stop(one);
  const two = await startServer(folder, ['--agents', 'agent.ts']);
  const [id = ''] = ids;
  const again = folder.start(['chat', two.url, '--session', id], { input: 'Back\n' });
  assert.equal(await again.exit, 0, again.stderr.text);
  assert.match(again.stdout.text, /You said: Back/);
  await stop(two);
});

test('serve --app serves the sessions of run, and of a program, on the same store', async () => {
  const folder = new CommandFolder();
  folder.write('agent.ts', agentSource);
  const talk = ['run', 'agent.ts', '--store', folder.store, '--session', 'demo'];
  assert.equal((await folder.run(talk, 'Hello\n')).code, 0);
  const server = await startServer(folder, ['agent.ts', '--app', 'petrichor']);
  const ids: string[] = [];
  for await (const { id } of createClient({ baseUrl: server.url }).sessions.list()) ids.push(id);
  assert.deepEqual(ids, ['demo']);
  const chat = folder.start(['chat', server.url, '--session', 'demo'], { input: 'Back\n' });
  assert.equal(await chat.exit, 0, chat.stderr.text);
  assert.match(chat.stdout.text, /You said: Back/);
  await stop(server);
  assert.match((await folder.run(talk, 'Again\n')).stdout.text, /You said: Again/);
  const other = await startServer(folder, ['agent.ts']);
  for await (const { id } of createClient({ baseUrl: other.url }).sessions.list())
    assert.fail(`${id} has another app`);
  await stop(other);
});

test('the resolver of a module makes the models that its agents from code name', async () => {
  const folder = new CommandFolder();
  folder.write(
    'named.ts',
    `${agentSource.replace('export const assistant', 'const plain')}
import { App, LlmAgent } from '${adk}';
export const helper = agent({ name: 'helper', model: 'gpt-5' });
export const desk = new App({ name: 'desk', rootAgent: new LlmAgent({ name: 'clerk', model: 'gpt-5' }) });
export const resolver = async () => model;`,
  );
  const server = await startServer(folder, ['named.ts']);
  for (const id of ['agent_helper', 'agent_desk']) {
    const chat = folder.start(['chat', server.url, '--agent', id], { input: 'Hello\n' });
    assert.equal(await chat.exit, 0, chat.stderr.text);
    assert.match(chat.stdout.text, /You said: Hello/, id);
  }
  await stop(server);
});

test('serve warns about an export that it leaves out', async () => {
  const folder = new CommandFolder();
  folder.write(
    'odd.ts',
    `${agentSource}\nexport const cheap = { name: 'cheap', model: 'gpt-5-mini', temperature: 0 };`,
  );
  const server = await startServer(folder, ['odd.ts']);
  assert.match(
    server.stderr.text,
    /^Warning: odd\.ts: cheap is not served\. It has a name and a model, but is no definition of an agent: cheap\.temperature: is unknown.*\n$/,
  );
  server.signal('SIGTERM');
  assert.equal(await server.exit, 0);
});

test('run accepts an ADK app', async () => {
  const folder = new CommandFolder();
  folder.write(
    'app.ts',
    `import { App, LlmAgent } from '${adk}';\n${agentSource.replace('export const assistant', 'const plain')}
export const app = new App({ name: 'desk', rootAgent: new LlmAgent({ name: 'clerk', model }) });`,
  );
  const run = await folder.run(['run', 'app.ts', '--store', folder.store], 'Hello\n');
  assert.equal(run.code, 0, run.stderr.text);
  assert.match(run.stdout.text, /You said: Hello/);
});

test('a file and --agents together are rejected', async () => {
  const folder = new CommandFolder();
  const run = await folder.run(['serve', 'a.ts', '--agents', 'b.ts']);
  assert.equal(run.code, 2);
  assert.match(run.stderr.text, /are the same option\. Name one file\./);
});
