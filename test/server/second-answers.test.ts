import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { countingTool, openServerFixture, userMessage } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

type Json = Readonly<Record<string, unknown>>;

test('a call that two people answer runs once, and the second one is told who was first, when, and how', async () => {
  const lint = countingTool('lint');
  await using on = await openServerFixture(scriptedChat, {
    tools: [lint],
    server: { keys: 'required' },
  });
  const [one, other] = await Promise.all([
    on.server.keys.create('default', 'one'),
    on.server.keys.create('default', 'other'),
  ]);
  const ask = async (
    token: string,
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly body: Json }> => {
    const response = await fetch(`${on.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': token, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Json };
  };
  const agent = await ask(one.token, '/v1/agents', {
    name: 'Helper',
    model: 'gemini-2.5-flash',
    tools: [{ type: 'builtin', name: 'lint' }],
    permission_policy: { default: 'prompt' },
  });
  const { id } = (await ask(one.token, '/v1/sessions', { agent: agent.body['id'] })).body;
  const events = `/v1/sessions/${String(id)}/events`;
  await ask(one.token, events, { events: [userMessage('call lint x')] });
  let call: Json | undefined;
  while (call === undefined)
    call = ((await ask(one.token, '/v1/pending')).body['data'] as readonly Json[])[0];
  const confirm = async (
    token: string,
    result: 'allow' | 'deny',
    more: object = {},
  ): ReturnType<typeof ask> =>
    ask(token, events, {
      events: [{ type: 'user.tool_confirmation', tool_use_id: call['id'], result, ...more }],
    });

  const stale = await confirm(one.token, 'allow', { fingerprint: 'another' });
  assert.equal(stale.status, 400);
  assert.match(JSON.stringify(stale.body), /fingerprint.*review its current arguments/);
  const { fingerprint } = call;
  assert.equal((await confirm(one.token, 'allow', { fingerprint })).status, 200);
  while (lint.ran.length === 0) await ask(one.token, '/v1/pending');
  assert.equal((await confirm(one.token, 'allow', { fingerprint })).status, 200, 'a repetition');
  for (const result of ['allow', 'deny'] as const) {
    const { status, body } = await confirm(other.token, result);
    assert.equal(status, 400, result);
    const { details, message } = body['error'] as {
      readonly details: Json;
      readonly message: string;
    };
    const { answered_at, ...facts } = details;
    assert.deepEqual(facts, {
      error_code: 'already_answered',
      call_id: call['id'],
      answered_by: one.key.id,
      decision: 'approved',
    });
    assert.match(String(answered_at), /^\d{4}-\d\d-\d\dT/);
    assert.match(message, /was already answered.*approved with the key/);
  }
  assert.equal(lint.ran.length, 1);
});

test('while the owner of a session has not read an answer, an equal one is accepted, and another one is refused', async () => {
  const store = new MemoryStore();
  const began = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const slow = tool({
    name: 'slow',
    description: 'Works while the other call waits.',
    execute: async () => {
      began.resolve();
      await mayEnd.promise;
    },
  });
  await using on = await openServerFixture(
    () => ({ toolCalls: [{ name: 'lint', args: {} }, { name: 'slow' }] }),
    { tools: [countingTool('lint'), slow], store },
  );
  const ask = async (path: string, body?: object): Promise<[status: number, body: Json]> => {
    const response = await fetch(`${on.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return [response.status, (await response.json()) as Json];
  };
  const [, agent] = await ask('/v1/agents', {
    name: 'Helper',
    model: 'gemini-2.5-flash',
    tools: ['lint', 'slow'].map((name) => ({ type: 'builtin', name })),
    permission_policy: { default: 'auto_approve', tools: { lint: 'prompt' } },
  });
  const [, { id }] = await ask('/v1/sessions', { agent: agent['id'] });
  const events = `/v1/sessions/${String(id)}/events`;
  await ask(events, { events: [userMessage('Go.')] });
  await began.promise;
  let calls: readonly Json[] = [];
  while (calls.length === 0) calls = (await ask('/v1/pending'))[1]['data'] as readonly Json[];
  // Another process owns the session and reads nothing.
  const [row] = await store.list({});
  assert.ok(row !== undefined);
  await store.join('hanging');
  await store.evict(row.key);
  assert.ok((await store.claim(row.key, 'hanging')).ok);
  const confirm = async (result: 'allow' | 'deny'): Promise<number> => {
    const [status] = await ask(events, {
      events: [{ type: 'user.tool_confirmation', tool_use_id: calls[0]?.['id'], result }],
    });
    return status;
  };
  assert.deepEqual(
    [await confirm('deny'), await confirm('deny'), await confirm('allow'), await confirm('deny')],
    [200, 200, 400, 200],
  );
  mayEnd.resolve();
});
