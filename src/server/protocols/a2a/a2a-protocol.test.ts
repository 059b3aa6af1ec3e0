import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../../agents/index.ts';
import { isFunctionResponsePart } from '../../../core/index.ts';
import { manageRuntime } from '../../../managed/index.ts';
import { ScriptedModel } from '../../../models/index.ts';
import type { ModelScript } from '../../../models/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import { openRuntime } from '../../../runtime/index.ts';
import { MemoryStore } from '../../../store/index.ts';
import { tool } from '../../../tools/index.ts';
import { createServer } from '../../create-server.ts';
import type { Server } from '../../create-server.ts';

/** Calls `erase` once for each `erase` of the message, one after the other, then tells the result. */
const script: ModelScript = ({ contents }) => {
  const user = contents.findLastIndex(({ role }) => role === 'user');
  const last = contents[user]?.parts[0];
  const text = last !== undefined && 'text' in last ? last.text : '';
  const done = contents
    .slice(user)
    .filter(({ parts }) => parts.some(isFunctionResponsePart)).length;
  const wanted = text.split(' ').filter((word) => word === 'erase').length;
  if (done < wanted) return { text: 'I erase it.', toolCalls: [{ name: 'erase', args: {} }] };
  return { deltas: ['It is ', 'gone', '.'], text: 'It is gone.' };
};

interface Opened extends AsyncDisposable {
  readonly server: Server;
  readonly ran: string[];
}

