import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { agentSource } from '../../../test/cli/agent-source.ts';
import { CommandFolder, type Running } from '../../../test/cli/command-folder.ts';
import { createClient } from '../../client/index.ts';

const agents = (more: object = {}): string =>
  JSON.stringify([{ name: 'Echo Chamber', model: 'gpt-5', ...more }]);

async function startServer(
  folder: CommandFolder,
  args: readonly string[] = [],
): Promise<Running & { readonly url: string }> {
  // A dummy key: no model is called here.
  const env = { OPENAI_API_KEY: 'none' };
  const running = folder.start(['serve', '--port', '0', '--store', folder.store, ...args], { env });
  const ended = running.exit.then(() => assert.fail(running.stderr.text));
  await Promise.race([running.stdout.shows(/Serving on \S+ from/), ended]);
  // It exits after the signal.
  ended.catch(() => {});
  const [, url = ''] = /Serving on (\S+) from/.exec(running.stdout.text) ?? [];
  return { ...running, url };
}

async function stopped(running: Running): Promise<void> {
  running.signal('SIGTERM');
  assert.equal(await running.exit, 0);
  assert.equal(running.listened(), 0);
  assert.equal(running.stderr.text, '');
}

test('a server prints its address, whether a key is required, and each mutating request', async () => {
  const folder = new CommandFolder();
  folder.write('agents.json', agents());
  const one = await startServer(folder, ['--agents', 'agents.json']);
  await one.stdout.shows(
    /No key is required: only this machine can call\.\n +agent_echo-chamber +Echo/,
  );
  const { id } = await createClient({ baseUrl: one.url }).sessions.create({
    agent: 'agent_echo-chamber',
  });
  await one.stdout.shows(/^\S+Z POST \/v1\/sessions 200 default\/local req_\w+$/m);
  await stopped(one);
  const made = await folder.run(['keys', 'create', '--store', folder.store]);
  const two = await startServer(folder);
  await two.stdout.shows('A key is required.');
  await assert.rejects(createClient({ baseUrl: two.url }).sessions.get(id), { status: 401 });
  const apiKey = made.stdout.text.trim();
  const client = createClient({ baseUrl: two.url, apiKey });
  assert.equal((await client.sessions.get(id)).id, id);
  await stopped(two);
});

test('a file has the options, and the URL of the store comes from the environment', async () => {
  const folder = new CommandFolder();
  folder.write('agents.json', agents());
  const config = { agents: 'agents.json', port: 0, store: 'env:DATABASE', console: false };
  folder.write('serve.json', JSON.stringify(config));
  const args = ['serve', '--config', 'serve.json'];
  const env = { OPENAI_API_KEY: 'none' };
  const running = folder.start(args, { env: { ...env, DATABASE: folder.store } });
  await running.stdout.shows(/Serving on \S+ from/);
  assert.match(running.stdout.text, /agent_echo-chamber/);
  await stopped(running);
  const refused = await folder.run(args);
  assert.equal(refused.code, 2);
  assert.match(
    refused.stderr.text,
    /--store is "env:DATABASE", and the environment variable DATABASE is not set\./,
  );
  const address = await folder.run(['sessions', '--store', 'env:postgres://app:hunter2@db/app']);
  assert.equal(address.code, 2);
  assert.match(address.stderr.text, /--store has an address after "env:"\. Write the name/);
  assert.doesNotMatch(address.stderr.text, /hunter2/);
});

