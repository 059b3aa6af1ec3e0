import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/net/index.ts';
import { Metrics, workerTools } from '../../src/server/index.ts';
import type { Server } from '../../src/server/index.ts';
import { agent as defineAgent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { checkResponses, OPERATIONS } from './response-check.ts';
import { countingTool, openServerFixture, userMessage } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

type Json = Readonly<Record<string, unknown>>;

const DEPLOY = {
  type: 'custom',
  name: 'deploy',
  description: 'Deploys.',
  input_schema: { type: 'object' },
};

test('the successful response of every route is as the document describes it', async () => {
  await using on = await openServerFixture(scriptedChat, {
    builtIns: workerTools(async (name) => [countingTool(name)]),
    agents: [defineAgent({ name: 'proved', model: new ScriptedModel([]) })],
    quotas: { user: { tokensPerDay: 1_000_000 } },
    server: {
      proofs: { module: '/nowhere.ts' },
      metrics: new Metrics(systemClock),
      webhooks: { allowHosts: ['127.0.0.1:9'] },
      imports: true,
    },
  });
  const post = async (path: string, body?: object): Promise<Json> => ask(on, 'POST', path, body);
  const get = async (path: string): Promise<Json> => ask(on, 'GET', path);
  const remove = async (path: string): Promise<Json> => ask(on, 'DELETE', path);
  for (const path of ['/health', '/health/live', '/health/ready', '/metrics', '/openapi.json'])
    await get(path);

  const { cursor: changesFrom } = await on.store.changes({ appName: 'managed', limit: 1 });
  const agent = `/v1/agents/${idIn(
    await post('/v1/agents', {
      name: 'Helper',
      model: 'gemini-2.5-flash',
      description: 'Helps.',
      metadata: { team: 'blue' },
      tools: [{ type: 'agent_toolset_20260401' }, DEPLOY, { type: 'builtin', name: 'lint' }],
      permission_policy: { default: 'auto_approve', tools: { bash: 'prompt' } },
    }),
  )}`;
  await get(agent);
  await post(agent, { version: 1, name: 'Assistant' });
  await get(`${agent}/versions`);
  await get('/v1/agents');

  const environment = `/v1/environments/${idIn(
    await post('/v1/environments', { name: 'Own', config: { type: 'self_hosted' } }),
  )}`;
  await post('/v1/environments', { name: 'Cloud' });
  await post(environment, { description: 'Mine.' });
  await get(environment);
  await get('/v1/environments');

  const chat = idIn(
    await post('/v1/agents', { name: 'Chat', model: 'gemini-2.5-flash', tools: [DEPLOY] }),
  );
  for (const layout of ['', '?layout=graphviz', '?layout=columns'])
    await get(`${agent}/net${layout}`);
  const session = `/v1/sessions/${idIn(await post('/v1/sessions', { agent: chat, title: 'One' }))}`;
  await post(session, { metadata: { a: 'b' } });
  await get(session);
  await get('/v1/sessions');
  const thread = `${session}/threads/${idIn((await list(on, `${session}/threads`))[0])}`;
  await get(thread);
  await post(`${session}/events`, { events: [userMessage('think'), userMessage('call deploy x')] });
  for (const path of [`${session}/events/stream`, `${thread}/stream`])
    await readStream(
      on,
      `${path}?from_seq=0&include=net&event_deltas[]=agent.message`,
      /requires_action/,
    );
  const [first, ...rest] = await list(on, `${session}/events?include=net&limit=100`);
  assert.ok(rest.some(({ type }) => type === 'net.fired'));
  await get(`${thread}/events`);
  const call = rest.find(({ type }) => type === 'agent.custom_tool_use');
  await post(`${session}/events`, {
    events: [{ type: 'user.custom_tool_result', custom_tool_use_id: idIn(call), content: [] }],
  });
  await readStream(on, `${session}/events/stream?from_seq=0`, /end_turn.*Results.*end_turn/s);
  for (const values of ['none', 'shape', 'full'])
    for (const path of ['records', 'marking']) await get(`${session}/${path}?values=${values}`);
  await readStream(on, `${session}/records/stream?values=full`, /turn\.end/);
  await get(`${session}/net`);
  await get(`${session}/fork_points`);
  for (const redact of ['', '?redact=1']) await get(`${session}/journal${redact}`);
  const modelCall = (await list(on, `${session}/records`)).find(
    ({ kind, transition }) => kind === 'started' && transition === 'model.call',
  );
  await get(`${session}/firings/${String(modelCall?.['record'])}/request`);
  await post(`${session}/pause`);
  await post(`${session}/resume`);
  await post(`${session}/fork`, {});
  const message = (await list(on, `${session}/events?types[]=user.message`))[0] ?? first;
  await post(`${session}/rewind`, { before_event_id: idIn(message) });

  const waiting = idIn(await post('/v1/sessions', { agent: idIn(await get(agent)) }));
  await post(`/v1/sessions/${waiting}/events`, { events: [userMessage('call deploy x')] });
  await readStream(on, '/v1/pending/stream', /pending\.added/);
  assert.equal((await list(on, '/v1/pending')).length, 1);
  await readStream(on, `/v1/stream?after_id=${changesFrom}`, /sessions\.changed/);
  for (const path of ['/v1/quotas', '/v1/operator/quotas'])
    assert.ok((await list(on, path)).length > 0);
  for (const path of ['/v1/usage?by[]=agent&by[]=day&by[]=model', '/v1/operator/usage'])
    assert.ok((await list(on, path)).length > 0);

  await get('/v1/agents/agent_proved/properties');
  const proof = `/v1/proofs/${idIn(await post('/v1/proofs', { agent_id: 'agent_proved' }))}`;
  await get('/v1/proofs');
  await readStream(on, `${proof}/stream`, /proof\.ended/);
  await get(proof);
  await remove(proof);

  const operated = `/v1/operator${session.slice(3)}`;
  await get('/v1/operator/sessions');
  await get('/v1/operator/drain');
  await post(`${operated}/evict`);
  await post(`${operated}/unquarantine`);

  const webhook = `/v1/webhooks/${idIn(await post('/v1/webhooks', { url: 'http://127.0.0.1:9/' }))}`;
  await get(webhook);
  await get('/v1/webhooks');
  await remove(webhook);

  const schedule = `/v1/schedules/${idIn(
    await post('/v1/schedules', { agent: chat, message: 'think', cron: '0 9 * * 1-5' }),
  )}`;
  await get(schedule);
  await get('/v1/schedules');
  await post(`${schedule}/pause`);
  await post(`${schedule}/run`);
  let runs: readonly Json[] = [];
  while (runs.length === 0) runs = await list(on, `${schedule}/runs`);
  await post(`${schedule}/resume`);
  await remove(schedule);

  const work = `${environment}/work`;
  await get(`${work}/poll`);
  await post('/v1/sessions', {
    agent: agent.split('/').at(-1),
    environment_id: environment.split('/').at(-1),
    initial_events: [userMessage('call read x')],
  });
  await get(`${work}/stats`);
  let claimed: Json | null = null;
  while (claimed === null) claimed = await get(`${work}/poll?block_ms=500`);
  const item = `${work}/${idIn(claimed)}`;
  await get(work);
  await get(item);
  await post(item, { metadata: { a: 'b' } });
  await post(`${item}/ack`);
  await post(`${item}/heartbeat?expected_last_heartbeat=NO_HEARTBEAT`);
  await post(`${item}/stop`, {});

  await post(`${environment}/archive`);
  await remove(environment);
  await post(`${agent}/archive`);
  await post(`${session}/archive`);
  const file = await fetch(`${on.url}${session}/journal`);
  const journal = await file.text();
  await remove(session);
  const imported = await fetch(`${on.url}/v1/imports`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: journal,
  });
  assert.equal(imported.status, 200, await imported.text());
  // Last: the server accepts no changes afterwards.
  await post('/v1/operator/drain');
  const { checked } = on.server;
  assert.deepEqual(
    OPERATIONS.filter(
      (name) => !checked.has(`${name} 200`) && !name.endsWith('/threads/{thread_id}/archive'),
    ),
    [],
  );
});

