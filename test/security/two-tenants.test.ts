import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { systemClock } from '../../src/net/index.ts';
import { Metrics, workerTools } from '../../src/server/index.ts';
import { countingTool, userMessage, openServerFixture } from '../server/server-fixture.ts';
import type { ServerFixture } from '../server/server-fixture.ts';
import { scriptedChat } from '../server/scripted-chat.ts';
import { pathWith, servedRoutes } from './served-routes.ts';
import type { ServedRoute } from './served-routes.ts';
import { stringPlaces } from './string-places.ts';

interface Tenant {
  readonly token: string;
  /** Ids of one resource of each kind, by their names in paths. */
  readonly ids: Readonly<Record<string, string>>;
  /** All ids that the tenant knows, also of events and calls. */
  readonly all: readonly string[];
}

interface Attempt {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

async function createTenant(on: ServerFixture, workspace: string, secret: string): Promise<Tenant> {
  const { token } = await on.server.keys.create(workspace, 'test');
  const client = new Anthropic({ baseURL: on.url, apiKey: token, maxRetries: 0 });
  const { beta } = client;
  const configs = [{ name: 'bash' as const, enabled: true }];
  const called = await beta.agents.create({ name: secret, model: 'gemini-2.5-flash' });
  const agent = await beta.agents.create({
    name: secret,
    model: 'gemini-2.5-flash',
    tools: [{ type: 'agent_toolset_20260401', default_config: { enabled: false }, configs }],
  });
  const box = await beta.environments.create({ name: secret, config: { type: 'self_hosted' } });
  const session = await beta.sessions.create({ agent: agent.id, environment_id: box.id });
  await beta.sessions.events.send(session.id, { events: [userMessage(`call bash ${secret}`)] });
  const schedule = await client.post<{ id: string }>('/v1/schedules', {
    body: { agent: agent.id, message: 'Go', cron: '0 0 1 1 *' },
  });
  const webhook = await client.post<{ id: string }>('/v1/webhooks', {
    body: { url: 'http://127.0.0.1:9/', events: [] },
  });
  for (;;) {
    const work = await beta.environments.work.poll(box.id);
    if (work === null) continue;
    for (;;) {
      // The turn waits for the result of its call, so nothing changes any more.
      const { data } = await beta.sessions.events.list(session.id, { limit: 1000 });
      if (data.at(-1)?.type !== 'session.status_idle') continue;
      const calls = (await on.runtime.pending(session.id)).map(({ callId }) => callId);
      const ids = {
        agent_id: agent.id,
        environment_id: box.id,
        session_id: session.id,
        thread_id: (await beta.sessions.threads.list(session.id)).data[0]?.id ?? '',
        work_id: work.id,
        webhook_id: webhook.id,
        schedule_id: schedule.id,
      };
      const events = data.map(({ id }) => id);
      return { token, ids, all: [...Object.values(ids), called.id, ...events, ...calls] };
    }
  }
}

/**
 * Each of the tenant's own requests with one text replaced: each id in the path, each parameter, each text of the body.
 */
function attemptsOn(
  { method, path, operation, name }: ServedRoute,
  ownIds: Tenant['ids'],
  text: string,
): readonly Attempt[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, idName = '']) => idName);
  const address = pathWith(path, ownIds);
  const schema = operation.requestBody?.content['application/json']?.schema;
  const places =
    schema === undefined ? [] : stringPlaces(schema, (field) => textFor(field, ownIds));
  const body = places[0]?.withText('text');
  return [
    ...names.map((idName) => ({
      what: `${name} with ${idName}`,
      method,
      path: pathWith(path, { ...ownIds, [idName]: text }),
      ...(body !== undefined && { body }),
    })),
    ...(operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'query')
      .map((parameter) => ({
        what: `${name} with ?${parameter.name}`,
        method,
        path: `${address}?${encodeURIComponent(parameter.name)}=${encodeURIComponent(text)}`,
        ...(body !== undefined && { body }),
      })),
    ...places.map((place) => ({
      what: `${name} with ${place.name}`,
      method,
      path: address,
      body: place.withText(text),
    })),
  ];
}

function textFor(field: string, ownIds: Tenant['ids']): string {
  if (field === 'agent') return ownIds['agent_id'] ?? '';
  if (field === 'model') return 'gemini-2.5-flash';
  if (field === 'url') return 'http://127.0.0.1:9/';
  return ownIds[field] ?? 'text';
}

