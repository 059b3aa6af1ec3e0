import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../../agents/index.ts';
import { isFunctionResponsePart } from '../../../core/index.ts';
import { ScriptedModel } from '../../../models/index.ts';
import type { ModelScript } from '../../../models/index.ts';
import { openRuntime } from '../../../runtime/index.ts';
import { MemoryStore } from '../../../store/index.ts';
import { tool } from '../../../tools/index.ts';
import { createServer } from '../../create-server.ts';
import type { Server } from '../../create-server.ts';

/** Thinks, calls `erase`, and tells the result in pieces. */
const script: ModelScript = ({ contents }) => {
  const results = (contents.at(-1)?.parts ?? []).filter(isFunctionResponsePart);
  if (results.length === 0)
    return {
      thinking: 'Hm.',
      text: 'I erase it.',
      toolCalls: [{ name: 'erase', args: { path: 'a' } }],
    };
  return { deltas: ['It is ', 'gone', '.'], text: 'It is gone.' };
};

interface Opened extends AsyncDisposable {
  readonly server: Server;
  readonly ran: string[];
}

async function open(needsApproval: boolean, store = new MemoryStore()): Promise<Opened> {
  const ran: string[] = [];
  const erase = tool({
    name: 'erase',
    description: 'Erases.',
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
    needsApproval,
    execute: (_, { state }) => {
      ran.push('erase');
      state.set('a~b', 1);
      return { ok: true };
    },
  });
  const model = new ScriptedModel(script);
  const runtime = await openRuntime({
    agents: [agent({ name: 'cleaner', model, tools: [erase] })],
    store,
  });
  const server = await createServer({ runtime, keys: 'when-created', protocols: ['ag-ui'] });
  return {
    server,
    ran,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await runtime.close();
    },
  };
}

interface SentFrame {
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>> & { readonly type: string };
}

const user = { id: 'm1', role: 'user', content: 'Erase it.' };

async function post(
  { server }: Opened,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return server.fetch(
    new Request('http://localhost/ag-ui/agent_cleaner', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ threadId: 't1', runId: 'r1', messages: [user], ...body }),
    }),
  );
}

