import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient, userMessage } from '../../src/client/index.ts';
import type {
  ApiError,
  Client,
  PendingCallChange,
  SessionListChange,
} from '../../src/client/index.ts';
import type { JsonObject } from '../../src/core/index.ts';
import { openServerFixture } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

const KEYS = { server: { keys: 'required' } } as const;
const ASK = {
  type: 'custom',
  name: 'ask',
  description: 'Asks a person.',
  input_schema: { type: 'object', properties: {} },
} as const;

interface Tenant {
  readonly client: Client;
  readonly agentId: string;
}

async function newTenant(on: ServerFixture, workspace: string): Promise<Tenant> {
  const { token } = await on.server.keys.create(workspace, 'test');
  const client = createClient({ baseUrl: on.url, apiKey: token });
  const agent = await client.agents.create({
    name: 'Chat',
    model: 'gemini-2.5-flash',
    tools: [ASK],
  });
  return { client, agentId: agent.id };
}

async function newSession(
  { client, agentId }: Tenant,
  ...texts: readonly string[]
): Promise<string> {
  const { id } = await client.sessions.create({ agent: agentId });
  for (const text of texts) await client.sessions.send(id, [userMessage(text)]);
  return id;
}

/** Reads events until one matches, and returns it. */
async function until<T>(events: AsyncIterator<T>, matches: (event: T) => boolean): Promise<T> {
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) assert.fail('the stream ended');
    if (matches(value)) return value;
  }
}

const ids = async (
  calls: AsyncIterable<{ readonly session_id: string }>,
): Promise<readonly string[]> => {
  const found: string[] = [];
  for await (const { session_id: id } of calls) found.push(id);
  return found;
};