test('an operator drains a server over HTTP, and its process ends as after SIGTERM', async () => {
  const folder = new CommandFolder();
  folder.write('agents.json', agents());
  const served = await startServer(folder, ['--agents', 'agents.json']);
  const reply = await fetch(`${served.url}/v1/operator/drain`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  assert.deepEqual(await reply.json(), { type: 'drain', status: 'draining' });
  assert.equal(await served.exit, 0);
  assert.match(served.stdout.text, /Handing over the sessions\./);
});

test('sessions are traced with the SDK of the process, and without one there is a warning', async () => {
  const folder = new CommandFolder();
  folder.write('agents.json', agents());
  const untraced = folder.start(
    ['serve', '--port', '0', '--store', folder.store, '--telemetry', 'agents.json'],
    { env: { OPENAI_API_KEY: 'none' } },
  );
  await untraced.stdout.shows(/Serving on/);
  assert.match(untraced.stderr.text, /^Warning: --telemetry: no OpenTelemetry SDK is registered/);
  untraced.signal('SIGTERM');
  assert.equal(await untraced.exit, 0);

  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  try {
    folder.write('agent.ts', agentSource);
    const traced = await startServer(folder, ['--telemetry', 'agent.ts']);
    const client = createClient({ baseUrl: traced.url });
    const { id } = await client.sessions.create({ agent: 'agent_assistant' });
    await client.sessions.ask(id, 'hello');
    await stopped(traced);
    const names = exporter.getFinishedSpans().map(({ name }) => name);
    for (const name of ['invocation', 'invoke_agent assistant', 'commit'])
      assert.ok(names.includes(name), `${name} in ${names.join(', ')}`);
    // The one of the message: the start of the server is no message.
    assert.equal(names.filter((name) => name === 'send').length, 1);
  } finally {
    trace.disable();
  }
});

test('a model without an API key is a warning at the start, without any key in it', async () => {
  const folder = new CommandFolder();
  folder.write('agents.json', agents());
  const args = ['serve', '--port', '0', '--store', folder.store, '--agents', 'agents.json'];
  const running = folder.start(args, { env: { ANTHROPIC_API_KEY: 'sk-secret' } });
  await running.stdout.shows(/Serving on/);
  assert.equal(
    running.stderr.text,
    'Warning: agents.json: agents[0] ("Echo Chamber"): its model has no API key. Set OPENAI_API_KEY in the environment of the server.\n',
  );
  running.signal('SIGTERM');
  assert.equal(await running.exit, 0);
});

test('a changed agent of the file becomes a new version, and an unchanged one does not', async () => {
  const folder = new CommandFolder();
  const versionAfter = async (text: string): Promise<number> => {
    folder.write('agents.json', text);
    const running = await startServer(folder, ['--agents', 'agents.json']);
    const { version } = await createClient({ baseUrl: running.url }).agents.get(
      'agent_echo-chamber',
    );
    await stopped(running);
    return version;
  };
  assert.equal(await versionAfter(agents()), 1);
  assert.equal(await versionAfter(agents()), 1);
  assert.equal(await versionAfter(agents({ system: 'Echo.' })), 2);
});

test('without keys only the listed hosts and origins are accepted', async () => {
  const folder = new CommandFolder();
  const allowed = ['--allow-host', '*.lan', '--allow-origin', 'https://app.example'];
  const running = await startServer(folder, allowed);
  const ask = async (headers: Readonly<Record<string, string>>): Promise<number | undefined> => {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    get(`${running.url}/v1/agents`, { headers }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    }).once('error', reject);
    return promise;
  };
  assert.deepEqual([await ask({ host: 'box.lan' }), await ask({ host: 'box.wan' })], [200, 403]);
  const [own, other] = ['https://app.example', 'https://other.example'] as const;
  assert.deepEqual([await ask({ origin: own }), await ask({ origin: other })], [200, 403]);
  await stopped(running);
});

test('a request cannot forge a line of the log, whatever its path or names contain', async () => {
  const folder = new CommandFolder();
  const name = 'Real\n2026-01-01T00:00:00.000Z POST /v1/agents 200 default/admin req_forged';
  folder.write('agents.json', JSON.stringify([{ name, model: 'gpt-5' }]));
  const running = await startServer(folder, ['--agents', 'agents.json']);
  const forged = '2026-01-01T00:00:00.000Z%20DELETE%20%2Fv1%20200%20default%20req_forged';
  const breaks = ['%0A', '%0D%0A', '%E2%80%A8', '%C2%85', '%0B', '%1B[1A', '%250A'];
  for (const mark of breaks) {
    const path = `/v1/agents/x${mark}${forged}/archive`;
    const reply = await fetch(running.url + path, { method: 'POST' });
    await reply.text();
  }
  await running.stdout.shows(/%250A.*req_\w+$/m);
  const lines = running.stdout.text.split('\n').filter((line) => line.includes('req_forged'));
  assert.equal(lines.length, breaks.length + 1, running.stdout.text);
  for (const line of lines) assert.doesNotMatch(line, /^2026-01-01/);
  assert.doesNotMatch(running.stdout.raw, /[\u2028\u0085\v]/);
  await stopped(running);
});

test('limits are taken from the options', async () => {
  const folder = new CommandFolder();
  const running = await startServer(folder, ['--max-body', '100', '--requests-per-minute', '3']);
  const post = async (length: number): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: 'x'.repeat(length) };
    return (await fetch(`${running.url}/v1/sessions/none/events`, init)).status;
  };
  assert.deepEqual(
    [await post(101), await post(99), await post(0), await post(0)],
    [413, 400, 400, 429],
  );
  await stopped(running);
});

