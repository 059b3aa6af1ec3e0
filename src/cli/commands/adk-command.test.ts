import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CommandFolder } from '../../../test/cli/command-folder.ts';
import { findAgentFile, listAgentFolders } from '../adk/agent-file.ts';
import { normalizeAdkArgs, toServeArgs } from '../adk/adk-flags.ts';
import { UsageError } from '../command/usage-error.ts';

const adk = new URL('../../adk/index.ts', import.meta.url).href;
const models = new URL('../../models/index.ts', import.meta.url).href;

/** Answers with the number of messages so far; "pay" calls a tool that needs approval. */
const rootAgent = `
import { FunctionTool, LlmAgent } from '${adk}';
import { ScriptedModel } from '${models}';

const model = new ScriptedModel(({ contents }) => {
  const last = contents.at(-1);
  const [part] = last.parts;
  if (last.role === 'user' && part.text === 'pay') return { toolCalls: [{ name: 'pay', args: {} }] };
  if (last.role === 'user' && part.text === 'fail') throw new Error('The script fails.');
  return { text: last.role === 'user' ? 'Message ' + contents.length : JSON.stringify(part.functionResponse.response) };
});
const pay = new FunctionTool({
  name: 'pay',
  description: 'Pays',
  needsApproval: true,
  execute: (_, { state }) => {
    state.set('paid', true);
    return 'paid';
  },
});
export const rootAgent = new LlmAgent({ name: 'clerk', model, identity: false, tools: [pay] });
`;

function folderWithAgent(): CommandFolder {
  const folder = new CommandFolder();
  folder.write('agent.ts', rootAgent);
  return folder;
}

test('adk run chats, asks for a confirmation, and saves the session', async () => {
  const folder = folderWithAgent();
  const { code, stdout, stderr } = await folder.run(
    ['adk', 'run', 'agent.ts', '--save_session', 'true', '--session_id', 'one'],
    'hello\n\npay\nyes\nexit\nnever read\n',
  );
  assert.equal(stderr.raw, '');
  assert.equal(code, 0);
  assert.match(stdout.text, /^Running agent clerk, type exit to exit\.\n/);
  assert.match(stdout.text, /\[user\]: hello\n\[clerk\]: Message 1\n/);
  assert.match(stdout.text, /--- \[clerk\] waits for confirmation ---\nTool: pay \{\}\n/);
  assert.match(stdout.text, /\[user\]: yes\n\[clerk\]: \{"result":"paid"\}\n/);
  assert.match(stdout.text, /Session saved to \S+one\.session\.json\n$/);
  const saved = JSON.parse(readFileSync(join(folder.path, 'one.session.json'), 'utf8')) as {
    readonly userId: string;
    readonly state: object;
    readonly events: readonly object[];
  };
  assert.equal(saved.userId, 'test_user');
  assert.deepEqual(saved.state, { paid: true });

  const resumed = await folder.run(['adk', 'run', '.', '--resume=one.session.json'], 'again\n');
  assert.equal(resumed.stderr.raw, '');
  assert.equal(resumed.code, 0);
  assert.match(resumed.stdout.text, /^\[user\]: hello\n\[clerk\]: Message 1\n/);
  assert.match(resumed.stdout.text, /\[user\]: again\n\[clerk\]: Message 7\n$/);
});

/** Each call of the model and of a tool is a line of calls.txt. `refunds` looks an order up, then refunds it. */
const deskAgent = `
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { FunctionTool, LlmAgent, SequentialAgent } from '${adk}';
import { ScriptedModel } from '${models}';

const note = (line) => appendFileSync(join(import.meta.dirname, 'calls.txt'), line + '\\n');
const find = new FunctionTool({
  name: 'find',
  description: 'Finds an order',
  execute: (_, { state }) => {
    note('find');
    state.set('cents', 4200);
    return { cents: 4200 };
  },
});
const refund = new FunctionTool({
  name: 'refund',
  description: 'Refunds an order',
  requireConfirmation: true,
  execute: (_, { state }) => {
    note('refund');
    return { refunded: state.get('cents') };
  },
});
const scripted = (name, respond) =>
  new ScriptedModel(({ contents }) => {
    note(name);
    return respond(contents.at(-1).parts[0].functionResponse);
  });
const greeter = new LlmAgent({ name: 'greeter', model: scripted('greeter', () => ({ text: 'Good day.' })) });
const refunds = new LlmAgent({
  name: 'refunds',
  tools: [find, refund],
  model: scripted('refunds', (result) => {
    if (result === undefined) return { toolCalls: [{ name: 'find' }] };
    return result.name === 'find'
      ? { toolCalls: [{ name: 'refund' }] }
      : { text: JSON.stringify(result.response) };
  }),
});
export const rootAgent = new SequentialAgent({ name: 'desk', subAgents: [greeter, refunds] });
`;