async function run(
  opened: Opened,
  body: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly SentFrame[]> {
  const response = await post(opened, body, headers);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return [...text.matchAll(/^id: (.*)\ndata: (.*)$/gm)].map(([, id = '', data = '']) => ({
    id,
    data: JSON.parse(data) as SentFrame['data'],
  }));
}

const types = (frames: readonly SentFrame[]): readonly string[] =>
  frames.map(({ data }) => data.type);

/** The text of the messages that frames make. */
function joinText(frames: readonly SentFrame[]): string {
  return frames
    .map(({ data }) => (data.type === 'TEXT_MESSAGE_CONTENT' ? String(data['delta']) : ''))
    .join('');
}

test('a run has thoughts, text, calls with results, changes of state, and an end', async () => {
  await using opened = await open(false);
  const frames = await run(opened);
  const found = types(frames).filter((type, index, all) => type !== all[index - 1]);
  assert.deepEqual(found, [
    'RUN_STARTED',
    'STATE_SNAPSHOT',
    'REASONING_START',
    'REASONING_MESSAGE_START',
    'REASONING_MESSAGE_CONTENT',
    ...found.slice(5, found.indexOf('TOOL_CALL_START')),
    'TOOL_CALL_START',
    'TOOL_CALL_ARGS',
    'TOOL_CALL_END',
    'STATE_DELTA',
    'TOOL_CALL_RESULT',
    'TEXT_MESSAGE_START',
    'TEXT_MESSAGE_CONTENT',
    'TEXT_MESSAGE_END',
    'MESSAGES_SNAPSHOT',
    'RUN_FINISHED',
  ]);
  const patch = frames.find(({ data }) => data.type === 'STATE_DELTA')?.data['delta'];
  assert.deepEqual(patch, [{ op: 'add', path: '/a~0b', value: 1 }]);
  const count = (type: string): number => types(frames).filter((one) => one === type).length;
  assert.deepEqual([count('REASONING_START'), count('REASONING_END')], [1, 1]);
  const [span, message] = frames.flatMap(({ data }) =>
    data.type.startsWith('REASONING') && data.type.endsWith('START') ? [data['messageId']] : [],
  );
  assert.notEqual(span, message);
  const spoken = frames.filter(({ data }) =>
    ['TEXT_MESSAGE_START', 'REASONING_START', 'TOOL_CALL_START'].includes(data.type),
  );
  for (const { data } of spoken) assert.deepEqual(data['metadata'], { agent: 'cleaner' });
});

test('a run begins with the state of the session, and the client keeps what only it has', async () => {
  await using opened = await open(false);
  const stateOf = (frames: readonly SentFrame[]): unknown =>
    frames.find(({ data }) => data.type === 'STATE_SNAPSHOT')?.data['snapshot'];
  assert.deepEqual(stateOf(await run(opened, { state: { mine: 1 } })), { mine: 1 });
  const next = { id: 'm2', role: 'user', content: 'Again.' };
  const frames = await run(opened, { messages: [next], state: { mine: 2, 'a~b': 0 } });
  assert.deepEqual(stateOf(frames), { mine: 2, 'a~b': 1 });
  assert.deepEqual(stateOf(await run(opened, { messages: [{ ...next, id: 'm3' }], state: 'x' })), {
    'a~b': 1,
  });
});

const snapshotOf = (frames: readonly SentFrame[]): readonly Record<string, unknown>[] =>
  frames.findLast(({ data }) => data.type === 'MESSAGES_SNAPSHOT')?.data[
    'messages'
  ] as readonly Record<string, unknown>[];

test('a run ends with all messages of the thread: of all roles, with calls and results, and ids as they were streamed', async () => {
  await using opened = await open(false);
  const rules = { id: 's', role: 'system', content: 'Be kind.' };
  const frames = await run(opened, { messages: [rules, user] });
  const messages = snapshotOf(frames);
  assert.deepEqual(
    messages.map(({ role, content }) => [role, content]),
    [
      ['system', 'Be kind.'],
      ['user', 'Erase it.'],
      ['reasoning', 'Hm.'],
      ['assistant', 'I erase it.'],
      ['tool', '{"ok":true}'],
      ['assistant', 'It is gone.'],
    ],
  );
  const streamed = new Set(frames.map(({ data }) => data['messageId']));
  for (const { id, role } of messages)
    assert.ok(['system', 'user'].includes(String(role)) || streamed.has(id), String(id));
  const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls as readonly object[]);
  const toolCallId = frames.find(({ data }) => data.type === 'TOOL_CALL_START')?.data['toolCallId'];
  assert.deepEqual(calls, [
    { id: toolCallId, type: 'function', function: { name: 'erase', arguments: '{"path":"a"}' } },
  ]);
  assert.equal(messages.find(({ role }) => role === 'tool')?.['toolCallId'], toolCallId);
});

test('a client without messages gets those of the thread, and its last run', async () => {
  const store = new MemoryStore();
  let all: readonly object[] = [];
  {
    await using opened = await open(false, store);
    await run(opened);
    all = snapshotOf(await run(opened, { messages: [{ ...user, id: 'm2' }] }));
  }
  await using opened = await open(false, store);
  const frames = await run(opened, { messages: [] });
  const [before] = frames.filter(({ data }) => data.type === 'MESSAGES_SNAPSHOT');
  const count = all.findIndex((message) => 'id' in message && message.id === 'm2');
  assert.deepEqual(before?.data['messages'], all.slice(0, count + 1));
  assert.deepEqual(snapshotOf(frames), all);
  assert.equal(joinText(frames), 'I erase it.It is gone.');
});

test('a client without messages gets the calls that wait, and not those that were answered', async () => {
  await using opened = await open(true);
  const waiting = (frames: readonly SentFrame[]): unknown => frames.at(-1)?.data['outcome'];
  const outcome = waiting(await run(opened));
  assert.deepEqual(waiting(await run(opened, { messages: [] })), outcome);
  const { interrupts } = outcome as { readonly interrupts: readonly { readonly id: string }[] };
  const resume = [
    { interruptId: interrupts[0]?.id, status: 'resolved', payload: { approved: true } },
  ];
  await run(opened, { messages: [user], resume });
  const after = waiting(await run(opened, { messages: [] }));
  assert.deepEqual(after, { type: 'success', pendingToolCallIds: [] });
});

