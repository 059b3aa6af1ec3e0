import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { workerTools } from '../../src/server/index.ts';
import { openStore } from '../../src/store/index.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { countingTool, userMessage, openServerFixture } from '../server/server-fixture.ts';
import type { ServerFixture } from '../server/server-fixture.ts';
import { scriptedChat } from '../server/scripted-chat.ts';
import { webhookReceiver } from '../server/webhook-receiver.ts';

const secretKey = 'an operator key of some 40 characters ...';

// The most permissive umask, so that private files are private by their own mode.
process.umask(0);

async function openFixtureIn(
  folder: string,
  key: string | undefined,
  host = '127.0.0.1:9',
): Promise<ServerFixture> {
  return openServerFixture(scriptedChat, {
    store: await openStore(`sqlite:////${join(folder, 'p.db')}`),
    builtIns: workerTools(async (name) => [countingTool(name)]),
    server: { ...(key !== undefined && { secretKey: key }), webhooks: { allowHosts: [host] } },
  });
}

async function createWebhook(
  on: ServerFixture,
  url = 'http://127.0.0.1:9/',
): Promise<{ readonly id: string; readonly secret: string }> {
  return on.client.post('/v1/webhooks', { body: { url, events: ['session.created'] } });
}

function createTemporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'petrichor-rest-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** The contents of all files of a folder. */
function readContents(folder: string): string {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((file) => lstatSync(file).isFile())
    .map((file) => readFileSync(file, 'latin1'))
    .join('\n');
}

test('the files of a store are readable by their owner only, and contain no key or secret in plain text', async () => {
  using folder = createTemporaryFolder();
  await using on = await openFixtureIn(folder.path, secretKey);
  const { key, token } = await on.server.keys.create('default', 'test');
  on.client.apiKey = token;
  const { secret } = await createWebhook(on);
  const { beta } = on.client;
  const agent = await beta.agents.create({
    name: 'A',
    model: 'gemini-2.5-flash',
  });
  const box = await beta.environments.create({ name: 'Box', config: { type: 'self_hosted' } });
  const scope = { type: 'environment', environmentId: box.id } as const;
  const worker = await on.server.keys.create('default', 'worker', { scope });
  const session = await beta.sessions.create({ agent: agent.id, environment_id: box.id });
  await beta.sessions.events.send(session.id, { events: [userMessage('Hi')] });
  const files = readdirSync(folder.path);
  assert.ok(files.length >= 3, files.join(', '));
  for (const name of files) {
    const { mode } = lstatSync(join(folder.path, name));
    assert.equal(mode & 0o077, 0, `${name} has the mode ${(mode & 0o777).toString(8)}`);
  }
  const contents = readContents(folder.path);
  assert.ok(contents.includes(key.id), 'the write-ahead log is among them');
  for (const issued of [token, worker.token, secret])
    for (const part of [issued, issued.slice(-40), Buffer.from(issued).toString('base64')])
      assert.ok(!contents.includes(part), `${issued.slice(0, 6)}… is in a file`);
});

test('the store does not contain the session key of a worker', async () => {
  using folder = createTemporaryFolder();
  await using on = await openFixtureIn(folder.path, secretKey);
  const { beta } = on.client;
  const configs = [{ name: 'bash' as const, enabled: true }];
  const agent = await beta.agents.create({
    name: 'A',
    model: 'gemini-2.5-flash',
    tools: [{ type: 'agent_toolset_20260401', default_config: { enabled: false }, configs }],
  });
  const box = await beta.environments.create({ name: 'Box', config: { type: 'self_hosted' } });
  const session = await beta.sessions.create({ agent: agent.id, environment_id: box.id });
  await beta.sessions.events.send(session.id, { events: [userMessage('call bash x')] });
  for (;;) {
    const work = await beta.environments.work.poll(box.id);
    if (work?.secret == null) continue;
    const { sessions_token: token } = JSON.parse(
      Buffer.from(work.secret, 'base64url').toString(),
    ) as { readonly sessions_token: string };
    const contents = readContents(folder.path);
    assert.ok(contents.includes(work.id));
    for (const issued of [work.secret, token, token.slice(-40)])
      assert.ok(!contents.includes(issued));
    break;
  }
});