test('a session that waits can be saved and resumed: only what waited runs', async () => {
  const folder = new CommandFolder();
  folder.write('agent.ts', deskAgent);
  const readCalls = (): string => readFileSync(join(folder.path, 'calls.txt'), 'utf8');
  const args = ['adk', 'run', 'agent.ts'];
  const saved = await folder.run([...args, '--save_session'], 'Refund A-7.\nexit\nwaiting\n');
  assert.match(saved.stdout.text, /Session ID to save: waiting\n/);
  const before = 'greeter\nrefunds\nfind\nrefunds\n';
  assert.equal(readCalls(), before);

  // It is saved as it waits, and continued again.
  const resume = [...args, '--resume', 'waiting.session.json'];
  const again = await folder.run([...resume, '--save_session', '--session_id', 'again'], 'exit\n');
  assert.equal(again.stderr.raw, '');
  assert.match(again.stdout.text, /\[user\]: Refund A-7\.\n\[greeter\]: Good day\.\n/);
  assert.match(
    again.stdout.text,
    /--- \[refunds\] waits for confirmation ---\nTool: refund \{\}\n/,
  );
  assert.equal(readCalls(), before);

  const { code, stdout, stderr } = await folder.run(
    [...args, '--resume', 'again.session.json'],
    'yes\nThanks.\n',
  );
  assert.equal(stderr.raw, '');
  assert.equal(code, 0);
  assert.match(stdout.text, /\[user\]: yes\n\[refunds\]: \{"refunded":4200\}\n/);
  const after = 'refund\nrefunds\ngreeter\nrefunds\nfind\nrefunds\n';
  assert.equal(readCalls(), before + after);
});

test('a call that waits in an earlier turn of a saved session is not continued', async () => {
  const folder = folderWithAgent();
  await folder.run(
    ['adk', 'run', 'agent.ts', '--save_session', '--session_id', 'one'],
    'pay\nexit\n',
  );
  const path = join(folder.path, 'one.session.json');
  const session = JSON.parse(readFileSync(path, 'utf8')) as { events: readonly object[] };
  const [first] = session.events;
  const later = { ...first, id: 'later', content: { role: 'user', parts: [{ text: 'Well?' }] } };
  folder.write('one.session.json', JSON.stringify({ events: [...session.events, later] }));
  const { stdout } = await folder.run(
    ['adk', 'run', 'agent.ts', '--resume', 'one.session.json'],
    'hm\n',
  );
  assert.match(stdout.text, /A call that waited in an earlier turn is not continued\./);
  assert.match(stdout.text, /\[user\]: hm\n\[clerk\]: Message \d\n$/);
});

test('adk run --replay sends the messages of a file over its state', async () => {
  const folder = folderWithAgent();
  folder.write(
    'replay.json',
    JSON.stringify({ state: { shop: 'books' }, queries: ['hello', 'pay', 'y'] }),
  );
  const args = [
    'adk',
    'run',
    'agent.ts',
    '--replay',
    'replay.json',
    '--save_session',
    '--session_id',
    'r',
  ];
  const { code, stdout } = await folder.run(args);
  assert.equal(code, 0);
  assert.match(stdout.text, /\[user\]: hello\n\[clerk\]: Message 1\n\[user\]: pay\n/);
  assert.match(stdout.text, /\[user\]: y\n\[clerk\]: \{"result":"paid"\}\n/);
  const { state } = JSON.parse(readFileSync(join(folder.path, 'r.session.json'), 'utf8')) as {
    readonly state: object;
  };
  assert.deepEqual(state, { shop: 'books', paid: true });
});

test('a replay that fails, or ends while it waits, exits with 1', async () => {
  const folder = folderWithAgent();
  folder.write('waits.json', JSON.stringify({ queries: ['pay'] }));
  folder.write('fails.json', JSON.stringify({ queries: ['fail', 'hello'] }));
  const waits = await folder.run(['adk', 'run', 'agent.ts', '--replay', 'waits.json']);
  assert.equal(waits.code, 1);
  assert.match(waits.stderr.text, /ended while it waits/);
  const fails = await folder.run(['adk', 'run', 'agent.ts', '--replay', 'fails.json']);
  assert.equal(fails.code, 1);
  assert.match(fails.stderr.text, /The script fails/);
  assert.match(fails.stdout.text, /\[user\]: hello\n\[clerk\]: Message/);
});