async function open({
  needsApproval = false,
  store = new MemoryStore(),
  beforeInterrupt = async () => {},
}: {
  readonly needsApproval?: boolean;
  readonly store?: MemoryStore;
  readonly beforeInterrupt?: () => Promise<void>;
} = {}): Promise<Opened> {
  const ran: string[] = [];
  const erase = tool({
    name: 'erase',
    description: 'Erases.',
    parameters: { type: 'object', properties: {} },
    needsApproval,
    execute: () => {
      ran.push('erase');
      return { ok: true };
    },
  });
  const model = new ScriptedModel(script);
  const cleaner = agent({ name: 'cleaner', model, tools: [erase], description: 'Erases things.' });
  const runtime = await openRuntime({ agents: [cleaner], store });
  const managed = await manageRuntime(runtime);
  const interrupt: typeof managed.interrupt = async (...args) => {
    await beforeInterrupt();
    return managed.interrupt(...args);
  };
  const server = await createServer({
    runtime: new Proxy(managed, {
      get: (target, key): unknown => {
        const member: unknown = key === 'interrupt' ? interrupt : Reflect.get(target, key, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    }),
    keys: 'when-created',
    protocols: ['a2a'],
    webhooks: { allowHosts: ['127.0.0.1:9'] },
  });
  return {
    server,
    ran,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await runtime.close();
    },
  };
}

type Headers = Readonly<Record<string, string>>;

async function ask(
  { server }: Opened,
  line: string,
  { body, headers = {} }: { readonly body?: unknown; readonly headers?: Headers } = {},
): Promise<Response> {
  const [method = '', path = ''] = line.split(' ');
  return server.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: { 'a2a-version': '1.0', 'content-type': 'application/a2a+json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
}

interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: {
    readonly state: string;
    readonly message?: { readonly parts: readonly Part[] };
  };
  readonly artifacts?: readonly { readonly parts: readonly Part[] }[];
  readonly history?: readonly { readonly messageId: string; readonly parts: readonly Part[] }[];
}

interface Part {
  readonly text?: string;
  readonly data?: {
    readonly type: string;
    readonly calls?: readonly { readonly callId: string }[];
  };
}

const BASE = '/a2a/agent_cleaner/v1';

async function send(
  opened: Opened,
  message: object,
  more: { readonly configuration?: object; readonly headers?: Headers } = {},
): Promise<Task> {
  const { headers = {}, ...rest } = more;
  const body = { message: { role: 'ROLE_USER', ...message }, ...rest };
  const response = await ask(opened, `POST ${BASE}/message:send`, { body, headers });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return (JSON.parse(text) as { readonly task: Task }).task;
}

async function fail(response: Response, status: number, message: RegExp): Promise<void> {
  const text = await response.text();
  assert.equal(response.status, status, text);
  assert.match(text, message);
}

const hello = (messageId: string, text = 'erase'): object => ({ messageId, parts: [{ text }] });
const joinText = ({ artifacts = [] }: Task): string =>
  artifacts.flatMap(({ parts }) => parts.map(({ text = '' }) => text)).join(' ');
const findCallId = ({ status }: Task): string | undefined =>
  status.message?.parts.flatMap(({ data }) => data?.calls ?? [])[0]?.callId;

interface SentEvent {
  readonly id: string;
  readonly data: {
    readonly task?: Task;
    readonly statusUpdate?: { readonly status: Task['status'] };
    readonly artifactUpdate?: {
      readonly append?: boolean;
      readonly artifact: { readonly artifactId: string; readonly parts: readonly Part[] };
    };
  };
}

async function readEvents(response: Response): Promise<readonly SentEvent[]> {
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return [...text.matchAll(/^id: (.*)\ndata: (.*)$/gm)].map(([, id = '', data = '']) => ({
    id,
    data: JSON.parse(data) as SentEvent['data'],
  }));
}

const joinChunks = (events: readonly SentEvent[]): string =>
  events
    .flatMap(({ data }) => data.artifactUpdate?.artifact.parts.map(({ text = '' }) => text) ?? [])
    .join('');
const listStates = (events: readonly SentEvent[]): readonly string[] =>
  events.flatMap(({ data }) => data.statusUpdate?.status.state ?? []);

test('a message starts a task, which ends with its texts as artifacts; sent again, it is the same task', async () => {
  await using opened = await open();
  const task = await send(opened, hello('m1'));
  assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
  assert.equal(joinText(task), 'I erase it. It is gone.');
  assert.equal(task.history?.[0]?.messageId, 'm1');
  const again = await send(opened, hello('m1'));
  assert.deepEqual(again, task);
  assert.deepEqual(opened.ran, ['erase']);
  const next = await send(opened, { ...hello('m2', 'bye'), contextId: task.contextId });
  assert.deepEqual([next.contextId, next.id === task.id], [task.contextId, false]);
  const early = await send(opened, hello('m3'), { configuration: { returnImmediately: true } });
  assert.ok(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'].includes(early.status.state));
});

test('a client that comes back to a stream after any event gets the events after it, and no letter twice', async () => {
  await using opened = await open();
  const body = { message: { role: 'ROLE_USER', contextId: 'c1', ...hello('m1') } };
  const line = `POST ${BASE}/message:stream`;
  const events = await readEvents(await ask(opened, line, { body }));
  const [first] = events;
  const id = first?.data.task?.id ?? '';
  assert.equal(joinChunks(events), 'I erase it.It is gone.');
  assert.equal(listStates(events).at(-1), 'TASK_STATE_COMPLETED');
  for (const [index, event] of events.entries()) {
    const seen = events.slice(0, index + 1);
    const headers = { 'last-event-id': event.id };
    const rest = await readEvents(await ask(opened, line, { body, headers }));
    assert.equal(joinChunks([...seen, ...rest]), 'I erase it.It is gone.', event.id);
    assert.deepEqual(listStates([...seen, ...rest]), listStates(events), event.id);
    const subscribed = await readEvents(
      await ask(opened, `GET ${BASE}/tasks/${encodeURIComponent(id)}:subscribe`, { headers }),
    );
    assert.equal(subscribed[0]?.data.task?.id, id);
    assert.equal(joinChunks([...seen, ...subscribed]), 'I erase it.It is gone.', event.id);
    assert.deepEqual(listStates([...seen, ...subscribed]), listStates(events), event.id);
  }
  assert.deepEqual(opened.ran, ['erase']);
  await fail(await ask(opened, `POST ${BASE}/tasks/${id}:subscribe`), 400, /has ended/);
});

test('a subscriber of a task that waits sees it go on when another client answers', async () => {
  await using opened = await open({ needsApproval: true });
  const waiting = await send(opened, hello('m1'));
  assert.equal(waiting.status.state, 'TASK_STATE_INPUT_REQUIRED');
  const response = await ask(opened, `GET ${BASE}/tasks/${waiting.id}:subscribe`);
  const events = readEvents(response);
  const data = { callId: findCallId(waiting), approved: true };
  await send(opened, { messageId: 'm2', taskId: waiting.id, parts: [{ data }] });
  const [first, ...rest] = await events;
  assert.deepEqual(first?.data.task, waiting);
  assert.equal(joinChunks(rest), 'It is gone.');
  assert.equal(listStates(rest).at(-1), 'TASK_STATE_COMPLETED');
});

test('an approval waits over a restart; an answer that is sent again never answers the next call', async () => {
  const store = new MemoryStore();
  let waiting: Task;
  {
    await using opened = await open({ needsApproval: true, store });
    waiting = await send(opened, hello('m1', 'erase erase'));
    assert.match(waiting.status.message?.parts[0]?.text ?? '', /^Approve the call of erase\?$/);
  }
  await using opened = await open({ needsApproval: true, store });
  const answer = { messageId: 'm2', taskId: waiting.id, parts: [{ text: 'Yes' }] };
  const second = await send(opened, answer);
  assert.equal(second.status.state, 'TASK_STATE_INPUT_REQUIRED');
  assert.notEqual(findCallId(second), findCallId(waiting));
  assert.deepEqual(await send(opened, answer), second);
  assert.deepEqual(opened.ran, ['erase']);
  const vague = { messageId: 'm3', taskId: waiting.id, parts: [{ text: 'Yes, if you must' }] };
  const body = { message: vague };
  await fail(await ask(opened, `POST ${BASE}/message:send`, { body }), 400, /approve or deny/);
  const denial = { callId: findCallId(second), approved: false, message: 'Keep it.' };
  const ended = await send(opened, { ...vague, messageId: 'm4', parts: [{ data: denial }] });
  assert.equal(ended.status.state, 'TASK_STATE_COMPLETED');
  assert.deepEqual(opened.ran, ['erase']);
  const late = { message: { ...vague, messageId: 'm5' } };
  await fail(await ask(opened, `POST ${BASE}/message:send`, { body: late }), 400, /does not wait/);
});

test('a task that waits is canceled, once; one that ended is not', async () => {
  await using opened = await open({ needsApproval: true });
  const waiting = await send(opened, { ...hello('m1'), contextId: 'c1' });
  const queued = await send(opened, { ...hello('m2', 'bye'), contextId: 'c1' });
  assert.equal(queued.status.state, 'TASK_STATE_SUBMITTED');
  const cancel = async (id: string): Promise<Response> =>
    ask(opened, `POST ${BASE}/tasks/${encodeURIComponent(id)}:cancel`, { body: {} });
  await fail(await cancel(queued.id), 400, /has not begun/);
  const canceled = (await (await cancel(waiting.id)).json()) as Task;
  assert.equal(canceled.status.state, 'TASK_STATE_CANCELED');
  assert.deepEqual(await (await cancel(waiting.id)).json(), canceled);
  const ended = await send(opened, { ...hello('m2', 'bye'), contextId: 'c1' });
  assert.deepEqual([ended.id, ended.status.state], [queued.id, 'TASK_STATE_COMPLETED']);
  await fail(await cancel(ended.id), 400, /has ended/);
  await fail(await cancel('none'), 404, /no task/);
});

test('a cancel that arrives when its task has ended leaves the next task alone', async () => {
  const late: { before?: (() => Promise<void>) | undefined } = {};
  await using opened = await open({
    needsApproval: true,
    beforeInterrupt: async () => {
      const { before } = late;
      late.before = undefined;
      await before?.();
    },
  });
  const one = await send(opened, hello('m1'));
  const { contextId } = one;
  const wait = async (id: string): Promise<Task> =>
    (await (await ask(opened, `GET ${BASE}/tasks/${id}`)).json()) as Task;
  const approve = async ({ id, status: { message } }: Task): Promise<Task> => {
    const callId = message?.parts.flatMap(({ data }) => data?.calls ?? [])[0]?.callId;
    return send(opened, {
      messageId: `approve-${callId}`,
      taskId: id,
      parts: [{ data: { callId, approved: true } }],
    });
  };
  let two: Task | undefined;
  late.before = async () => {
    await approve(one);
    two = await send(opened, { ...hello('m2'), contextId });
  };
  const canceled = await ask(opened, `POST ${BASE}/tasks/${one.id}:cancel`);
  await fail(canceled, 400, /has ended/);
  assert.equal(two?.status.state, 'TASK_STATE_INPUT_REQUIRED');
  assert.equal((await wait(one.id)).status.state, 'TASK_STATE_COMPLETED');
  assert.equal((await wait(two.id)).status.state, 'TASK_STATE_INPUT_REQUIRED');
  assert.equal((await approve(two)).status.state, 'TASK_STATE_COMPLETED');
});

test('tasks are listed newest first, by context, state and page', async () => {
  await using opened = await open({ needsApproval: true });
  const ids: string[] = [];
  for (const [messageId, contextId, text] of [
    ['m1', 'c1', 'one'],
    ['m2', 'c1', 'two'],
    ['m3', 'c2', 'erase'],
  ] as const)
    ids.push((await send(opened, { ...hello(messageId, text), contextId })).id);
  interface Page {
    readonly tasks: readonly Task[];
    readonly nextPageToken: string;
    readonly totalSize: number;
  }
  const list = async (query: string): Promise<Page> => {
    const response = await ask(opened, `GET ${BASE}/tasks?${query}`);
    assert.equal(response.status, 200);
    return (await response.json()) as Page;
  };
  const all = await list('includeArtifacts=true');
  assert.deepEqual(
    all.tasks.map(({ id }) => id),
    ids.toReversed(),
  );
  assert.equal(joinText(all.tasks[2] ?? assert.fail()), 'It is gone.');
  const context = await list('contextId=c1&historyLength=0');
  assert.deepEqual(
    context.tasks.map((task) => [task.id, task.history, task.artifacts]),
    [ids[1], ids[0]].map((id) => [id, undefined, undefined]),
  );
  const waiting = await list('status=TASK_STATE_INPUT_REQUIRED');
  assert.deepEqual([waiting.tasks[0]?.id, waiting.tasks.length], [ids[2], 1]);
  assert.deepEqual([all.totalSize, context.totalSize, waiting.totalSize], [3, 2, 1]);
  const paged: string[] = [];
  let token = '';
  do {
    const page = await list(`pageSize=1&pageToken=${token}`);
    paged.push(...page.tasks.map(({ id }) => id));
    token = page.nextPageToken;
    assert.equal(page.totalSize, 3);
  } while (token !== '');
  assert.deepEqual(paged, ids.toReversed());
  await fail(await ask(opened, `GET ${BASE}/tasks?pageSize=0`), 400, /pageSize/);
  await fail(await ask(opened, `GET ${BASE}/tasks?pageToken=x`), 400, /pageToken/);
});

test('0.3 over HTTP has the JSON of its protocol buffers: messages with files and data, tasks, pushes, cards, errors', async () => {
  await using opened = await open({ needsApproval: true });
  const old = { 'a2a-version': '', 'content-type': 'application/json' };
  const call = async (line: string, body?: unknown): Promise<JsonObject> => {
    const response = await ask(opened, line, { body, headers: old });
    const text = await response.text();
    assert.ok(response.ok, text);
    assert.equal(response.headers.get('content-type')?.split(';')[0], 'application/json');
    return JSON.parse(text) as JsonObject;
  };
  const image = { fileWithBytes: 'aGk=', mimeType: 'image/png', name: 'a.png' };
  const content = [{ text: 'erase' }, { file: image }];
  const request = { messageId: 'm1', contextId: 'c1', role: 'ROLE_USER', content };
  const sent = await call(`POST ${BASE}/message:send`, { request });
  interface OldTask {
    readonly id: string;
    readonly status: {
      readonly state: string;
      readonly update?: {
        readonly content: readonly {
          readonly data?: { readonly data: { readonly calls: readonly { callId: string }[] } };
        }[];
      };
    };
    readonly history: readonly { readonly content: readonly object[] }[];
  }
  const { id, status, history } = sent['task'] as unknown as OldTask;
  assert.equal(status.state, 'TASK_STATE_INPUT_REQUIRED');
  assert.deepEqual(history[0]?.content, content);
  const callId = status.update?.content.flatMap(({ data }) => data?.data.calls ?? [])[0]?.callId;
  const config = { id: 'p1', url: 'http://127.0.0.1:9/push', token: '', authentication: null };
  const pushes = `${BASE}/tasks/${id}/pushNotificationConfigs`;
  const shown = {
    name: `tasks/${id}/pushNotificationConfigs/p1`,
    pushNotificationConfig: { id: 'p1', url: config.url },
  };
  const saved = await call(`POST ${pushes}`, { name: '', push_notification_config: config });
  assert.deepEqual(saved, shown);
  assert.deepEqual(await call(`GET ${pushes}`), { configs: [shown] });
  assert.deepEqual(await call(`GET ${pushes}/p1`), shown);
  const answer = { data: { data: { callId, approved: true } } };
  const approval = { message_id: 'm2', task_id: id, role: 'ROLE_USER', content: [answer] };
  const { task } = await call(`POST ${BASE}/message:send`, { request: approval });
  assert.equal((task as unknown as OldTask).status.state, 'TASK_STATE_COMPLETED');
  const { additionalInterfaces, skills } = await call(`GET ${BASE}/card`);
  const url = 'http://localhost/a2a/agent_cleaner';
  assert.deepEqual(additionalInterfaces, [
    { url, transport: 'JSONRPC' },
    { url, transport: 'HTTP+JSON' },
  ]);
  assert.equal((skills as readonly object[]).length, 2);
  await fail(await ask(opened, `GET ${BASE}/tasks/none`, { headers: old }), 404, /-32001/);
});

test('JSON-RPC answers with its own errors, and 0.3 has the same tasks', async () => {
  await using opened = await open();
  const call = async (
    method: string,
    params: object,
    headers: Headers = {},
  ): Promise<Readonly<Record<string, unknown>>> => {
    const body = { jsonrpc: '2.0', id: 7, method, params };
    const json = { 'content-type': 'application/json', ...headers };
    const response = await ask(opened, 'POST /a2a/agent_cleaner', { body, headers: json });
    assert.equal(response.status, 200);
    return (await response.json()) as Readonly<Record<string, unknown>>;
  };
  const params = { message: { role: 'ROLE_USER', contextId: 'c1', ...hello('m1') } };
  const { result } = await call('SendMessage', params);
  const { task } = result as { readonly task: Task };
  assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
  const old = { 'a2a-version': '' };
  const { result: read } = await call('tasks/get', { id: task.id }, old);
  assert.equal((read as Task).status.state, 'completed');
  const codes = [
    await call('GetTask', { id: 'none' }),
    await call('CancelTask', { id: task.id }),
    await call('SubscribeToTask', { id: task.id }),
    await call('SendMessage', { message: { messageId: 'm2', parts: [] } }),
    await call('SendMessage', { message: { ...params.message, taskId: `${task.id}x` } }),
    await call('Unknown', {}),
    await call('GetTask', { id: task.id }, { 'a2a-version': '2.0' }),
    await call('tasks/get', { id: 'none' }, old),
  ].map(({ error }) => (error as { readonly code: number }).code);
  assert.deepEqual(codes, [-32001, -32002, -32004, -32602, -32001, -32601, -32009, -32001]);
  const unknown = await ask(opened, 'POST /a2a/agent_none', {
    body: {},
    headers: { 'content-type': 'application/json' },
  });
  await fail(unknown, 404, /"jsonrpc":"2.0".*There is no agent/);
});

test('a card names its transports and needs no secret; the extended one lists tools', async () => {
  await using opened = await open();
  interface Card {
    readonly name: string;
    readonly url?: string;
    readonly supportedInterfaces: readonly {
      readonly url: string;
      readonly protocolBinding: string;
    }[];
    readonly skills: readonly { readonly name: string }[];
    readonly securityRequirements?: unknown;
  }
  const read = async (path: string, headers: Headers = {}): Promise<Card> =>
    (await (await ask(opened, `GET ${path}`, { headers })).json()) as Card;
  const card = await read('/.well-known/agent-card.json');
  assert.deepEqual(await read('/a2a/agent_cleaner/.well-known/agent-card.json'), card);
  assert.deepEqual(
    [card.name, card.supportedInterfaces.map(({ url }) => url), card.securityRequirements],
    [
      'cleaner',
      [
        'http://localhost/a2a/agent_cleaner',
        'http://localhost/a2a/agent_cleaner/v1',
        'http://localhost/a2a/agent_cleaner',
        'http://localhost/a2a/agent_cleaner',
      ],
      undefined,
    ],
  );
  const old = await read('/.well-known/agent-card.json', { 'a2a-version': '' });
  assert.deepEqual(
    [old.url, old.supportedInterfaces],
    ['http://localhost/a2a/agent_cleaner', card.supportedInterfaces],
  );
  const extended = await read(`${BASE}/extendedAgentCard`);
  assert.deepEqual(
    extended.skills.map(({ name }) => name),
    ['cleaner', 'erase'],
  );
  const { token } = await opened.server.keys.create('one', 'test');
  assert.equal((await ask(opened, 'GET /.well-known/agent-card.json')).status, 401);
  const keyed = await read('/.well-known/agent-card.json', { 'x-api-key': token });
  assert.notEqual(keyed.securityRequirements, undefined);
});

test('another workspace finds no task, no context and no push configuration', async () => {
  await using opened = await open({ needsApproval: true });
  const one = { 'x-api-key': (await opened.server.keys.create('one', 'test')).token };
  const two = { 'x-api-key': (await opened.server.keys.create('two', 'test')).token };
  const own = await send(opened, { ...hello('m1'), contextId: 'c1' }, { headers: one });
  const other = await send(opened, { ...hello('m1'), contextId: 'c1' }, { headers: two });
  assert.equal(own.id, other.id);
  const data = { callId: findCallId(own), approved: true };
  const answer = { messageId: 'm2', taskId: own.id, parts: [{ data }] };
  assert.equal((await send(opened, answer, { headers: one })).status.state, 'TASK_STATE_COMPLETED');
  const line = `GET ${BASE}/tasks/${encodeURIComponent(own.id)}`;
  const state = async (headers: Headers): Promise<string> =>
    ((await (await ask(opened, line, { headers })).json()) as Task).status.state;
  assert.deepEqual(
    [await state(one), await state(two)],
    ['TASK_STATE_COMPLETED', 'TASK_STATE_INPUT_REQUIRED'],
  );
  const third = { 'x-api-key': (await opened.server.keys.create('three', 'test')).token };
  await fail(await ask(opened, line, { headers: third }), 404, /no task/);
  const listed = await ask(opened, `GET ${BASE}/tasks`, { headers: third });
  assert.equal(((await listed.json()) as { readonly totalSize: number }).totalSize, 0);
});

test('an address inside the network is refused for push notifications, and nothing is sent to it', async () => {
  await using opened = await open();
  const { id } = await send(opened, hello('m1'));
  const line = `POST ${BASE}/tasks/${encodeURIComponent(id)}/pushNotificationConfigs`;
  for (const url of ['http://127.0.0.1:1/', 'https://169.254.169.254/', 'file:///etc/passwd', 'x'])
    await fail(await ask(opened, line, { body: { url } }), 400, /url/);
  const configuration = { taskPushNotificationConfig: { url: 'http://10.0.0.1/' } };
  const body = { message: { role: 'ROLE_USER', ...hello('m2') }, configuration };
  await fail(await ask(opened, `POST ${BASE}/message:send`, { body }), 400, /url/);
  const listed = (await (await ask(opened, `GET ${BASE}/tasks`)).json()) as {
    readonly tasks: readonly Task[];
  };
  assert.equal(listed.tasks.length, 1);
});
