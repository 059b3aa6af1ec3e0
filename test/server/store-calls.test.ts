import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../src/core/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { countStoreCalls } from './count-store-calls.ts';
import type { CountedRequest, StoreCall } from './count-store-calls.ts';
import { scriptedChat } from './scripted-chat.ts';
import { countingTool, openServerFixture, userMessage } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';

describe('the store calls that a request with a key waits for', () => {
  it('are 6 for a message, of which one is the transaction, and 5 with an Idempotency-Key', async () => {
    await using client = await openCountingClient();
    const session = await client.newSession();
    for (const text of ['the session is loaded', 'the session is hosted']) {
      const sent = await client.countSend(session, userMessage(text));
      assert.deepEqual(listCalls(sent), [
        'document api-key',
        'document sent-request',
        'writeDocuments sent-request',
        'document session',
        'find',
        'submit sent-request, inputs: 1',
      ]);
      await client.until(session, 'turn.ended');
    }
    const keyed = await client.countSend(session, userMessage('Hi'), { 'idempotency-key': 'k' });
    assert.deepEqual(listCalls(keyed), [
      'document api-key',
      'document idempotency-key',
      'document session',
      'find',
      'submit idempotency-key, inputs: 1',
    ]);
    await client.until(session, 'turn.ended');
    const repeated = await client.countSend(session, userMessage('Hi'), { 'idempotency-key': 'k' });
    assert.deepEqual(await repeated.result.json(), await keyed.result.json());
    assert.equal(repeated.calls.length, 4, formatCalls(repeated.calls));
  });

  it('are at most 10 for an approval', async () => {
    await using client = await openCountingClient();
    const session = await client.newSession();
    await client.countSend(session, userMessage('call bash x'));
    const tool_use_id = await client.until(session, 'tool.call');
    await client.until(session, 'turn.waiting');
    const approval = { type: 'user.tool_confirmation', tool_use_id, result: 'allow' };
    const approved = await client.countSend(session, approval);
    assert.ok(approved.calls.length <= 10, formatCalls(approved.calls));
    await client.until(session, 'turn.ended');
  });

  it('are at most 8 for an interruption', async () => {
    await using client = await openCountingClient();
    const session = await client.newSession();
    await client.countSend(session, userMessage('call bash x'));
    await client.until(session, 'turn.waiting');
    const interrupted = await client.countSend(session, { type: 'user.interrupt' });
    assert.ok(interrupted.calls.length <= 8, formatCalls(interrupted.calls));
    await client.until(session, 'turn.ended');
  });

  it('are at most 9 to read a session', async () => {
    await using client = await openCountingClient();
    const session = await client.newSession();
    await client.countSend(session, userMessage('Hi'));
    await client.until(session, 'turn.ended');
    const read = await client.countRequest(`/v1/sessions/${session}`);
    assert.ok(read.calls.length <= 9, formatCalls(read.calls));
  });
});

interface CountingClient extends AsyncDisposable {
  readonly newSession: () => Promise<string>;
  readonly countRequest: (
    path: string,
    body?: JsonObject,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<CountedRequest<Response>>;
  /** Sends an event, which the server must accept. */
  readonly countSend: (
    session: string,
    event: JsonObject,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<CountedRequest<Response>>;
  /** Waits for the first event of a type after the last wait. Returns the id of its call. */
  readonly until: (session: string, type: string) => Promise<string>;
}

/** A client of a server that requires keys. */
async function openCountingClient(): Promise<CountingClient> {
  const counting = countStoreCalls(new MemoryStore());
  const on: ServerFixture = await openServerFixture(scriptedChat, {
    store: counting.store,
    tools: [countingTool('bash')],
    server: { keys: 'required' },
  });
  const { token } = await on.server.keys.create('default', 'test');
  const request = async (
    path: string,
    body?: JsonObject,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> =>
    on.server.fetch(
      new Request(`${on.url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'x-api-key': token, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
      { delivered: Promise.resolve(true) },
    );
  const create = async (path: string, body: JsonObject): Promise<string> => {
    const response = await request(path, body);
    assert.equal(response.status, 200);
    return ((await response.json()) as { readonly id: string }).id;
  };
  const countRequest: CountingClient['countRequest'] = async (...args) =>
    counting.count(async () => request(...args));
  let seen = 0;
  return {
    newSession: async () => {
      const agent = await create('/v1/agents', {
        name: 'A',
        model: 'gpt-5',
        tools: [
          {
            type: 'agent_toolset_20260401',
            default_config: { enabled: false },
            configs: [{ name: 'bash', enabled: true, permission_policy: { type: 'always_ask' } }],
          },
        ],
      });
      return create('/v1/sessions', { agent });
    },
    countRequest,
    countSend: async (session, event, headers) => {
      const counted = await countRequest(
        `/v1/sessions/${session}/events`,
        { events: [event] },
        headers,
      );
      assert.equal(counted.result.status, 200);
      return counted;
    },
    until: async (session, type) => {
      for await (const event of on.runtime.streamLog(session, seen)) {
        if ('seq' in event) seen = event.seq;
        if (event.type === type) return 'callId' in event ? event.callId : '';
      }
      return assert.fail(`The log ended without ${type}.`);
    },
    [Symbol.asyncDispose]: async () => on[Symbol.asyncDispose](),
  };
}

function listCalls({ calls }: CountedRequest<unknown>): readonly string[] {
  return calls.map(({ method, subject }) =>
    subject === undefined ? method : `${method} ${subject}`,
  );
}

/** The calls with the functions that made them, one per line. */
function formatCalls(calls: readonly StoreCall[]): string {
  return calls
    .map(({ method, subject = '', callers }) => `${method} ${subject}: ${callers.join(' < ')}`)
    .join('\n');
}