describe('lists over all sessions', () => {
  it('show the calls that wait in a workspace, and how they come and go', async () => {
    await using on = await openServerFixture(scriptedChat, KEYS);
    const blue = await newTenant(on, 'blue');
    const red = await newTenant(on, 'red');
    const stop = new AbortController();
    const calls = blue.client.pending.watch({ tool: 'ask', signal: stop.signal });
    const watching = calls[Symbol.asyncIterator]();
    const next = async (type: PendingCallChange['type']): Promise<PendingCallChange> =>
      until(watching, (change) => change.type === type);
    await next('pending.current');
    const first = await newSession(blue, 'call ask {"about":"tea"}');
    const added = await next('pending.added');
    assert.ok(added.type === 'pending.added');
    const { call } = added;
    assert.deepEqual(
      [call.session_id, call.agent_id, call.name, call.input, call.needs, call.reason],
      [first, blue.agentId, 'ask', { about: 'tea' }, 'result', null],
    );
    assert.ok(Date.parse(call.expires_at ?? '') > Date.parse(call.waiting_since));
    const second = await newSession(blue, 'call ask x');
    await next('pending.added');
    await newSession(red, 'call ask x');
    assert.deepEqual(await ids(blue.client.pending.list({ limit: 1 })), [first, second]);
    assert.deepEqual(await ids(blue.client.pending.list({ agent_id: blue.agentId })), [
      first,
      second,
    ]);
    assert.deepEqual(await ids(blue.client.pending.list({ agent_id: 'agent_other' })), []);
    assert.deepEqual(await ids(blue.client.pending.list({ needs: 'approval' })), []);
    await blue.client.sessions.send(first, [
      {
        type: 'user.custom_tool_result',
        custom_tool_use_id: call.id,
        content: [{ type: 'text', text: 'Green.' }],
      },
    ]);
    const removed = await next('pending.removed');
    assert.deepEqual(removed, { type: 'pending.removed', session_id: first, id: call.id });
    assert.deepEqual(await ids(blue.client.pending.list()), [second]);
    stop.abort();
    await watching.return?.();
  });

  it('report sessions that are created, run, get a title and are deleted, also after a break', async () => {
    await using on = await openServerFixture(scriptedChat, KEYS);
    const blue = await newTenant(on, 'blue');
    const red = await newTenant(on, 'red');
    const stop = new AbortController();
    const watching = blue.client.sessions.changes({ signal: stop.signal })[Symbol.asyncIterator]();
    const changed = (id: string, test: (session: JsonObject) => boolean) =>
      until(
        watching,
        ({ change }) =>
          change.type === 'sessions.changed' &&
          change.session.id === id &&
          test({ ...change.session } as JsonObject),
      );
    await until(watching, ({ change }) => change.type === 'sessions.current');
    await newSession(red, 'Hi');
    const id = await newSession(blue, 'Hi');
    await changed(id, ({ status, last_seq: seq }) => status === 'idle' && Number(seq) > 2);
    await blue.client.sessions.update(id, { title: 'Tea' });
    const { cursor } = await changed(id, ({ title }) => title === 'Tea');
    stop.abort();
    await watching.return?.();
    const fork = await blue.client.sessions.fork(id);
    await blue.client.sessions.delete(id);
    const seen: SessionListChange[] = [];
    for await (const { change } of blue.client.sessions.changes({ after: cursor ?? '' })) {
      if (change.type === 'sessions.current') break;
      seen.push(change);
    }
    const changedIds = seen.flatMap((one) =>
      one.type === 'sessions.changed' ? [one.session.id] : [],
    );
    assert.deepEqual(changedIds, [fork.id]);
    assert.deepEqual(
      seen.filter(({ type }) => type === 'sessions.deleted'),
      [{ type: 'sessions.deleted', id }],
    );
    await assert.rejects(
      async () => {
        for await (const _ of blue.client.sessions.changes({ after: 'x' }));
      },
      (error: ApiError) => error.status === 400,
    );
  });

  it('sum the usage of a workspace, and of all workspaces for an operator', async () => {
    await using on = await openServerFixture(scriptedChat, KEYS);
    const blue = await newTenant(on, 'blue');
    const red = await newTenant(on, 'red');
    for (const tenant of [blue, blue, red]) {
      const id = await newSession(tenant, 'Hi');
      for await (const { type } of tenant.client.sessions.events(id))
        if (type === 'session.status_idle') break;
    }
    const [total] = await blue.client.usage();
    assert.deepEqual(total, {
      type: 'usage_total',
      calls: 2,
      input_tokens: 6,
      output_tokens: 10,
      thinking_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    });
    const today = new Date().toISOString().slice(0, 4);
    const rows = await blue.client.usage({ by: ['agent', 'day'], agentId: blue.agentId });
    assert.equal(rows[0]?.agent_id, blue.agentId);
    assert.ok(rows[0]?.day?.startsWith(today));
    assert.deepEqual(await blue.client.usage({ agentId: red.agentId }), []);
    assert.deepEqual(await blue.client.usage({ to: '2020-01-01' }), []);
    await assert.rejects(
      blue.client.usage({ from: 'monday' }),
      (error: ApiError) => error.status === 400,
    );
    const misspelled = { by: ['agnt'] } as unknown as { readonly by: readonly ['agent'] };
    await assert.rejects(blue.client.usage(misspelled), {
      status: 400,
      message: /query\.by\[0\]: must be one of agent, day, model\./,
    });
    const { token } = await on.server.keys.create('ops', 'test', { scope: { type: 'operator' } });
    const read = async (path: string, key: string): Promise<Response> =>
      fetch(`${on.url}${path}`, { headers: { 'x-api-key': key } });
    const all = (await (await read('/v1/operator/usage?by[]=workspace', token)).json()) as {
      readonly data: readonly JsonObject[];
    };
    assert.deepEqual(
      all.data.map(({ workspace, calls }) => [workspace, calls]),
      [
        ['blue', 2],
        ['red', 1],
      ],
    );
    for (const path of ['/v1/pending', '/v1/pending/stream', '/v1/stream', '/v1/usage'])
      assert.equal((await read(path, token)).status, 403, path);
  });
});
