import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../../agents/index.ts';
import { contentText, isFunctionResponsePart } from '../../../core/index.ts';
import { ScriptedModel } from '../../../models/index.ts';
import type { ModelScript } from '../../../models/index.ts';
import { openRuntime } from '../../../runtime/index.ts';
import { MemoryStore } from '../../../store/index.ts';
import { tool } from '../../../tools/index.ts';
import { createServer } from '../../create-server.ts';
import type { Server } from '../../create-server.ts';
import { cutEvent } from './response-fold.ts';

/** `erase`: calls the tool. `pick`: calls the tool of the client. Otherwise lists what was said. */
const script: ModelScript = ({ contents }) => {
  const parts = contents.at(-1)?.parts ?? [];
  const results = parts.filter(isFunctionResponsePart);
  if (results.length > 0)
    return {
      thinking: 'Hm.',
      deltas: ['It ', 'is ', 'done.'],
      text: 'It is done.',
      usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8 },
    };
  const last = contentText(contents.at(-1));
  if (last === 'erase') return { toolCalls: [{ name: 'erase', args: { path: 'a' } }] };
  if (last === 'pick') return { toolCalls: [{ name: 'pick', args: {} }] };
  if (last === 'fail') return { error: { kind: 'bad_request', message: 'No.' } };
  return { text: contents.map((content) => contentText(content)).join('|') };
};

interface Opened extends AsyncDisposable {
  readonly server: Server;
  readonly ran: string[];
}

async function open({
  needsApproval = false,
  store = new MemoryStore(),
}: { readonly needsApproval?: boolean; readonly store?: MemoryStore } = {}): Promise<Opened> {
  const ran: string[] = [];
  const erase = tool({
    name: 'erase',
    description: 'Erases.',
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
    needsApproval,
    execute: () => {
      ran.push('erase');
      return { ok: true };
    },
  });
  const model = new ScriptedModel(script);
  const runtime = await openRuntime({
    agents: [agent({ name: 'helper', model, tools: [erase] })],
    store,
  });
  const server = await createServer({ runtime, keys: 'when-created', protocols: ['openai'] });
  return {
    server,
    ran,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await runtime.close();
    },
  };
}

type Body = Readonly<Record<string, unknown>>;

interface Item {
  readonly type: string;
  readonly id: string;
  readonly call_id: string;
  readonly output: string;
  readonly content: readonly { readonly text: string }[];
}

interface ResponseBody {
  readonly id: string;
  readonly status: string;
  readonly output: readonly Item[];
  readonly conversation: { readonly id: string };
  readonly usage: object | null;
  readonly error: { readonly message: string } | null;
}

