import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptedChat } from '../../test/server/scripted-chat.ts';
import { openServerFixture } from '../../test/server/server-fixture.ts';
import { tool } from '../tools/index.ts';
import { ApiError, createClient, TurnNotCompletedError, userMessage } from './index.ts';
import type { Client } from './index.ts';

const remove = tool({
  name: 'remove',
  description: 'Deletes a file',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
  execute: ({ path }) => ({ deleted: path ?? null }),
});
const tools = [
  { type: 'builtin', name: 'remove' },
  { type: 'custom', name: 'look', description: 'Looks', input_schema: { type: 'object' } },
];

async function openSession(
  url: string,
  more: readonly object[] = [],
): Promise<{ client: Client; id: string }> {
  const client = createClient({ baseUrl: url, delay: async () => {} });
  const params = {
    name: 'Helper',
    model: 'gemini-2.5-flash',
    tools: [...tools, ...more],
    permission_policy: { default: 'auto_approve', tools: { remove: 'prompt' } },
  };
  const agent = await client.agents.create(params as Parameters<Client['agents']['create']>[0]);
  return { client, id: (await client.sessions.create({ agent: agent.id })).id };
}

async function rejection(promise: Promise<unknown>): Promise<TurnNotCompletedError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof TurnNotCompletedError, String(error));
  return error;
}

async function lastText(client: Client, id: string): Promise<string | undefined> {
  let text: string | undefined;
  for await (const event of client.sessions.events(id)) {
    if (!('seq' in event)) continue;
    if (event.type === 'agent.message')
      text = event.content.map((block) => ('text' in block ? block.text : '')).join('');
    if (event.type === 'session.status_idle') return text;
  }
  return text;
}

const hasCode = (code: string) => (error: unknown) =>
  error instanceof ApiError && error.errorCode === code;

test('ask resolves with the text of the answer to this message', async () => {
  await using on = await openServerFixture(scriptedChat, { tools: [remove] });
  const { client, id } = await openSession(on.url);
  assert.equal(await client.sessions.ask(id, 'Hi'), 'You said: Hi');
  const both = [client.sessions.ask(id, 'one'), client.sessions.ask(id, 'two')];
  assert.deepEqual(await Promise.all(both), ['You said: one', 'You said: two']);
});

test('ask sends three requests for a session that does not wait', async () => {
  await using on = await openServerFixture(scriptedChat, { tools: [remove] });
  const { id } = await openSession(on.url);
  const requests: string[] = [];
  const client = createClient({
    baseUrl: on.url,
    fetch: async (input, init) => {
      requests.push(`${init?.method} ${new URL(String(input)).pathname.split('/').at(-1)}`);
      return fetch(input, init);
    },
  });
  assert.equal(await client.sessions.ask(id, 'Hi'), 'You said: Hi');
  assert.deepEqual(requests, [`GET ${id}`, 'POST events', 'GET stream']);
});

test('a message may have the schema of its answer, which is refused by name if it is none', async () => {
  const seen: unknown[] = [];
  await using on = await openServerFixture(
    ({ config }) => {
      seen.push(config?.responseSchema);
      return { text: config?.responseSchema === undefined ? 'Seven.' : '{"total":7}' };
    },
    { tools: [remove] },
  );
  const { client, id } = await openSession(on.url);
  const schema = {
    type: 'object',
    properties: { total: { type: 'number' } },
    required: ['total'],
  };
  const question = { ...userMessage('How much?'), output_schema: schema } as const;
  const key = { idempotencyKey: 'm1' };
  assert.equal(await client.sessions.ask(id, question, key), '{"total":7}');
  assert.equal(await client.sessions.ask(id, question, key), '{"total":7}');
  assert.equal(await client.sessions.ask(id, 'Hi'), 'Seven.');
  assert.deepEqual(seen, [schema, undefined], 'the schema is that of one message');
  const wrongSchemas: readonly unknown[] = [{ type: 'array' }, 'text', []];
  for (const wrong of wrongSchemas)
    await assert.rejects(
      client.sessions.send(id, [{ ...userMessage('?'), output_schema: wrong as typeof schema }]),
      (error) =>
        error instanceof ApiError && error.status === 400 && /output_schema/.test(error.message),
    );
  const started = await client.sessions.create({
    agent: (await client.sessions.get(id)).agent.id,
    initial_events: [question],
  });
  assert.equal(await lastText(client, started.id), '{"total":7}');
});

