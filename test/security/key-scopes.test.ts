import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/net/index.ts';
import { Metrics, workerTools } from '../../src/server/index.ts';
import type { KeyScope } from '../../src/server/index.ts';
import { countingTool, userMessage, openServerFixture } from '../server/server-fixture.ts';
import type { ServerFixture } from '../server/server-fixture.ts';
import { scriptedChat } from '../server/scripted-chat.ts';
import { RecordingStore } from './recording-store.ts';
import { pathWith, rawRequest, servedRoutes } from './served-routes.ts';
import type { ServedRoute } from './served-routes.ts';

const page = join(import.meta.dirname, '..', '..', 'docs', 'keys.md');
/** The columns of the table. */
const COLUMNS = [
  'full',
  'read',
  'console',
  'environment',
  'session',
  'metrics',
  'operator',
] as const;
const TYPES = [...COLUMNS, 'import'] as const;

type Ids = Readonly<Record<string, string>>;

interface ScopeFixture {
  readonly on: ServerFixture;
  readonly store: RecordingStore;
  /** Ids of existing resources by their names in paths, and of other resources of the same kinds. */
  readonly ids: Ids;
  readonly others: Ids;
}

async function openScopeFixture(): Promise<ScopeFixture & AsyncDisposable> {
  const store = new RecordingStore();
  const on = await openServerFixture(scriptedChat, {
    store,
    builtIns: workerTools(async (name) => [countingTool(name)]),
    server: {
      keys: 'required',
      metrics: new Metrics(systemClock),
      webhooks: { allowHosts: ['127.0.0.1:9'] },
    },
  });
  on.client.apiKey = (await on.server.keys.create('default', 'test')).token;
  const ids = await createResources(on);
  const others = await createResources(on);
  return { on, store, ids, others, [Symbol.asyncDispose]: async () => on[Symbol.asyncDispose]() };
}

async function createResources(on: ServerFixture): Promise<Ids> {
  const { beta } = on.client;
  const toolset = {
    type: 'agent_toolset_20260401' as const,
    default_config: { enabled: false },
    configs: [{ name: 'bash' as const, enabled: true }],
  };
  const agent = await beta.agents.create({
    name: 'A',
    model: 'gemini-2.5-flash',
    tools: [toolset],
  });
  const box = await beta.environments.create({ name: 'Box', config: { type: 'self_hosted' } });
  const session = await beta.sessions.create({ agent: agent.id, environment_id: box.id });
  await beta.sessions.events.send(session.id, { events: [userMessage('call bash x')] });
  const schedule = await on.client.post<{ id: string }>('/v1/schedules', {
    body: { agent: agent.id, message: 'Go', cron: '0 0 1 1 *' },
  });
  const webhook = await on.client.post<{ id: string }>('/v1/webhooks', {
    body: { url: 'http://127.0.0.1:9/', events: [] },
  });
  for (;;) {
    const work = await beta.environments.work.poll(box.id);
    if (work === null) continue;
    const { data } = await beta.sessions.events.list(session.id, { limit: 1000 });
    const call = data.find((event) => event.type === 'agent.tool_use');
    if (call === undefined) {
      await beta.environments.work.stop(work.id, { environment_id: box.id, force: true });
      continue;
    }
    return {
      agent_id: agent.id,
      environment_id: box.id,
      session_id: session.id,
      thread_id: (await beta.sessions.threads.list(session.id)).data[0]?.id ?? '',
      work_id: work.id,
      webhook_id: webhook.id,
      schedule_id: schedule.id,
    };
  }
}

function toScope(type: (typeof TYPES)[number], ids: Ids): KeyScope {
  const { environment_id: environmentId = '', session_id: sessionId = '' } = ids;
  if (type === 'environment') return { type, environmentId };
  if (type === 'session') return { type, environmentId, sessionId };
  return { type };
}

/**
 * Sends a request to a route with a key. The body is always invalid: an allowed caller gets 400, unless the route takes
 * no body; any other caller gets 403 first.
 */
async function isOpen(
  on: ServerFixture,
  route: ServedRoute,
  token: string,
  ids: Ids,
): Promise<boolean> {
  const { status, text } = await rawRequest(on.url, route.method, {
    path: `${pathWith(route.path, ids)}?limit=none&block_ms=none&expected_last_heartbeat=${'x'.repeat(65)}`,
    headers: { 'x-api-key': token, 'content-type': 'application/json' },
    body: route.method === 'POST' ? '[]' : '',
  });
  assert.ok(status < 500 && status !== 401, `${route.name}: ${status} ${text}`);
  if (status === 403)
    assert.match(text, /Use a key with the scope [a-z]+.*"scope_not_allowed"/, route.name);
  return status !== 403;
}