test('adk run keeps sessions in a database, if it is named', async () => {
  const folder = folderWithAgent();
  const uri = `sqlite:///${join(folder.path, 'adk.db')}`;
  const { code } = await folder.run(
    ['adk', 'run', 'agent.ts', '--session_service_uri', uri],
    'hi\n',
  );
  assert.equal(code, 0);
  const { stdout } = await folder.run([
    'sessions',
    '--store',
    uri,
    '--app',
    'clerk',
    '--user',
    'test_user',
    '--json',
  ]);
  assert.equal(stdout.json.length, 1);
});

/** Command lines that are refused, with the reason. */
const REFUSED: readonly (readonly [args: readonly string[], says: RegExp])[] = [
  [[], /Use petrichor adk run, web or api_server/],
  [['deploy', 'agent.ts'], /Use petrichor adk run, web or api_server/],
  [['run'], /FILE is missing/],
  [['run', 'agent.ts', '--verbose'], /--verbose is not supported\. Nothing is logged/],
  [['run', 'agent.ts', '--log_level', 'debug'], /--log_level is not supported/],
  [
    ['run', 'agent.ts', '--artifact_service_uri', 'gs://b'],
    /--artifact_service_uri is not supported/,
  ],
  [['run', 'agent.ts', '--otel_to_cloud'], /--otel_to_cloud is not supported.*OpenTelemetryPlugin/],
  [['run', 'agent.ts', '--compile'], /--compile is not supported/],
  [['run', 'agent.ts', '--bundle=true'], /--bundle is not supported/],
  [['run', 'agent.ts', '--file_type', 'cjs'], /--file_type is not supported/],
  [['run', 'agent.ts', '--reload_agents'], /--reload_agents is not supported\. petrichor dev/],
  [['web', 'agent.ts', '--a2a_auth_token', 't'], /--a2a_auth_token is not supported.*keys create/],
  [['run', 'agent.ts', '--session_service_uri', 'spanner://h'], /begins with "spanner:"/],
  [['run', 'agent.ts', '--resume', 'a', '--replay', 'b'], /--resume or --replay, not both/],
  [['run', 'agent.ts', '--resume', 'none.json'], /--resume none\.json cannot be used/],
  [['run', 'agent.ts', '--replay', 'agent.ts'], /--replay agent\.ts cannot be used/],
  [['run', 'agent.ts', '--session_id', '../up'], /--session_id must have letters/],
  [['run', 'agent.ts', '--colour'], /Unknown option '--colour'/],
  [['api_server', 'agent.ts', '--port', 'high'], /--port must be a number/],
];

for (const [args, says] of REFUSED)
  test(`"adk ${args.join(' ')}" exits with 2 and the reason`, async () => {
    const { code, stderr } = await folderWithAgent().run(['adk', ...args]);
    assert.equal(code, 2, stderr.text);
    assert.match(stderr.text, says);
  });