test('a server that cannot start prints the reason and exits', async () => {
  const folder = new CommandFolder();
  const refused = async (args: readonly string[], message: RegExp): Promise<void> => {
    const { code, stderr, stdout } = await folder.run(['serve', '--store', folder.store, ...args]);
    assert.equal(code, 1, stdout.text);
    assert.match(stderr.text, message);
  };
  await refused(['--port', '0', '--host', '0.0.0.0'], /petrichor keys create/);
  await refused(
    ['--port', '0', '--model-origin', 'http://a/v1'],
    /modelOrigins: .*"http:\/\/a\/v1"/,
  );
  const store = join(folder.path, 'none.db');
  const proxy = await folder.run(['serve', '--store', store, '--trust-proxy', 'proxy.lan']);
  assert.equal(proxy.code, 2);
  assert.match(proxy.stderr.text, /--trust-proxy: .*"proxy\.lan"/);
  assert.ok(!existsSync(store));
  await refused(['--port', '0', '--web-host', 'http://a'], /hosts: "http:\/\/a" is not a host/);
  await refused(['--agents', 'nowhere.ts'], /nowhere\.ts does not exist/);
  folder.write('bad.json', '[{"name": 5, "model": "gpt-5"}]');
  await refused(['--agents', 'bad.json'], /agents\[0\]\.name/);
  folder.write(
    'same.json',
    '[{"name": "A b", "model": "gpt-5"}, {"name": "a-B", "model": "gpt-5"}]',
  );
  await refused(['--agents', 'same.json'], /agents\[1\]\.name: has the same id "agent_a-b"/);
  folder.write('model.json', '[{"name": "Greeter", "model": "gtp-5"}]');
  await refused(
    ['--agents', 'model.json'],
    /model\.json: agents\[0\] \("Greeter"\): .*Did you mean "gpt-5"\?/,
  );
  folder.write('missing.json', '[{"name": "Greeter"}]');
  await refused(['--agents', 'missing.json'], /agents\[0\]\.model: is missing/);
  folder.write('alias.json', '[{"name": "Greeter", "model": "gpt-5", "instruction": "Hi"}]');
  await refused(['--agents', 'alias.json'], /agents\[0\]\.instruction: .*Did you mean `system`\?/);
  folder.write(
    'name.mjs',
    `export const agents = [{ name: 'A', model: 'gpt-5', tools: [{ type: 'builtin', name: 'shiping_cost' }] }];
     export const tools = [{ name: 'shipping_cost', tools: () => [] }];`,
  );
  await refused(
    ['--agents', 'name.mjs'],
    /name\.mjs: agents\[0\] \("A"\)\.tools\[0\] .*no tool "shiping_cost"\. Did you mean "shipping_cost"\? The tools are: shipping_cost/,
  );
  folder.write('broken.json', '[');
  await refused(['--agents', 'broken.json'], /broken\.json could not be read/);
  folder.write('none.mjs', 'export const tools = 5;');
  await refused(['--agents', 'none.mjs'], /tools, which must be a list/);
  const running = await startServer(folder);
  await refused(
    ['--port', new URL(running.url).port],
    /port: \d+ of 127\.0\.0\.1 is already in use\. Choose another port \(--port/,
  );
  await stopped(running);
});

test('the built-in tools are available if the server has what they need', async () => {
  const folder = new CommandFolder();
  const toolset = (name: string): string =>
    agents({
      tools: [
        {
          type: 'agent_toolset_20260401',
          default_config: { enabled: false },
          configs: [{ name, enabled: true }],
        },
      ],
    });
  const refused = async (name: string): Promise<void> => {
    folder.write('agents.json', toolset(name));
    const args = ['serve', '--port', '0', '--store', folder.store, '--agents', 'agents.json'];
    const { code, stderr } = await folder.run(args);
    assert.equal(code, 1);
    assert.match(stderr.text, new RegExp(`definition\\.tools\\[0\\] \\("${name}"\\)`));
  };
  await refused('web_fetch');
  await refused('web_search');
  const inFile = ['serve', '--port', '0', '--store', folder.store, '--sandbox', 'agents.json'];
  const { code, stderr } = await folder.run(inFile);
  assert.equal(code, 2);
  assert.match(stderr.text, /--sandbox: .*agents\.json cannot be created: EEXIST/);
  const args = ['--agents', 'agents.json', '--sandbox', 'box', '--web-host', 'example.com'];
  for (const name of ['bash', 'read', 'web_fetch']) {
    folder.write('agents.json', toolset(name));
    await stopped(await startServer(folder, args));
  }
});