test('a client that comes back after any frame gets the frames after it, and no letter twice', async () => {
  await using opened = await open(false);
  const frames = await run(opened);
  const stored = await run(opened);
  assert.equal(joinText(stored), joinText(frames));
  for (const [index, { id }] of frames.entries()) {
    const rest = await run(opened, {}, { 'last-event-id': id });
    const text = joinText(frames.slice(0, index + 1)) + joinText(rest);
    assert.equal(text, 'I erase it.It is gone.', id);
    const kinds = new Set([
      'TOOL_CALL_START',
      'TOOL_CALL_RESULT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    const seen = types([...frames.slice(0, index + 1), ...rest]).filter((type) => kinds.has(type));
    assert.deepEqual(
      seen,
      types(stored).filter((type) => kinds.has(type)),
      id,
    );
  }
  assert.deepEqual(opened.ran, ['erase']);
});

test('an approval waits over a restart, and a repeated answer counts once', async () => {
  const store = new MemoryStore();
  let interrupts: unknown;
  {
    await using opened = await open(true, store);
    const frames = await run(opened);
    const outcome = frames.at(-1)?.data['outcome'] as { readonly interrupts: unknown };
    ({ interrupts } = outcome);
  }
  const [{ id, reason, toolCallId }] = interrupts as readonly [Record<string, string>];
  assert.deepEqual([reason, toolCallId], ['confirmation', id]);
  await using opened = await open(true, store);
  const resume = [{ interruptId: id, status: 'resolved', payload: { approved: true } }];
  const seen = { id: 'm2', role: 'assistant', content: 'I erase it.' };
  const body = { messages: [user, seen], resume };
  const first = await run(opened, body);
  const again = await run(opened, body);
  assert.deepEqual([joinText(first), joinText(again)], ['It is gone.', 'It is gone.']);
  assert.deepEqual(opened.ran, ['erase']);
  const other = { ...body, resume: [{ ...resume[0], payload: { approved: false } }] };
  const refused = await post(opened, other);
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /already/);
});

test('a client that has a part of a run gets its messages before the run, then all of the run', async () => {
  await using opened = await open(false);
  await run(opened);
  const frames = await run(opened, {
    messages: [user, { id: 'x', role: 'assistant', content: 'I er' }],
  });
  const before = frames.find(({ data }) => data.type === 'MESSAGES_SNAPSHOT')?.data['messages'];
  assert.deepEqual(before, [user]);
  assert.equal(joinText(frames), 'I erase it.It is gone.');
  assert.deepEqual(opened.ran, ['erase']);
});

test('a request without anything new, for another agent, or with an invalid answer is refused by name', async () => {
  await using opened = await open(true);
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ messages: [] }, /messages: has no message of the user/],
    [{ messages: [user, { id: 'x', role: 'assistant' }] }, /has nothing new/],
    [{ messages: [{ ...user, content: [{ type: 'poem' }] }] }, /messages\[0\]\.content\[0\]/],
    [{ tools: [{ name: 'transfer_to_agent' }] }, /reserved/],
    [{ threadId: '' }, /threadId/],
    [{ resume: [{ interruptId: 'none', status: 'resolved' }] }, /none/],
  ];
  for (const [body, message] of refused) {
    const response = await post(opened, body);
    assert.equal(response.status, 400, JSON.stringify(body));
    assert.match(await response.text(), message);
  }
});

test('a thread of another workspace is another thread, which nobody else can cancel', async () => {
  await using opened = await open(true);
  const one = await opened.server.keys.create('one', 'test');
  const two = await opened.server.keys.create('two', 'test');
  assert.equal((await post(opened, {})).status, 401);
  const own = await run(opened, {}, { 'x-api-key': one.token });
  const cancel = async (token: string): Promise<number> => {
    const request = new Request('http://localhost/ag-ui/agent_cleaner/threads/t1/cancel', {
      method: 'POST',
      headers: { 'x-api-key': token },
    });
    return (await opened.server.fetch(request)).status;
  };
  assert.equal(await cancel(two.token), 404);
  const others = await run(opened, {}, { 'x-api-key': two.token });
  assert.notDeepEqual(own.at(-1)?.data['outcome'], undefined);
  assert.equal(types(others).at(-1), 'RUN_FINISHED');
  assert.equal(await cancel(one.token), 200);
});