test('each key scope opens exactly the routes that docs/keys.md lists for it', async () => {
  await using fixture = await openScopeFixture();
  const { on, ids } = fixture;
  const rows: string[] = [];
  const routes = await servedRoutes(on.url);
  // Routes that end or remove resources come last, so that the other routes find them.
  const endsResources = (name: string): number =>
    Number(/^DELETE|archive$|stop$|pause$/.test(name));
  const tokens = new Map(
    await Promise.all(
      TYPES.map(async (type) => {
        const scope = toScope(type, ids);
        const { token } = await on.server.keys.create('default', type, { scope });
        return [type, token] as const;
      }),
    ),
  );
  const opened = new Map<string, readonly string[]>();
  for (const route of routes.toSorted(
    (one, other) => endsResources(one.name) - endsResources(other.name),
  )) {
    const open: string[] = [];
    // The least powerful keys come first, so that the effects of other keys cannot help them.
    for (const type of TYPES.toReversed())
      if (await isOpen(on, route, tokens.get(type) ?? '', ids)) open.push(type);
    opened.set(route.name, open);
  }
  for (const { name } of routes.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const open = opened.get(name) ?? [];
    rows.push(
      `| \`${name}\` | ${COLUMNS.map((type) => (open.includes(type) ? 'yes' : '')).join(' | ')} |`,
    );
  }
  const isPublic = (name: string): boolean => /health|openapi/.test(name);
  assert.deepEqual(
    [...opened].flatMap(([name, open]) => (open.includes('import') && !isPublic(name) ? name : [])),
    ['POST /v1/imports'],
  );
  const documented = readFileSync(page, 'utf8')
    .split('\n')
    .filter((line) => /^\| `(GET|POST|DELETE) /.test(line));
  const plain = (lines: readonly string[]): string =>
    lines.map((line) => line.replaceAll(/ +/g, ' ')).join('\n');
  assert.equal(plain(documented), plain(rows), `docs/keys.md must have:\n${rows.join('\n')}`);
});

test('a key with the scope console changes sessions, schedules and proofs, and no agent, environment, webhook or work', async () => {
  await using fixture = await openScopeFixture();
  const { on, ids } = fixture;
  const scope = { type: 'console' } as const;
  const { token } = await on.server.keys.create('default', '', { scope });
  for (const route of await servedRoutes(on.url)) {
    if (route.method === 'GET') continue;
    const isItsOwn = /^\/v1\/(sessions|schedules|proofs)/.test(route.path);
    assert.equal(await isOpen(on, route, token, ids), isItsOwn, route.name);
  }
});

test('keys with the scopes read, environment, session and metrics reach no resource outside their scope, and a read key changes nothing', async () => {
  await using fixture = await openScopeFixture();
  const { on, ids, others, store } = fixture;
  const before = await store.fingerprint();
  for (const type of ['read', 'environment', 'session', 'metrics'] as const) {
    const scope = toScope(type, ids);
    const { key, token } = await on.server.keys.create('default', type, { scope });
    for (const route of await servedRoutes(on.url)) {
      const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      // Each case replaces one name by the id of another resource.
      const cases =
        type === 'read' ? [ids] : names.map((name) => ({ ...ids, [name]: others[name] ?? '' }));
      for (const mixed of cases) {
        if (type === 'read' && route.method === 'GET') continue;
        const path = pathWith(route.path, mixed);
        const { status, text } = await rawRequest(on.url, route.method, {
          path,
          headers: { 'x-api-key': token, 'content-type': 'application/json' },
          body: route.method === 'POST' ? '{}' : '',
        });
        assert.ok(
          [400, 403, 404].includes(status),
          `${type} ${route.method} ${path}: ${status} ${text}`,
        );
      }
    }
    await on.server.keys.remove(key.id);
  }
  assert.deepEqual(await store.fingerprint(), before);
});

test('the scope of a key is checked before ids are looked up, so foreign ids and unknown ids get the same response', async () => {
  await using fixture = await openScopeFixture();
  const { on, ids, others } = fixture;
  const scope = toScope('session', ids);
  const { token } = await on.server.keys.create('default', '', { scope });
  const get = async (path: string): Promise<string> => {
    const reply = await rawRequest(on.url, 'GET', { path, headers: { 'x-api-key': token } });
    return `${reply.status} ${reply.text.replace(/req_\w+/, '')}`;
  };
  const { session_id: session = '', environment_id: environment = '', work_id: work = '' } = others;
  assert.equal(await get(`/v1/sessions/${session}`), await get('/v1/sessions/session_none'));
  assert.equal(
    await get(`/v1/environments/${environment}/work/${work}`),
    await get('/v1/environments/env_none/work/work_none'),
  );
});

test('the metrics of the whole server need a key with the scope metrics', async () => {
  await using fixture = await openScopeFixture();
  const { on } = fixture;
  const getStatus = async (token: string): Promise<number> =>
    (await fetch(`${on.url}/metrics`, { headers: { 'x-api-key': token } })).status;
  for (const scope of [{ type: 'full' }, { type: 'read' }] as const)
    assert.equal(
      await getStatus((await on.server.keys.create('default', '', { scope })).token),
      403,
    );
  const { token } = await on.server.keys.create('default', '', { scope: { type: 'metrics' } });
  assert.equal(await getStatus(token), 200);
});