test('after a restart, webhooks are signed with their secret under the same operator key, and after a newer key was put before it', async () => {
  using folder = createTemporaryFolder();
  await using receiver = await webhookReceiver(() => ({ status: 200 }));
  const created = await (async () => {
    await using on = await openFixtureIn(folder.path, secretKey, receiver.host);
    return await createWebhook(on, receiver.url);
  })();
  const next = `a newer key of the operator with 40 chars,${secretKey}`;
  let count = 0;
  for (const key of [secretKey, next, next.split(',')[0] ?? '']) {
    await using on = await openFixtureIn(folder.path, key, receiver.host);
    const agent = await on.client.beta.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
    await on.client.post('/v1/sessions', { body: { agent: agent.id } });
    count++;
    await receiver.waitFor(count);
    const { headers, body } = receiver.deliveries.at(-1) ?? assert.fail();
    // Throws for an invalid signature.
    on.client.beta.webhooks.unwrap(body, { headers, key: created.secret });
  }
});

test('an unencrypted webhook secret is encrypted when a server with an operator key starts', async () => {
  using folder = createTemporaryFolder();
  const url = `sqlite:////${join(folder.path, 'p.db')}`;
  const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
  const store = await openStore(url);
  const value = {
    id: 'w',
    url: 'http://127.0.0.1:9/',
    events: [],
    tools: [],
    secret,
    createdAt: 1,
  };
  await store.writeDocuments([{ kind: 'webhook', id: 'default/w', version: 0, value }]);
  await store.close();
  await using on = await openFixtureIn(folder.path, secretKey);
  const stored = await on.store.document('webhook', 'default/w');
  assert.match(JSON.stringify(stored?.value), /"sealed:v1:/);
  assert.doesNotMatch(JSON.stringify(stored?.value), /whsec_/);
});

test('without an operator key, a server with a persistent store rejects new webhooks, and the error names the setting', async () => {
  using folder = createTemporaryFolder();
  await using on = await openFixtureIn(folder.path, undefined);
  await assert.rejects(createWebhook(on), { status: 400, message: /PETRICHOR_SECRET_KEY/ });
  assert.deepEqual(await on.store.documents({ kind: 'webhook' }), []);
});

test('a server without an operator key creates a key file with mode 600 beside its SQLite file when it first needs one', async () => {
  const folder = new CommandFolder();
  const args = ['serve', '--store', folder.store, '--port', '0', '--webhook-host', '127.0.0.1:9'];
  const keyFile = join(folder.path, 'sessions.db-secret-key');
  const keys: string[] = [];
  const storedValues: string[] = [];
  for (const round of [1, 2]) {
    const running = folder.start(args);
    await running.stdout.shows(/Serving on \S+ from/);
    const [, url = ''] = /Serving on (\S+) from/.exec(running.stdout.text) ?? [];
    if (round === 1) assert.equal(existsSync(keyFile), false, 'there was nothing to encrypt yet');
    const created = await fetch(`${url}/v1/webhooks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url: 'http://127.0.0.1:9/', events: [] }),
    });
    assert.equal(created.status, 200, await created.text());
    running.signal('SIGTERM');
    assert.equal(await running.exit, 0);
    keys.push(readFileSync(keyFile, 'utf8'));
    assert.equal(lstatSync(keyFile).mode & 0o777, 0o600);
    assert.match(running.stdout.text, /webhooks 200/);
    const store = await openStore(folder.store);
    storedValues.push(
      ...(await store.documents({ kind: 'webhook' })).map(({ value }) => JSON.stringify(value)),
    );
    await store.close();
  }
  assert.equal(keys[0], keys[1], 'the next process uses the same key');
  const ids = storedValues.map((value) => /sealed:v1:(\w+):/.exec(value)?.[1]);
  assert.deepEqual([ids.length, new Set(ids).size], [3, 1]);
});

test('a server warns at start when other users can read its store', async () => {
  const folder = new CommandFolder();
  const file = join(folder.path, 'sessions.db');
  await (await openStore(folder.store)).close();
  chmodSync(file, 0o644);
  const running = folder.start(['serve', '--store', folder.store, '--port', '0']);
  await running.stdout.shows(/Serving on \S+ from/);
  assert.match(running.stderr.text, /sessions\.db can be read by other users \(mode 644\)/);
  assert.equal(lstatSync(file).mode & 0o777, 0o644, 'it may be shared on purpose');
  running.signal('SIGTERM');
  assert.equal(await running.exit, 0);
});