test('every flag of the stock command line is an option or refused', (t) => {
  const modules = join(import.meta.dirname, '../../../test/protocols/node_modules');
  const cli = join(modules, '@google', 'adk-devtools', 'dist', 'esm', 'cli', 'cli.js');
  let source: string;
  try {
    source = readFileSync(cli, 'utf8');
  } catch {
    t.skip('@google/adk-devtools is installed with test/protocols only');
    return;
  }
  const commands = source.slice(0, source.indexOf('DEPLOY_COMMAND = program'));
  const flags = [...commands.matchAll(/"(?:-\w, )?(--[a-z0-9_]+)/g)].map(([, flag = '']) => flag);
  // Options of `create` and `deploy`, which have no counterpart.
  const others =
    /^--(?:version|yes|model|api_key|project|region|language|adk_version|with_ui|display_name|description|repository|agent_engine_id)$/;
  const known = new Set([
    '--host',
    '--port',
    '--allow_origins',
    '--session_service_uri',
    '--a2a',
    '--save_session',
    '--session_id',
    '--replay',
    '--resume',
  ]);
  assert.ok(flags.length > 20, `${flags.length} flags`);
  for (const flag of new Set(flags.filter((one) => !others.test(one) && !known.has(one))))
    assert.throws(() => normalizeAdkArgs([flag]), UsageError, flag);
});

test('the flags of adk web are those of serve', () => {
  assert.deepEqual(toServeArgs(['agent.ts', '-p', '8000', '--host', '0.0.0.0']), [
    'agent.ts',
    '--port',
    '8000',
    '--host',
    '0.0.0.0',
    '--protocols',
    'managed,adk',
  ]);
  assert.deepEqual(
    toServeArgs([
      '--allow_origins=http://a,http://b',
      '--session_service_uri',
      'memory://',
      '--a2a',
      'true',
      '--compile',
      'false',
      'x.ts',
    ]),
    [
      '--allow-origin',
      'http://a',
      '--allow-origin',
      'http://b',
      '--store',
      'memory:',
      'x.ts',
      '--protocols',
      'managed,adk,a2a',
    ],
  );
  assert.deepEqual(toServeArgs(['--protocols', 'adk']), ['--protocols', 'adk']);
  assert.throws(() => toServeArgs(['--protocols', 'adk', '--a2a']), /a2a among the --protocols/);
});

test('a folder is the agent in it, or the one folder that has an agent', () => {
  const folder = new CommandFolder();
  assert.throws(() => findAgentFile('.', folder.path), /has no agent\.ts/);
  mkdirSync(join(folder.path, 'one'));
  folder.write('one/agent.ts', '');
  assert.equal(findAgentFile('.', folder.path), join(folder.path, 'one', 'agent.ts'));
  mkdirSync(join(folder.path, 'two'));
  folder.write('two/agent.js', '');
  assert.throws(
    () => findAgentFile('.', folder.path),
    /several agents: one\/agent\.ts, two\/agent\.js/,
  );
  assert.deepEqual(
    listAgentFolders('.', folder.path)?.map(({ name }) => name),
    ['one', 'two'],
  );
  folder.write('agent.ts', '');
  assert.equal(findAgentFile('.', folder.path), join(folder.path, 'agent.ts'));
  assert.equal(findAgentFile('other.ts', folder.path), 'other.ts');
  assert.equal(listAgentFolders('.', folder.path), undefined);
});

test('adk api_server serves the API of ADK', async () => {
  assert.deepEqual(await listServedApps(folderWithAgent()), { apps: ['clerk'], warnings: '' });
});

test('adk api_server serves a folder of agents: each has the name of its folder', async () => {
  const folder = new CommandFolder();
  for (const name of ['shop', 'bank', 'broken', 'docs']) mkdirSync(join(folder.path, name));
  folder.write('shop/agent.ts', rootAgent);
  folder.write('bank/app.ts', `${rootAgent}\nexport { rootAgent as app };\n`);
  folder.write('bank/agent.ts', 'throw new Error("app.ts comes first")');
  folder.write('broken/agent.ts', 'throw new Error("no key")');
  folder.write('docs/readme.ts', 'throw new Error("no agent")');
  const { apps, warnings } = await listServedApps(folder);
  assert.deepEqual(apps, ['bank', 'shop']);
  assert.match(warnings, /^warning: \.: broken is not served\. It cannot be loaded: .*no key/i);

  const useless = new CommandFolder();
  for (const name of ['empty', 'broken']) mkdirSync(join(useless.path, name));
  useless.write('empty/agent.ts', 'export const none = 1;');
  useless.write('broken/agent.ts', 'throw new Error("no key")');
  const { code, stderr } = await useless.run(['adk', 'api_server', '.']);
  assert.notEqual(code, 0);
  assert.match(stderr.text, /has no agent that can be loaded\. broken [^]*empty /);
});

async function listServedApps(
  folder: CommandFolder,
): Promise<{ readonly apps: unknown; readonly warnings: string }> {
  const args = ['adk', 'api_server', '.', '-p', '0', '--session_service_uri', 'memory://'];
  const running = folder.start(args);
  const ended = running.exit.then(() => assert.fail(running.stderr.text));
  await Promise.race([running.stdout.shows(/Serving on \S+ from[^]*\n {2}\S/), ended]);
  ended.catch(() => {});
  const [, url = ''] = /Serving on (\S+) from/.exec(running.stdout.text) ?? [];
  const apps = await fetch(new URL('/list-apps', url));
  const names: unknown = await apps.json();
  running.signal('SIGTERM');
  assert.equal(await running.exit, 0);
  return { apps: names, warnings: running.stderr.text };
}
