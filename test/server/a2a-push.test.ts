import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { createServer } from '../../src/server/index.ts';
import type { Server } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { scriptedChat } from './scripted-chat.ts';
import { webhookReceiver } from './webhook-receiver.ts';
import type { ReceivedDelivery, WebhookReceiver } from './webhook-receiver.ts';

interface Opened extends AsyncDisposable {
  readonly server: Server;
}

async function open(receiver: WebhookReceiver, store: MemoryStore): Promise<Opened> {
  const erase = tool({
    name: 'erase',
    description: 'Erases.',
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
    needsApproval: true,
    execute: () => ({ ok: true }),
  });
  const model = new ScriptedModel(scriptedChat);
  const runtime = await openRuntime({
    agents: [agent({ name: 'cleaner', model, tools: [erase] })],
    store,
  });
  const server = await createServer({
    runtime,
    keys: 'off',
    protocols: ['managed', 'a2a'],
    limits: { requestsPerMinute: 1_000_000 },
    webhooks: { allowHosts: [receiver.host] },
  });
  return {
    server,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await runtime.close();
    },
  };
}

async function ask(
  { server }: Opened,
  line: string,
  body?: object,
  version = '1.0',
): Promise<Readonly<Record<string, unknown>>> {
  const [method = '', path = ''] = line.split(' ');
  const response = await server.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: { 'a2a-version': version, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  assert.ok(response.ok, await response.clone().text());
  return response.status === 204 ? {} : ((await response.json()) as Record<string, unknown>);
}

interface TaskState {
  readonly id: string;
  readonly status: {
    readonly state: string;
    readonly message?: { readonly parts: readonly { readonly data?: Calls }[] };
  };
}

interface Calls {
  readonly calls: readonly { readonly callId: string }[];
}

function readStates(deliveries: readonly ReceivedDelivery[]): readonly string[] {
  return deliveries.map(({ body }) => {
    const { statusUpdate } = JSON.parse(body) as { readonly statusUpdate: TaskState };
    return statusUpdate.status.state;
  });
}

test('a task is pushed with the credentials of its client, over a restart, until its end', async () => {
  // The first attempts fail, so the process that ends delivers nothing.
  let isUp = false;
  await using receiver = await webhookReceiver(() => ({ status: isUp ? 200 : 500 }));
  const store = new MemoryStore();
  const base = '/a2a/agent_cleaner/v1';
  const message = { role: 'ROLE_USER', messageId: 'm1', parts: [{ text: 'call erase a' }] };
  const authentication = { scheme: 'Bearer', credentials: 'secret of the client' };
  const push = { id: 'p1', url: receiver.url, token: 'token of the client', authentication };
  let task: TaskState;
  {
    await using opened = await open(receiver, store);
    const configuration = { taskPushNotificationConfig: push };
    const sent = await ask(opened, `POST ${base}/message:send`, { message, configuration });
    task = sent['task'] as TaskState;
    assert.equal(task.status.state, 'TASK_STATE_INPUT_REQUIRED');
  }
  isUp = true;
  await using opened = await open(receiver, store);
  const configs = `${base}/tasks/${encodeURIComponent(task.id)}/pushNotificationConfigs`;
  const shown = { id: 'p1', taskId: task.id, url: receiver.url };
  assert.deepEqual(await ask(opened, `GET ${configs}`), { configs: [shown] });
  assert.deepEqual(await ask(opened, `GET ${configs}/p1`), shown);
  assert.deepEqual((await ask(opened, 'GET /v1/webhooks'))['data'], []);
  const before = receiver.deliveries.length;
  const callId = task.status.message?.parts.flatMap(({ data }) => data?.calls ?? [])[0]?.callId;
  const answer = {
    ...message,
    messageId: 'm2',
    taskId: task.id,
    parts: [{ data: { callId, approved: true } }],
  };
  await ask(opened, `POST ${base}/message:send`, { message: answer });
  const added = (): readonly ReceivedDelivery[] => receiver.deliveries.slice(before);
  for (let count = before + 1; !readStates(added()).includes('TASK_STATE_COMPLETED'); count++)
    await receiver.waitFor(count);
  for (const { headers } of receiver.deliveries) {
    assert.equal(headers['authorization'], 'Bearer secret of the client');
    assert.equal(headers['x-a2a-notification-token'], 'token of the client');
    assert.equal(headers['content-type'], 'application/a2a+json');
  }
  // The configuration goes with its last message.
  const hasConfig = async (): Promise<boolean> =>
    ((await ask(opened, `GET ${configs}`))['configs'] as readonly unknown[]).length > 0;
  while (await hasConfig()) await setImmediate();
});

test('a client of 0.3 is pushed tasks in its own form, and can end that', async () => {
  await using receiver = await webhookReceiver(() => ({ status: 200 }));
  await using opened = await open(receiver, new MemoryStore());
  const call = async (
    method: string,
    params: object,
  ): Promise<Readonly<Record<string, unknown>>> => {
    const body = { jsonrpc: '2.0', id: 1, method, params };
    const { result } = await ask(opened, 'POST /a2a/agent_cleaner', body, '0.3');
    return result as Readonly<Record<string, unknown>>;
  };
  const message = {
    kind: 'message',
    role: 'user',
    messageId: 'm1',
    parts: [{ kind: 'text', text: 'call erase a' }],
  };
  const configuration = { pushNotificationConfig: { url: receiver.url } };
  const { id } = await call('message/send', { message, configuration });
  await receiver.waitFor(2);
  const bodies = receiver.deliveries.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  assert.deepEqual(
    bodies
      .map(({ kind, id: pushed, status }) => [kind, pushed, (status as TaskState['status']).state])
      .toSorted((one, other) => String(one[2]).localeCompare(String(other[2]))),
    [
      ['task', id, 'input-required'],
      ['task', id, 'working'],
    ],
  );
  const listed = (await call('tasks/pushNotificationConfig/list', { id })) as unknown as readonly {
    readonly pushNotificationConfig: { readonly id: string };
  }[];
  const [first] = listed;
  const pushNotificationConfigId = first?.pushNotificationConfig.id;
  await call('tasks/pushNotificationConfig/delete', { id, pushNotificationConfigId });
  assert.deepEqual(await call('tasks/pushNotificationConfig/list', { id }), []);
});
