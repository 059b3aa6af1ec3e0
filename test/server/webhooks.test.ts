import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { SimulatedClock } from '../../src/net/index.ts';
import { openStore } from '../../src/store/index.ts';
import { deploy } from './conformance-cases.ts';
import { userMessage, openServerFixture } from './server-fixture.ts';
import type { ServerFixture, ServerFixtureOptions } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { webhookReceiver } from './webhook-receiver.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

interface CreatedWebhook {
  readonly id: string;
  readonly secret: string;
}

async function openWebhookFixture(
  receiver: WebhookReceiver,
  { server, ...options }: ServerFixtureOptions = {},
): Promise<ServerFixture> {
  const webhooks = { allowHosts: [receiver.host] };
  const secretKey = 'the key of an operator of these tests';
  return openServerFixture(scriptedChat, {
    server: { webhooks, secretKey, ...server },
    ...options,
  });
}

const json = { 'content-type': 'application/json' };

async function createWebhook({ url }: ServerFixture, body: object): Promise<CreatedWebhook> {
  const response = await fetch(`${url}/v1/webhooks`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200);
  return (await response.json()) as CreatedWebhook;
}

async function newSession(
  { client: { beta } }: ServerFixture,
  agent: object = {},
): Promise<string> {
  const created = await beta.agents.create({ name: 'A', model: 'gemini-2.5-flash', ...agent });
  const environment = await beta.environments.create({ name: 'Here' });
  return (await beta.sessions.create({ agent: created.id, environment_id: environment.id })).id;
}

async function sendMessage(on: ServerFixture, session: string, text: string): Promise<void> {
  await on.client.beta.sessions.events.send(session, { events: [userMessage(text)] });
}

async function waitForMessage(on: ServerFixture, session: string, text: RegExp): Promise<void> {
  for (;;) {
    const { data } = await on.client.beta.sessions.events.list(session, { limit: 1000 });
    if (data.some((event) => event.type === 'agent.message' && text.test(JSON.stringify(event))))
      return;
  }
}

function listTypes({ deliveries }: WebhookReceiver): readonly string[] {
  return deliveries.map(({ body }) => (JSON.parse(body) as { data: { type: string } }).data.type);
}

test('a webhook receives signed events of a session, which the stock client unwraps', async () => {
  await using receiver = await webhookReceiver(() => ({ status: 200 }));
  await using on = await openWebhookFixture(receiver);
  const { secret } = await createWebhook(on, { url: receiver.url });
  const session = await newSession(on);
  await sendMessage(on, session, 'Hi');
  await receiver.waitFor(3);
  await on.client.beta.sessions.archive(session);
  await receiver.waitFor(5);
  assert.deepEqual(listTypes(receiver).toSorted(), [
    'session.archived',
    'session.created',
    'session.status_idled',
    'session.status_run_started',
    'session.status_terminated',
  ]);
  for (const { body, headers } of receiver.deliveries) {
    const event = on.client.beta.webhooks.unwrap(body, { headers, key: secret });
    assert.equal(event.type, 'event');
    assert.equal(event.id, headers['webhook-id']);
    assert.ok('id' in event.data && event.data.id === session);
    assert.throws(() =>
      on.client.beta.webhooks.unwrap(body.replace(session, 'other'), { headers, key: secret }),
    );
  }
});

test('a webhook receives the events that it subscribed to, until it is deleted', async () => {
  await using receiver = await webhookReceiver(() => ({ status: 200 }));
  await using on = await openWebhookFixture(receiver);
  const { id, secret } = await createWebhook(on, {
    url: receiver.url,
    events: ['session.requires_action'],
  });
  const listed = (await (await fetch(`${on.url}/v1/webhooks`)).json()) as {
    data: readonly object[];
  };
  assert.ok(!JSON.stringify(listed).includes(secret), 'the secret is shown only at creation');
  const session = await newSession(on, { tools: [deploy] });
  await sendMessage(on, session, 'call deploy prod');
  await receiver.waitFor(1);
  assert.deepEqual(listTypes(receiver), ['session.requires_action']);
  assert.equal((await fetch(`${on.url}/v1/webhooks/${id}`, { method: 'DELETE' })).status, 200);
  await sendMessage(on, await newSession(on, { tools: [deploy] }), 'call deploy prod');
  await on.listening.close();
  assert.equal(receiver.deliveries.length, 1);
});