async function send(
  { server }: Opened,
  path: string,
  body?: Body,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return server.fetch(
    new Request(`http://localhost/openai/v1/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
}

async function respond(
  opened: Opened,
  body: Body,
  headers: Readonly<Record<string, string>> = {},
): Promise<ResponseBody> {
  const response = await send(opened, 'responses', { model: 'agent_helper', ...body }, headers);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text) as ResponseBody;
}

const joinText = ({ output }: Pick<ResponseBody, 'output'>): string =>
  output
    .flatMap(({ type, content }) => (type === 'message' ? content.map(({ text }) => text) : []))
    .join('');

interface StreamEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly delta?: string;
  readonly response?: ResponseBody;
}

async function readEvents(response: Response): Promise<readonly StreamEvent[]> {
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return [...text.matchAll(/^event: .*\ndata: (.*)$/gm)].map(
    ([, data = '']) => JSON.parse(data) as StreamEvent,
  );
}

const joinDeltas = (events: readonly StreamEvent[], type: string): string =>
  events.map((event) => (event.type === type ? (event.delta ?? '') : '')).join('');

test('a stream is resumed after any sequence number, with no letter twice and none missing', async () => {
  await using opened = await open();
  const live = await readEvents(
    await send(opened, 'responses', { model: 'agent_helper', input: 'erase', stream: true }),
  );
  const numbers = live.map(({ sequence_number: number }) => number);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].toSorted((a, b) => a - b),
  );
  const deltas = 'response.output_text.delta';
  assert.equal(joinDeltas(live, deltas), 'It is done.');
  assert.equal(joinDeltas(live, 'response.reasoning_text.delta'), 'Hm.');
  const { id } = live[0]?.response ?? { id: '' };
  const last = live.at(-1)?.response;
  assert.deepEqual(
    last?.output.map(({ type }) => type),
    ['mcp_call', 'reasoning', 'message'],
  );
  assert.equal(last.output[0]?.output, '{"ok":true}');
  for (const [index, { sequence_number: after }] of live.entries()) {
    const path = `responses/${id}?stream=true&starting_after=${after}`;
    const rest = await readEvents(await send(opened, path));
    const had = live.slice(0, index + 1);
    assert.equal(joinDeltas(had, deltas) + joinDeltas(rest, deltas), 'It is done.');
    const others = (events: readonly StreamEvent[]): readonly unknown[] =>
      events.filter(({ delta }) => delta === undefined).map(({ type }) => type);
    assert.deepEqual([...others(had), ...others(rest)], others(live));
    assert.deepEqual(rest.at(-1)?.response ?? last, last);
  }
  const whole = (await (await send(opened, `responses/${id}`)).json()) as ResponseBody;
  assert.deepEqual(whole, last);
  assert.deepEqual(opened.ran, ['erase']);
});

test('a reader inside a piece of text gets the rest of the piece', () => {
  const event = { type: 'd', number: 9, data: { type: 'd', delta: 'abcd' } };
  assert.deepEqual(cutEvent(event, 7)?.['delta'], 'cd');
  assert.deepEqual(cutEvent(event, 5)?.['delta'], 'abcd');
  assert.equal(cutEvent(event, 9), undefined);
});

test('a response continues the last, and one that was continued already is continued in a copy', async () => {
  await using opened = await open();
  const one = await respond(opened, { input: 'one' });
  const two = await respond(opened, { input: 'two', previous_response_id: one.id });
  assert.equal(two.conversation.id, one.conversation.id);
  assert.equal(joinText(two), 'one|one|two');
  const other = await respond(opened, { input: 'other', previous_response_id: one.id });
  assert.notEqual(other.conversation.id, one.conversation.id);
  assert.equal(joinText(other), 'one|one|other');
});

test('a request with earlier items starts a session that has them', async () => {
  await using opened = await open();
  const history = [
    { role: 'user', content: 'Hi' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
    { role: 'user', content: [{ type: 'input_text', text: 'How?' }] },
  ];
  assert.equal(joinText(await respond(opened, { input: history })), 'Hi|Hello|How?');
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'How?' },
  ];
  const chat = await send(opened, 'chat/completions', { model: 'agent_helper', messages });
  const { choices } = (await chat.json()) as {
    readonly choices: readonly { readonly message: { readonly content: string } }[];
  };
  assert.equal(choices[0]?.message.content, 'Hi|Hello|How?');
});

test('a request that is repeated counts once, over a restart of the server', async () => {
  const store = new MemoryStore();
  const headers = { 'idempotency-key': 'k1' };
  await using opened = await open({ store });
  const first = await respond(opened, { input: 'erase' }, headers);
  await using reopened = await open({ store });
  assert.deepEqual(await respond(reopened, { input: 'erase' }, headers), first);
  assert.deepEqual([opened.ran, reopened.ran], [['erase'], []]);
});

test('a call that needs an approval and a call of a client wait over a restart', async () => {
  const store = new MemoryStore();
  const pick = { type: 'function', name: 'pick', parameters: { type: 'object', properties: {} } };
  const waiting = await (async () => {
    await using opened = await open({ needsApproval: true, store });
    const asked = await respond(opened, { input: 'erase', conversation: 'c1' });
    const called = await respond(opened, { input: 'pick', tools: [pick] });
    return { asked, called };
  })();
  await using opened = await open({ needsApproval: true, store });
  const [approval] = waiting.asked.output;
  assert.equal(approval?.type, 'mcp_approval_request');
  const answer = {
    type: 'mcp_approval_response',
    approval_request_id: approval.id,
    approve: true,
  };
  const approved = await respond(opened, { input: [answer], conversation: 'c1' });
  assert.equal(joinText(approved), 'It is done.');
  assert.deepEqual(await respond(opened, { input: [answer], conversation: 'c1' }), approved);
  assert.deepEqual(opened.ran, ['erase']);
  const [call] = waiting.called.output;
  assert.equal(call?.type, 'function_call');
  // The id of the call names its session.
  const output = { type: 'function_call_output', call_id: call.call_id, output: '{"a":1}' };
  const done = await respond(opened, { input: [{ role: 'user', content: 'pick' }, call, output] });
  assert.equal(joinText(done), 'It is done.');
  assert.equal(done.conversation.id, waiting.called.conversation.id);
});

test('a response in the background is read later, also after a failure', async () => {
  await using opened = await open();
  const started = await respond(opened, { input: 'fail', background: true });
  assert.match(started.status, /^(queued|in_progress|failed)$/);
  const events = await readEvents(await send(opened, `responses/${started.id}?stream=true`));
  assert.equal(events.at(-1)?.type, 'response.failed');
  const read = (await (await send(opened, `responses/${started.id}`)).json()) as ResponseBody;
  assert.deepEqual([read.status, read.error?.message], ['failed', 'Model "scripted": No.']);
  const cancelled = await send(opened, `responses/${started.id}/cancel`, {});
  assert.equal(((await cancelled.json()) as ResponseBody).status, 'failed');
});

test('errors have the form of the API, and name the field', async () => {
  await using opened = await open();
  const fail = async (path: string, body?: Body): Promise<unknown> => {
    const response = await send(opened, path, body);
    const { error } = (await response.json()) as { readonly error: { readonly message: string } };
    return [response.status, error.message.replace(/[.:;] .*$/, '')];
  };
  const model = 'agent_helper';
  assert.deepEqual(await fail('responses/resp_x'), [404, 'There is no response "resp_x".']);
  assert.deepEqual(await fail('responses', { input: 'a' }), [400, 'model']);
  assert.deepEqual(await fail('responses', { model, input: [] }), [400, 'input']);
  const search = { model, input: 'a', tools: [{ type: 'web_search' }] };
  assert.deepEqual(await fail('responses', search), [400, 'tools[0].type']);
  const audio = { model, input: [{ type: 'computer_call_output' }] };
  assert.deepEqual(await fail('responses', audio), [400, 'input[0].type']);
  const lost = { type: 'function_call_output', call_id: 'call_1', output: 'x' };
  assert.deepEqual(await fail('responses', { model, input: [lost] }), [400, 'call_id']);
  const messages = [{ role: 'pope', content: 'x' }];
  assert.deepEqual(await fail('chat/completions', { model, messages }), [400, 'messages[0].role']);
});

test('another workspace has no responses of the first', async () => {
  await using opened = await open();
  const one = await opened.server.keys.create('one', 'key');
  const two = await opened.server.keys.create('two', 'key');
  const key = (token: string): Readonly<Record<string, string>> => ({
    authorization: `Bearer ${token}`,
  });
  const own = await respond(opened, { input: 'hi' }, key(one.token));
  const read = async (token: string): Promise<number> =>
    (await send(opened, `responses/${own.id}`, undefined, key(token))).status;
  assert.deepEqual([await read(one.token), await read(two.token)], [200, 404]);
  const body = { input: 'x', previous_response_id: own.id };
  const taken = await send(opened, 'responses', body, key(two.token));
  assert.equal(taken.status, 404);
  const models = await send(opened, 'models', undefined, key(two.token));
  const { data } = (await models.json()) as { readonly data: readonly { readonly id: string }[] };
  assert.deepEqual(
    data.map(({ id }) => id),
    ['agent_helper'],
  );
});