async function request(
  on: ServerFixture,
  token: string,
  { method, path, body }: Omit<Attempt, 'what'>,
): Promise<string> {
  const response = await on.server.fetch(
    new Request(on.url + path, {
      method,
      headers: { 'x-api-key': token, 'content-type': 'application/json' },
      ...(body !== undefined && method === 'POST' && { body: JSON.stringify(body) }),
    }),
  );
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    await response.body?.cancel();
    return `${response.status} a stream`;
  }
  return `${response.status} ${await response.text()}`;
}

/** A response without the parts that differ between equal requests: sent texts, new ids, numbers. */
function normalizeReply(reply: string, ...sent: readonly string[]): string {
  return (
    sent
      .reduce((text, one) => text.replaceAll(one, '<sent>'), reply)
      .replaceAll(/whsec_[\w+/=]+/g, '<secret>')
      // Whether a turn that just started has ended.
      .replaceAll(/"status":"(?:running|idle)"/g, '"status":"#"')
      .replaceAll(/\b[a-z]+_[0-9a-z]{12,}\b/gi, '<id>')
      .replaceAll(/\d+/g, '#')
  );
}

/** An id of the same form that does not exist. */
function toMissingId(id: string): string {
  return `${id.slice(0, -6)}zzzzzz`;
}

/** Everything that a tenant can read. */
async function readAll(
  on: ServerFixture,
  routes: readonly ServedRoute[],
  { token, ids }: Tenant,
): Promise<readonly string[]> {
  const shown: string[] = [];
  for (const { method, path, name } of routes) {
    // A poll takes work, and the statistics of work change with time.
    if (method !== 'GET' || /(?:poll|stats|stream)$|^GET \/[hmo]/.test(name)) continue;
    const reply = await request(on, token, { method, path: pathWith(path, ids) });
    // The list includes refused routes, and each refusal has its own request id.
    shown.push(`${name} ${reply.replace(/req_\w+/, '')}`);
  }
  return shown;
}

test('a request with a foreign id, in any field of any route, changes and reveals nothing, and gets the same response as a missing id', async () => {
  await using on = await openServerFixture(scriptedChat, {
    builtIns: workerTools(async (name) => [countingTool(name)]),
    server: {
      keys: 'required',
      metrics: new Metrics(systemClock),
      webhooks: { allowHosts: ['127.0.0.1:9'] },
    },
  });
  const alice = await createTenant(on, 'alice', 'OnlyForAlice');
  const mallory = await createTenant(on, 'mallory', 'Mine');
  const routes = await servedRoutes(on.url);
  const before = await readAll(on, routes, alice);
  assert.ok(before.some((reply) => reply.includes('OnlyForAlice')));
  // Alice's ids, one of each kind: of events the first one, and those of calls.
  const kinds = new Map(alice.all.map((id) => [id.replace(/_.*/, ''), id]));
  const attempted = new Set<string>();
  const sent = new Set<string>();
  for (const foreign of kinds.values()) {
    const none = toMissingId(foreign);
    sent.add(foreign);
    for (const route of routes) {
      if (/^GET \/(health|openapi.json|metrics)$/.test(route.name)) continue;
      const attempts = attemptsOn(route, mallory.ids, foreign);
      const referenceAttempts = attemptsOn(route, mallory.ids, none);
      for (const [index, attempt] of attempts.entries()) {
        const other = referenceAttempts[index] ?? assert.fail();
        const reply = await request(on, mallory.token, attempt);
        const reference = await request(on, mallory.token, other);
        assert.equal(
          normalizeReply(reply, foreign, none),
          normalizeReply(reference, foreign, none),
          `${attempt.what} = ${foreign}`,
        );
        assert.ok(!reply.includes('OnlyForAlice'), `${attempt.what} = ${foreign}: ${reply}`);
        // Mallory's own sends are part of her data.
        for (const id of alice.all)
          assert.ok(sent.has(id) || !reply.includes(id), `${attempt.what} shows ${id}`);
        attempted.add(attempt.what);
      }
    }
  }
  const withText = routes.filter((route) => attemptsOn(route, mallory.ids, 'x').length > 0);
  for (const { name } of withText)
    assert.ok(
      [...attempted].some((what) => what.startsWith(`${name} with`)),
      name,
    );
  assert.ok(attempted.size > 100, `${attempted.size} places`);
  assert.deepEqual(await readAll(on, routes, alice), before);
});
