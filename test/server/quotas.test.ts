import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agent as defineAgent } from '../../src/agents/index.ts';
import { createClient } from '../../src/client/index.ts';
import type { JsonObject } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { createServer } from '../../src/server/index.ts';
import { openServerFixture, userMessage } from './server-fixture.ts';

const usage = { inputTokens: 60, outputTokens: 40, totalTokens: 100 };
const answer = (): { readonly text: string; readonly usage: typeof usage } => ({
  text: 'Yes.',
  usage,
});
const NOON = Date.UTC(2026, 0, 31, 12);
const MODEL = 'claude-sonnet-4-5';

describe('quotas of a server', () => {
  it('stop a turn with budget_reached and a billing error, which stock clients know', async () => {
    await using on = await openServerFixture(answer, {
      clock: new SimulatedClock(NOON),
      quotas: { user: { tokensPerDay: 100 } },
    });
    const { id: agent } = await on.client.beta.agents.create({ name: 'chat', model: MODEL });
    const { id: environment_id } = await on.client.beta.environments.create({ name: 'any' });
    const { id } = await on.client.beta.sessions.create({ agent, environment_id });
    const say = async (): Promise<readonly object[]> => {
      const stream = await on.client.beta.sessions.events.stream(id);
      await on.client.beta.sessions.events.send(id, { events: [userMessage('Hi')] });
      const events: object[] = [];
      for await (const event of stream) {
        if (event.type === 'session.status_idle') events.push(event.stop_reason ?? {});
        if (event.type === 'session.error') events.push(event.error);
        if (event.type === 'session.status_idle') break;
      }
      return events;
    };
    assert.deepEqual(await say(), [{ type: 'end_turn' }]);
    assert.deepEqual(await say(), [
      {
        type: 'billing_error',
        message:
          'The quota is used up: 100 of 100 tokens per day. It renews at 2026-02-01T00:00:00.000Z. Wait until then, or ask the operator to raise it.',
        retry_status: { type: 'exhausted' },
      },
      { type: 'budget_reached' },
    ]);
    assert.equal((await on.client.beta.sessions.retrieve(id)).status, 'idle');
  });

  it('refuse sessions and schedules with 403, which names the quota', async () => {
    await using on = await openServerFixture(answer, {
      quotas: { user: { sessions: 1, schedules: 0 } },
    });
    const client = createClient({ baseUrl: on.url });
    const { id: agent } = await client.agents.create({ name: 'chat', model: MODEL });
    await client.sessions.create({ agent });
    const refusal = (quota: string, used: number): object => ({
      status: 403,
      type: 'permission_error',
      details: {
        error_code: 'quota_exceeded',
        quota,
        scope: 'workspace',
        limit: used,
        used,
        renews_at: null,
      },
    });
    await assert.rejects(client.sessions.create({ agent }), refusal('sessions', 1));
    await assert.rejects(
      client.schedules.create({ agent, message: 'Hi', every_ms: 60_000 }),
      refusal('schedules', 0),
    );
  });

  it('of all workspaces refuse a session without the figures, which are those of others', async () => {
    await using on = await openServerFixture(answer, { quotas: { app: { sessions: 1 } } });
    const client = createClient({ baseUrl: on.url });
    const { id: agent } = await client.agents.create({ name: 'chat', model: MODEL });
    await client.sessions.create({ agent });
    await assert.rejects(client.sessions.create({ agent }), {
      status: 403,
      details: {
        error_code: 'quota_exceeded',
        quota: 'sessions',
        scope: 'all_workspaces',
        renews_at: null,
      },
    });
    assert.deepEqual(await client.quotas(), []);
  });

  it('are listed for the workspace of a key, and all of them for an operator', async () => {
    await using on = await openServerFixture(answer, {
      clock: new SimulatedClock(NOON),
      quotas: {
        app: { usdPerMonth: 10 },
        user: { tokensPerDay: 1000 },
        users: { red: { sessions: 3 } },
        usdPerMillionTokens: { '*': { input: 1, output: 2 } },
      },
      server: { keys: 'required' },
    });
    const read = async (path: string, token: string): Promise<readonly JsonObject[]> => {
      const reply = await fetch(`${on.url}${path}`, { headers: { 'x-api-key': token } });
      assert.equal(reply.status, 200);
      return ((await reply.json()) as { readonly data: readonly JsonObject[] }).data;
    };
    const { token: blue } = await on.server.keys.create('blue', 'test');
    const { token: ops } = await on.server.keys.create('ops', 'test', {
      scope: { type: 'operator' },
    });
    const client = createClient({ baseUrl: on.url, apiKey: blue });
    const { id: agent } = await client.agents.create({ name: 'chat', model: MODEL });
    const { id } = await client.sessions.create({ agent });
    await client.sessions.send(id, [userMessage('Hi')]);
    for await (const { type } of client.sessions.events(id))
      if (type === 'session.status_idle') break;
    const tokens = {
      type: 'quota',
      quota: 'tokens_per_day',
      scope: 'workspace',
      limit: 1000,
      used: 100,
      renews_at: '2026-02-01T00:00:00.000Z',
      workspace: 'blue',
    };
    assert.deepEqual(await client.quotas(), [tokens]);
    assert.deepEqual(
      (await read('/v1/operator/quotas', ops)).map(({ workspace, quota, used }) => [
        workspace,
        quota,
        used,
      ]),
      [
        [undefined, 'usd_per_month', (60 * 1 + 40 * 2) / 1_000_000],
        ['blue', 'tokens_per_day', 100],
        ['red', 'tokens_per_day', 0],
        ['red', 'sessions', 0],
      ],
    );
    assert.deepEqual(await read('/v1/operator/quotas?workspace=blue', ops), [tokens]);
    const refused = await fetch(`${on.url}/v1/operator/quotas`, { headers: { 'x-api-key': blue } });
    assert.equal(refused.status, 403);
  });

  it('are insufficient_quota for clients of OpenAI', async () => {
    const model = new ScriptedModel(answer);
    await using runtime = await openRuntime({
      agents: [defineAgent({ name: 'helper', model })],
      quotas: { user: { tokensPerDay: 0 } },
    });
    const server = await createServer({ runtime, keys: 'off', protocols: ['openai'] });
    const complete = async (stream: boolean): Promise<Response> =>
      server.fetch(
        new Request('http://localhost/openai/v1/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            model: 'agent_helper',
            stream,
            messages: [{ role: 'user', content: 'Hi' }],
          }),
        }),
      );
    const whole = await complete(false);
    assert.equal(whole.status, 429);
    assert.equal(whole.headers.get('x-should-retry'), 'false');
    const { error } = (await whole.json()) as { readonly error: JsonObject };
    assert.deepEqual([error['type'], error['code']], ['insufficient_quota', 'insufficient_quota']);
    assert.match(await (await complete(true)).text(), /"code":"insufficient_quota"/);
    await server.close();
  });
});