test('a failed delivery is retried with growing delays, also after a restart', async () => {
  using folder = temporaryFolder();
  const path = `sqlite:${folder.path}/store.db`;
  const clock = new SimulatedClock(Date.now());
  await using receiver = await webhookReceiver((_, count) => ({ status: count < 4 ? 500 : 204 }));
  const first = await openWebhookFixture(receiver, {
    store: await openStore(path),
    server: { clock },
  });
  await createWebhook(first, { url: receiver.url, events: ['session.status_idled'] });
  await sendMessage(first, await newSession(first), 'Hi');
  await advanceToTimer(clock, 0);
  await receiver.waitFor(1);
  await advanceToTimer(clock, 5000);
  await receiver.waitFor(2);
  await until(() => clock.nextAt === clock.now() + 30_000);
  await first[Symbol.asyncDispose]();

  await using second = await openWebhookFixture(receiver, {
    store: await openStore(path),
    server: { clock, webhooks: { allowHosts: [receiver.host] } },
  });
  assert.equal(receiver.deliveries.length, 2, 'the retry is not due yet');
  await advanceToTimer(clock, 30_000);
  await receiver.waitFor(3);
  await advanceToTimer(clock, 120_000);
  await receiver.waitFor(4);
  await until(
    async () => (await second.store.documents({ kind: 'webhook-delivery' })).length === 0,
  );
  const ids = receiver.deliveries.map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, 1, 'every attempt has the same id');
  const times = receiver.deliveries.map(({ headers }) => Number(headers['webhook-timestamp']));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
});

test('events that occur while no server runs are delivered by the next server', async () => {
  using folder = temporaryFolder();
  const path = `sqlite:${folder.path}/store.db`;
  await using receiver = await webhookReceiver(() => ({ status: 200 }));
  const first = await openWebhookFixture(receiver, { store: await openStore(path) });
  await createWebhook(first, { url: receiver.url, events: ['session.status_idled'] });
  const session = await newSession(first);
  await first.listening.close();
  await first.runtime.sendEvent(session, userMessage('Hi'));
  while ((await first.runtime.getSession(session)).lastSeq < 4) await setImmediate();
  assert.equal(receiver.deliveries.length, 0);
  await first[Symbol.asyncDispose]();

  await using second = await openWebhookFixture(receiver, { store: await openStore(path) });
  await receiver.waitFor(1);
  assert.match(receiver.deliveries[0]?.body ?? '', new RegExp(session));
  await sendMessage(second, session, 'And again');
  await receiver.waitFor(2);
  const ids = receiver.deliveries.map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, 2);
});

