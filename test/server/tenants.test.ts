import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { workerTools } from '../../src/server/index.ts';
import { countingTool, userMessage, openServerFixture } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A valid body for each route that takes one, so that only the ids can be invalid. */
const BODIES: Readonly<Record<string, object>> = {
  'POST /v1/agents/{agent_id}': { name: 'Mine now' },
  'POST /v1/environments/{environment_id}': { name: 'Mine now' },
  'POST /v1/environments/{environment_id}/work/{work_id}': { metadata: {} },
  'POST /v1/sessions/{session_id}': { title: 'Mine now' },
  'POST /v1/sessions/{session_id}/events': { events: [userMessage('Hello')] },
  'POST /v1/sessions/{session_id}/rewind': { before_event_id: 'sevt_1' },
};

async function createResources(
  client: Anthropic,
): Promise<
  Readonly<
    Record<
      | 'agent_id'
      | 'environment_id'
      | 'session_id'
      | 'schedule_id'
      | 'work_id'
      | 'webhook_id'
      | 'thread_id',
      string
    >
  >
> {
  const { beta } = client;
  const agent = await beta.agents.create({
    name: 'Secret',
    model: 'gemini-2.5-flash',
    tools: [
      {
        type: 'agent_toolset_20260401',
        default_config: { enabled: false },
        configs: [{ name: 'bash', enabled: true }],
      },
    ],
  });
  const environment = await beta.environments.create({
    name: 'Box',
    config: { type: 'self_hosted' },
  });
  const session = await beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  await beta.sessions.events.send(session.id, { events: [userMessage('call bash secret')] });
  for (;;) {
    const work = await beta.environments.work.poll(environment.id);
    if (work === null) continue;
    const webhook = await client.post<{ id: string }>('/v1/webhooks', {
      body: { url: 'http://127.0.0.1:9/' },
    });
    const schedule = await client.post<{ id: string }>('/v1/schedules', {
      body: { agent: agent.id, message: 'secret', cron: '0 0 1 1 *' },
    });
    return {
      schedule_id: schedule.id,
      webhook_id: webhook.id,
      thread_id: (await beta.sessions.threads.list(session.id)).data[0]?.id ?? '',
      agent_id: agent.id,
      environment_id: environment.id,
      session_id: session.id,
      work_id: work.id,
    };
  }
}

async function createClient(on: ServerFixture, workspace: string): Promise<Anthropic> {
  const { token } = await on.server.keys.create(workspace, 'test');
  return new Anthropic({ baseURL: on.url, apiKey: token, maxRetries: 0 });
}

test('every endpoint answers 404 for an id of another workspace', async () => {
  await using on = await openServerFixture(scriptedChat, {
    builtIns: workerTools(async (name) => [countingTool(name)]),
    server: { keys: 'required', webhooks: { allowHosts: ['127.0.0.1:9'] } },
  });
  const alice = await createClient(on, 'alice');
  const mallory = await createClient(on, 'mallory');
  const ids: Readonly<Record<string, string>> = await createResources(alice);
  const ownIds: Readonly<Record<string, string>> = await createResources(mallory);
  const { paths } = (await (await fetch(`${on.url}/openapi.json`)).json()) as OpenApi;
  const answers: string[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    if (names.length === 0) continue;
    for (const method of Object.keys(methods).map((httpMethod) => httpMethod.toUpperCase())) {
      // Each id in turn is another tenant's; the others are the tenant's own.
      for (const foreignName of names) {
        const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
          getId(name === foreignName ? ids : ownIds, name),
        );
        const body = BODIES[`${method} ${path}`];
        const response = await fetch(on.url + address, {
          method,
          headers: { 'x-api-key': mallory.apiKey ?? '', 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        answers.push(`${response.status} ${method} ${path}, ${foreignName}`);
        // Operator routes reject the request before any lookup.
        const refused = path.startsWith('/v1/operator') ? 403 : 404;
        const label = `${method} ${path} with another's ${foreignName}`;
        assert.equal(response.status, refused, `${label}: ${text}`);
        assert.doesNotMatch(text, /Secret|Box|secret/);
      }
    }
  }
  assert.ok(answers.length >= 27, `all routes are tested, ${answers.length}`);
  const untouched = await alice.beta.sessions.retrieve(ids['session_id'] ?? '');
  assert.deepEqual([untouched.title, untouched.archived_at], [null, null]);
  assert.equal((await alice.beta.agents.retrieve(ids['agent_id'] ?? '')).name, 'Secret');
});

test('lists contain nothing of another workspace, and its resources cannot be used to create others', async () => {
  await using on = await openServerFixture(scriptedChat, {
    builtIns: workerTools(async (name) => [countingTool(name)]),
    server: { keys: 'required', webhooks: { allowHosts: ['127.0.0.1:9'] } },
  });
  const alice = await createClient(on, 'alice');
  const ids = await createResources(alice);
  for (const workspace of ['alic', 'alice2', 'mallory']) {
    const { beta } = await createClient(on, workspace);
    assert.deepEqual((await beta.agents.list()).data, []);
    assert.deepEqual((await beta.environments.list()).data, []);
    assert.deepEqual((await beta.sessions.list()).data, []);
    assert.deepEqual((await beta.sessions.list({ agent_id: ids.agent_id })).data, []);
    await assert.rejects(beta.sessions.list({ page: ids.session_id, order: 'asc' }), {
      status: 400,
      message: /page: is not a next_page of this list/,
    });
    const agent = await beta.agents.create({ name: 'Own', model: 'gemini-2.5-flash' });
    const environment = await beta.environments.create({ name: 'Own' });
    await assert.rejects(
      beta.sessions.create({ agent: ids.agent_id, environment_id: environment.id }),
      {
        status: 404,
      },
    );
    await assert.rejects(
      beta.sessions.create({ agent: agent.id, environment_id: ids.environment_id }),
      { status: 404 },
    );
  }
});

function getId(ids: Readonly<Record<string, string>>, name: string): string {
  return ids[name] ?? `${name}_none`;
}