/** Responses of a session that its schema does not describe. */
const WRONG: readonly (readonly [problem: string, change: (session: Json) => Response])[] = [
  ['an unknown field', (session) => Response.json({ ...session, color: 'blue' })],
  [
    'an unknown field of a member',
    (session) => Response.json({ ...session, usage: { ...Object(session['usage']), price: 1 } }),
  ],
  ['a missing field', (session) => Response.json({ ...session, status: undefined })],
  ['a value of another type', (session) => Response.json({ ...session, last_seq: '1' })],
  ['an unknown value', (session) => Response.json({ ...session, status: 'asleep' })],
  ['an unknown status', (session) => Response.json(session, { status: 202 })],
  ['an error without its envelope', () => Response.json({ message: 'No.' }, { status: 404 })],
  ['another content type', (session) => new Response(JSON.stringify(session))],
];

test('a response that its schema does not describe is found', async () => {
  await using on = await openServerFixture(scriptedChat);
  const agent = idIn(await ask(on, 'POST', '/v1/agents', { name: 'A', model: 'gemini-2.5-flash' }));
  const session = await ask(on, 'POST', '/v1/sessions', { agent });
  const path = `/v1/sessions/${idIn(session)}`;
  const answer = async (response: Response, to: string = path): Promise<readonly string[]> => {
    const fake: Server = { ...on.server, fetch: async () => response };
    const { fetch, violations } = checkResponses(fake);
    await (await fetch(new Request(`http://localhost${to}`))).text();
    return violations;
  };
  assert.deepEqual(await answer(Response.json(session)), []);
  for (const [problem, change] of WRONG)
    assert.equal((await answer(change(session))).length, 1, problem);

  const event = { id: 'sevt_1', type: 'session.status_running', seq: 1, processed_at: null };
  const stream = (data: object): Response =>
    new Response(`id: 1\nevent: message\ndata: ${JSON.stringify(data)}\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    });
  const events = `${path}/events/stream`;
  assert.deepEqual(await answer(stream(event), events), []);
  for (const wrong of [
    { ...event, color: 'blue' },
    { ...event, type: 'session.asleep' },
  ])
    assert.equal((await answer(stream(wrong), events)).length, 1, wrong.type);
});

async function ask(
  { url }: ServerFixture,
  method: string,
  path: string,
  body?: object,
): Promise<Json> {
  const response = await fetch(url + path, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, `${method} ${path} ${text}`);
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return isJson ? (JSON.parse(text) as Json) : {};
}

async function list(on: ServerFixture, path: string): Promise<readonly Json[]> {
  const { data } = await ask(on, 'GET', path);
  return data as readonly Json[];
}

function idIn(resource: Json | undefined): string {
  return String(resource?.['id']);
}

async function readStream({ url }: ServerFixture, path: string, last: RegExp): Promise<void> {
  const response = await fetch(url + path);
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (last.test(text)) return;
  }
}