test('two servers on one store deliver each event once', async () => {
  using folder = temporaryFolder();
  const path = `sqlite:${folder.path}/store.db`;
  await using receiver = await webhookReceiver(() => ({ status: 200 }));
  const one = await openWebhookFixture(receiver, { store: await openStore(path) });
  await createWebhook(one, { url: receiver.url, events: ['session.status_idled'] });
  const other = await openWebhookFixture(receiver, { store: await openStore(path) });
  const sessions = [];
  for (const on of [one, other, one, other]) {
    const session = await newSession(on);
    await sendMessage(on, session, 'Hi');
    sessions.push(session);
  }
  await receiver.waitFor(4);
  await until(async () => (await one.store.documents({ kind: 'webhook-delivery' })).length === 0);
  await one[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  const deliveries = receiver.deliveries.map(
    ({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id,
  );
  assert.deepEqual(deliveries.toSorted(), sessions.toSorted());
});

test('a webhook can run a custom tool without a connected client, and its call is answered once', async () => {
  const clock = new SimulatedClock(Date.now());
  await using receiver = await webhookReceiver((_, count) =>
    count === 1
      ? { status: 503 }
      : { status: 200, body: JSON.stringify({ content: [{ type: 'text', text: 'deployed' }] }) },
  );
  await using on = await openWebhookFixture(receiver, { server: { clock } });
  const { secret } = await createWebhook(on, { url: receiver.url, tools: ['deploy'] });
  const session = await newSession(on, { tools: [deploy, { ...deploy, name: 'other' }] });
  await sendMessage(on, session, 'call deploy prod');
  await advanceToTimer(clock, 0);
  await receiver.waitFor(1);
  await advanceToTimer(clock, 1000);
  await waitForMessage(on, session, /Results: .*deployed/);
  assert.equal(receiver.deliveries.length, 2);
  const [first, second] = receiver.deliveries;
  assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id']);
  const call = on.client.beta.webhooks.unwrap(second?.body ?? '', {
    headers: { ...second?.headers },
    key: secret,
  }) as unknown as { readonly type: string; readonly data: Readonly<Record<string, unknown>> };
  assert.equal(call.type, 'tool_call');
  assert.deepEqual(
    [call.data['name'], call.data['input'], call.data['session_id']],
    ['deploy', { path: 'prod' }, session],
  );
  const { data } = await on.client.beta.sessions.events.list(session, { limit: 100 });
  const use = data.find(({ type }) => type === 'agent.custom_tool_use');
  assert.equal(call.data['id'], use?.id);
  await sendMessage(on, session, 'call other x');
  for (;;) {
    const { length } = await on.runtime.pending(session);
    if (length > 0) break;
    await setImmediate();
  }
  assert.equal(receiver.deliveries.length, 2, 'the webhook does not run the tool "other"');
});

test('a webhook runs the tools of a called agent, and receives events of the calling session only', async () => {
  await using receiver = await webhookReceiver(() => ({ status: 200, body: 'deployed' }));
  await using on = await openWebhookFixture(receiver);
  const model = 'gemini-2.5-flash';
  const called = await on.client.beta.agents.create({ name: 'deployer', model, tools: [deploy] });
  await createWebhook(on, {
    url: receiver.url,
    tools: ['deploy'],
    events: ['session.status_run_started'],
  });
  const session = await newSession(on, {
    multiagent: { type: 'coordinator', agents: [called.id] },
  });
  // The arguments contain no spaces as written, and two after JSON decoding.
  const request = String.raw`{"request":"call\u0020deploy\u0020x"}`;
  await sendMessage(on, session, `call deployer ${request}`);
  await waitForMessage(on, session, /deployed/);
  // The session itself starts, waits for the called agent, and continues.
  assert.deepEqual(listTypes(receiver).toSorted(), [
    'agent.custom_tool_use',
    'session.status_run_started',
    'session.status_run_started',
  ]);
  const call = receiver.deliveries.find(({ body }) => body.includes('tool_call'));
  assert.match(call?.body ?? '', new RegExp(`"session_id":"${session}"`));
});

test('a webhook may return the result of a tool as an error or as plain text', async () => {
  await using receiver = await webhookReceiver((_, count) =>
    count === 1
      ? { status: 200, body: 'as it is' }
      : {
          status: 200,
          body: JSON.stringify({ content: [{ type: 'text', text: 'No.' }], is_error: true }),
        },
  );
  await using on = await openWebhookFixture(receiver);
  await createWebhook(on, { url: receiver.url, tools: ['deploy'] });
  const session = await newSession(on, { tools: [deploy] });
  await sendMessage(on, session, 'call deploy a');
  await waitForMessage(on, session, /as it is/);
  await sendMessage(on, session, 'call deploy b');
  await waitForMessage(on, session, /No\./);
  const { data } = await on.client.beta.sessions.events.list(session, { limit: 100 });
  const results = data.flatMap((event) =>
    event.type === 'user.custom_tool_result' ? [event.is_error] : [],
  );
  assert.deepEqual(results, [false, true]);
});

test('a webhook to an internal address is rejected, by address, by name, and by a name that resolves to one later', async () => {
  await using receiver = await webhookReceiver(() => ({ status: 200 }));
  const addresses = new Map([
    ['inside.example', '10.0.0.1'],
    ['changes.example', '93.184.216.34'],
  ]);
  const resolve = async (name: string): Promise<readonly string[]> => [
    addresses.get(name) ?? '127.0.0.1',
  ];
  const failed: unknown[] = [];
  await using on = await openServerFixture(scriptedChat, {
    server: { webhooks: { resolve }, onError: (error) => failed.push(error) },
  });
  const add = async (url: string): Promise<number> => {
    const body = JSON.stringify({ url, events: ['session.created'] });
    return (await fetch(`${on.url}/v1/webhooks`, { method: 'POST', headers: json, body })).status;
  };
  for (const url of [
    receiver.url,
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://169.254.169.254/latest',
    'https://0x7f000001/',
    'https://localhost/',
    'https://inside.example/',
    'http://changes.example/',
    'https://user:pass@changes.example/',
    'ftp://changes.example/',
    'nothing',
  ])
    assert.equal(await add(url), 400, url);
  assert.equal(await add('https://changes.example/'), 200);
  addresses.set('changes.example', '127.0.0.1');
  await newSession(on);
  await until(() => failed.length > 0);
  assert.match(String(failed[0]), /not public/);
  assert.equal(receiver.deliveries.length, 0);
});

/** Waits until the next timer is due in exactly `ms`, and advances the clock to it. */
async function advanceToTimer(clock: SimulatedClock, ms: number): Promise<void> {
  await until(() => clock.nextAt === clock.now() + ms);
  clock.advance(ms);
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await setImmediate();
}