test('a turn that waits rejects with its calls; approve, deny and answer continue it, once', async () => {
  await using on = await openServerFixture(scriptedChat, { tools: [remove] });
  const { client, id } = await openSession(on.url);
  const { sessions } = client;
  const key = { idempotencyKey: 'm1' };
  const waiting = await rejection(sessions.ask(id, 'call remove a.txt', key));
  const [call] = waiting.pending;
  assert.deepEqual(
    [waiting.stopReason, call?.name, call?.args, call?.needs],
    ['requires_action', 'remove', { path: 'a.txt' }, 'approval'],
  );
  const queued = await rejection(sessions.ask(id, 'Hi'));
  assert.deepEqual([queued.isQueued, queued.pending], [true, waiting.pending]);
  const callId = call?.id ?? '';
  await sessions.approve(id, callId);
  assert.equal(await sessions.ask(id, 'call remove a.txt', key), 'Results: {"deleted":"a.txt"}');
  await assert.rejects(sessions.deny(id, callId), hasCode('already_answered'));
  await assert.rejects(sessions.approve(id, 'event_none'), ApiError);

  const denied = await rejection(sessions.ask(id, 'call remove b.txt', { idempotencyKey: 'm2' }));
  await sessions.deny(id, denied.pending[0]?.id ?? '', { message: 'Keep it.' });
  const text = await sessions.ask(id, 'call remove b.txt', { idempotencyKey: 'm2' });
  assert.match(text, /Keep it\./);

  const look = await rejection(sessions.ask(id, 'call look x', { idempotencyKey: 'm3' }));
  assert.equal(look.pending[0]?.needs, 'result');
  await sessions.answer(id, look.pending[0].id, 'Three files.');
  assert.match(await sessions.ask(id, 'call look x', { idempotencyKey: 'm3' }), /Three files\./);
});

test('a turn does not count as waiting while an answer to its call is accepted and not processed', async () => {
  const at = '2026-01-02T03:04:05.000Z';
  const waiting = { type: 'requires_action', event_ids: ['call'] };
  const log = [
    { id: 'm', type: 'user.message', seq: 1, content: [] },
    { id: 'call', type: 'agent.tool_use', seq: 2, name: 'remove', input: {} },
    { id: 'wait', type: 'session.status_idle', seq: 3, stop_reason: waiting },
    { id: 'yes', type: 'user.tool_confirmation', seq: 4, tool_use_id: 'call', result: 'allow' },
    { id: 'text', type: 'agent.message', seq: 5, content: [{ type: 'text', text: 'Deleted.' }] },
    { id: 'end', type: 'session.status_idle', seq: 6, stop_reason: { type: 'end_turn' } },
  ].map((event) => ({ ...event, processed_at: at }));
  const accepted = { ...log[3], processed_at: null };
  const server = async (url: string, method: string): Promise<Response> => {
    if (method === 'POST') return Response.json({ data: [log[0]] });
    if (url.endsWith('/v1/sessions/s')) return Response.json({ id: 's', last_seq: 3 });
    if (url.includes('/stream'))
      return new Response(log.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    return Response.json({ data: url.includes('tool_confirmation') ? [accepted] : [log[2]] });
  };
  const client = createClient({
    fetch: async (input, init) => server(String(input), init?.method ?? 'GET'),
  });
  const key = { idempotencyKey: 'm1' };
  assert.equal(await client.sessions.ask('s', 'Delete it.', key), 'Deleted.');
});

test('a turn that fails or is interrupted rejects with the reason', async () => {
  await using on = await openServerFixture(scriptedChat, { tools: [remove] });
  const { client, id } = await openSession(on.url);
  const failed = await rejection(client.sessions.ask(id, 'fail'));
  assert.equal(failed.stopReason, 'retries_exhausted');
  assert.ok(failed.error !== undefined);
  const key = { idempotencyKey: 'm1' };
  await rejection(client.sessions.ask(id, 'call remove a.txt', key));
  await client.sessions.send(id, [{ type: 'user.interrupt' }]);
  assert.equal(
    (await rejection(client.sessions.ask(id, 'call remove a.txt', key))).stopReason,
    'interrupted',
  );
});

test('an aborted signal ends the wait for the answer, not the turn', async () => {
  const mayEnd = Promise.withResolvers<undefined>();
  const held = tool({
    name: 'hold',
    description: 'Runs until it may end',
    parameters: { type: 'object' },
    execute: async () => mayEnd.promise.then(() => 'let go'),
  });
  await using on = await openServerFixture(scriptedChat, { tools: [remove, held] });
  const { client, id } = await openSession(on.url, [{ type: 'builtin', name: 'hold' }]);
  const controller = new AbortController();
  const asking = client.sessions.ask(id, 'call hold x', {
    idempotencyKey: 'm1',
    signal: controller.signal,
  });
  for await (const event of client.sessions.events(id))
    if (event.type === 'session.status_running') break;
  controller.abort(new Error('enough'));
  await assert.rejects(asking, /enough/);
  mayEnd.resolve(undefined);
  const text = await client.sessions.ask(id, 'call hold x', { idempotencyKey: 'm1' });
  assert.match(text, /^Results: .*let go/);
});
