import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../../agents/index.ts';
import { contentText, isFunctionResponsePart } from '../../../core/index.ts';
import { ScriptedModel } from '../../../models/index.ts';
import { openRuntime } from '../../../runtime/index.ts';
import { MemoryStore } from '../../../store/index.ts';
import { InMemoryArtifactService, tool } from '../../../tools/index.ts';
import { createServer } from '../../create-server.ts';
import type { Server } from '../../create-server.ts';

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
    execute: (_, { state }) => {
      ran.push('erase');
      state.set('erased', 1);
      return { ok: true };
    },
  });
  const ask = tool({
    name: 'ask',
    description: 'Asks the manager.',
    longRunning: true,
    execute: () => ({ status: 'pending' }),
  });
  const model = new ScriptedModel(({ contents }) => {
    const parts = contents.at(-1)?.parts ?? [];
    if (parts.some(isFunctionResponsePart)) return { deltas: ['Do', 'ne.'], text: 'Done.' };
    const last = contentText(contents.at(-1));
    if (last === 'ask') return { toolCalls: [{ name: 'ask' }] };
    if (last === 'erase') return { toolCalls: [{ name: 'erase', args: { path: 'a' } }] };
    return { text: contents.map((content) => contentText(content)).join('|') };
  });
  const runtime = await openRuntime({
    agents: [
      agent({ name: 'cleaner', model, identity: true, tools: [erase, ask], instruction: 'Clean.' }),
    ],
    store,
    artifacts: new InMemoryArtifactService(),
  });
  const server = await createServer({ runtime, keys: 'when-created', protocols: ['adk'] });
  return {
    server,
    ran,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await runtime.close();
    },
  };
}

interface WireEvent {
  readonly id: string;
  readonly author: string;
  readonly timestamp: number;
  readonly invocationId: string;
  readonly partial?: boolean;
  readonly longRunningToolIds?: readonly string[];
  readonly content?: {
    readonly role: string;
    readonly parts: readonly Readonly<Record<string, { readonly name?: string }>>[];
  };
  readonly actions: { readonly stateDelta: object };
}

interface WireSession {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly state: object;
  readonly events: readonly WireEvent[];
  readonly lastUpdateTime: number;
}

type Headers = Readonly<Record<string, string>>;

async function request(
  { server }: Opened,
  method: string,
  path: string,
  { body, headers = {} }: { readonly body?: object; readonly headers?: Headers } = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await server.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  );
  return { status: response.status, text: await response.text() };
}

async function ok<T>(
  opened: Opened,
  method: string,
  path: string,
  options: Parameters<typeof request>[3] = {},
): Promise<T> {
  const { status, text } = await request(opened, method, path, options);
  assert.equal(status, 200, text);
  return JSON.parse(text) as T;
}

const USER = '/apps/cleaner/users/ada/sessions';
const create = async (opened: Opened, id = 's1', body = {}): Promise<WireSession> =>
  ok(opened, 'POST', USER, { body: { sessionId: id, ...body } });
const run = async (opened: Opened, body: object): Promise<readonly WireEvent[]> =>
  ok(opened, 'POST', '/run', {
    body: { appName: 'cleaner', userId: 'ada', sessionId: 's1', ...body },
  });
const say = (text: string): object => ({ newMessage: { parts: [{ text }] } });

test('apps and sessions have the shapes of ADK: bare lists, seconds, and no envelope', async () => {
  await using opened = await open();
  assert.deepEqual(await ok(opened, 'GET', '/list-apps?relative_path=./'), ['cleaner']);
  const state = { color: 'red', __session_metadata__: { displayName: 'First' } };
  const session = await create(opened, 's1', { state });
  assert.deepEqual(session.state, state);
  assert.ok(session.lastUpdateTime < 1e11, 'seconds');
  assert.equal((await request(opened, 'POST', `${USER}/s1`, { body: {} })).status, 409);
  await ok(opened, 'POST', `${USER}/s2`, { body: { mood: 'good' } });
  assert.deepEqual((await ok<WireSession>(opened, 'GET', `${USER}/s2`)).state, { mood: 'good' });
  const patched = await ok<WireSession>(opened, 'PATCH', `${USER}/s2`, {
    body: { state_delta: { mood: 'bad' } },
  });
  assert.deepEqual(patched.state, { mood: 'bad' });
  const list = await ok<readonly WireSession[]>(opened, 'GET', USER);
  assert.deepEqual(list.map(({ id }) => id).toSorted(), ['s1', 's2']);
  assert.deepEqual(await ok(opened, 'GET', '/apps/cleaner/users/bob/sessions'), []);
  assert.equal((await request(opened, 'GET', '/apps/cleaner/users/bob/sessions/s1')).status, 404);
  assert.equal(await ok(opened, 'DELETE', `${USER}/s2`), null);
  assert.equal((await request(opened, 'GET', `${USER}/s2`)).status, 404);
});

test('a run returns the events of the agent, in snake case or camel case, and the session has them', async () => {
  await using opened = await open();
  await create(opened);
  const events = await ok<readonly WireEvent[]>(opened, 'POST', '/run', {
    body: {
      app_name: 'cleaner',
      user_id: 'ada',
      session_id: 's1',
      new_message: { role: 'user', parts: [{ text: 'erase' }] },
      state_delta: { a: 1 },
    },
  });
  const kinds = events.map(({ author, content }) => [
    author,
    Object.keys(content?.parts[0] ?? {})[0],
  ]);
  assert.deepEqual(
    kinds.filter(([, kind]) => kind !== undefined),
    [
      ['cleaner', 'functionCall'],
      ['cleaner', 'functionResponse'],
      ['cleaner', 'text'],
    ],
  );
  const { state, events: stored } = await ok<WireSession>(opened, 'GET', `${USER}/s1`);
  assert.deepEqual(state, { a: 1, erased: 1 });
  const withoutUser = stored.filter(
    ({ content, author }) => author !== 'user' || content === undefined,
  );
  assert.deepEqual(withoutUser, events);
});

test('a long-running tool has a first result, and a later one starts a run', async () => {
  await using opened = await open();
  await create(opened);
  const [call, result, answer] = await run(opened, say('ask'));
  const [id = ''] = call?.longRunningToolIds ?? [];
  assert.notEqual(id, '');
  const responses = (event: WireEvent | undefined): readonly unknown[] =>
    event?.content?.parts.map((part) => part['functionResponse']) ?? [];
  assert.deepEqual(responses(result), [{ id, name: 'ask', response: { status: 'pending' } }]);
  assert.ok(answer !== undefined);
  const functionResponse = { id, name: 'ask', response: { status: 'approved' } };
  const newMessage = { role: 'user', parts: [{ functionResponse }] };
  const later = await run(opened, { newMessage });
  assert.equal(later.length, 1);
  assert.notEqual(later[0]?.invocationId, answer.invocationId);
  const repeated = await run(opened, { newMessage });
  assert.deepEqual(repeated, later);
  const { events } = await ok<WireSession>(opened, 'GET', `${USER}/s1`);
  const message = events.findLast(({ author }) => author === 'user');
  assert.deepEqual(responses(message), [functionResponse]);
});

test('a stream has partial events and then the whole, and continues after each of its ids', async () => {
  await using opened = await open();
  await create(opened);
  const body = { appName: 'cleaner', userId: 'ada', sessionId: 's1', streaming: true };
  const headers = { 'idempotency-key': 'one' };
  const post = async (more: Headers = {}): Promise<string> => {
    const options = { body: { ...body, ...say('erase') }, headers: { ...headers, ...more } };
    const { status, text } = await request(opened, 'POST', '/run_sse', options);
    assert.equal(status, 200, text);
    return text;
  };
  const text = await post();
  const frames = [...text.matchAll(/^id: (.*)\n\ndata: (.*)\n\n/gm)];
  const events = frames.map(([, , data = '']) => JSON.parse(data) as WireEvent);
  const joined = (list: readonly WireEvent[]): string =>
    list
      .filter(({ partial }) => partial === true)
      .map(({ content }) => String(content?.parts[0]?.['text']))
      .join('');
  assert.equal(joined(events), 'Done.');
  for (const [index, [, id = '']] of frames.entries()) {
    const rest = [...(await post({ 'last-event-id': id })).matchAll(/^data: (.*)$/gm)].map(
      ([, data = '']) => JSON.parse(data) as WireEvent,
    );
    const had = events.slice(0, index + 1);
    assert.equal(joined(had) + joined(rest), 'Done.');
    const whole = [...had, ...rest].filter(({ partial }) => partial !== true);
    assert.deepEqual(
      whole,
      events.filter(({ partial }) => partial !== true),
    );
  }
  assert.deepEqual(opened.ran, ['erase']);
  const { invocationId } = events[0] ?? { invocationId: '' };
  const whole = events.filter(({ partial }) => partial !== true);
  assert.deepEqual(await run(opened, { invocationId }), whole);
});

test('a call is confirmed after a restart, once, and another answer is refused', async () => {
  const store = new MemoryStore();
  const asked = await (async () => {
    await using opened = await open({ needsApproval: true, store });
    await create(opened);
    return await run(opened, say('erase'));
  })();
  const ask = asked.at(-1);
  const [id = ''] = ask?.longRunningToolIds ?? [];
  assert.match(id, /^adk-/);
  assert.equal(ask?.content?.parts[0]?.['functionCall']?.name, 'adk_request_confirmation');
  await using opened = await open({ needsApproval: true, store });
  const reloaded = await ok<WireSession>(opened, 'GET', `${USER}/s1`);
  assert.deepEqual(reloaded.events.at(-1), ask);
  const answer = (confirmed: boolean): object => ({
    newMessage: {
      role: 'user',
      parts: [
        { functionResponse: { id, name: 'adk_request_confirmation', response: { confirmed } } },
      ],
    },
  });
  const done = await run(opened, answer(true));
  assert.deepEqual(await run(opened, answer(true)), done);
  assert.deepEqual(opened.ran, ['erase']);
  const refused = await request(opened, 'POST', '/run', {
    body: { appName: 'cleaner', userId: 'ada', sessionId: 's1', ...answer(false) },
  });
  assert.equal(refused.status, 400);
});

test('an imported session has its events as history', async () => {
  await using opened = await open();
  const events = [
    { author: 'user', content: { role: 'user', parts: [{ text: 'Hi' }] } },
    { author: 'cleaner', content: { role: 'model', parts: [{ text: 'Hello' }] } },
  ];
  await create(opened, 's1', { events });
  const [answer] = await run(opened, say('How?'));
  assert.equal(String(answer?.content?.parts[0]?.['text']), 'Hi|Hello|How?');
});

test('the graph has the net with the current node, and the trace the request of the model', async () => {
  await using opened = await open({ needsApproval: true });
  await create(opened);
  const events = await run(opened, say('erase'));
  const { root_agent: root } = await ok<{
    readonly root_agent: { readonly name: string; readonly tools: readonly string[] };
  }>(opened, 'GET', '/dev/apps/cleaner/build_graph');
  assert.deepEqual([root.name, root.tools], ['cleaner', ['erase', 'ask']]);
  const image = await ok<Readonly<Record<'' | 'net', { readonly dotSrc: string }>>>(
    opened,
    'GET',
    '/dev/apps/cleaner/build_graph_image?dark_mode=true',
  );
  assert.match(image[''].dotSrc, /"cleaner" -> "erase"/);
  assert.match(image.net.dotSrc, /"t:model\.call"/);
  const last = events.at(-1)?.id ?? '';
  const { dotSrc } = await ok<{ readonly dotSrc: string }>(
    opened,
    'GET',
    `/dev/apps/cleaner/users/ada/sessions/s1/events/${last}/graph`,
  );
  assert.match(dotSrc, /"p:[^"]*parked" \[style="filled"/);
  const first = events[0]?.id ?? '';
  const span = await ok<Readonly<Record<string, string>>>(
    opened,
    'GET',
    `/dev/apps/cleaner/debug/trace/${first}`,
  );
  const modelRequest = JSON.parse(span['gcp.vertex.agent.llm_request'] ?? '') as {
    readonly contents: readonly object[];
  };
  assert.equal(modelRequest.contents.length, 1);
  const spans = await ok<readonly { readonly name: string; readonly parent_span_id: unknown }[]>(
    opened,
    'GET',
    '/dev/apps/cleaner/debug/trace/session/s1',
  );
  assert.deepEqual(
    spans.map(({ name }) => name),
    ['call_llm', 'invoke_agent cleaner'],
  );
});

test('artifacts are saved, listed, read by version and removed', async () => {
  await using opened = await open();
  await create(opened);
  const url = `${USER}/s1/artifacts`;
  const save = async (data: string): Promise<unknown> =>
    ok(opened, 'POST', url, {
      body: { filename: 'a.txt', artifact: { inline_data: { mime_type: 'text/plain', data } } },
    });
  await save('QQ==');
  await save('Qg==');
  assert.deepEqual(await ok(opened, 'GET', url), ['a.txt']);
  assert.deepEqual(await ok(opened, 'GET', `${url}/a.txt/versions`), [0, 1]);
  const inlineData = { mimeType: 'text/plain', data: 'QQ==' };
  assert.deepEqual(await ok(opened, 'GET', `${url}/a.txt/versions/0`), { inlineData });
  const described = await ok<{ readonly version: number }>(
    opened,
    'GET',
    `${url}/a.txt/versions/latest/metadata`,
  );
  assert.equal(described.version, 1);
  assert.equal(await ok(opened, 'DELETE', `${url}/a.txt`), null);
  assert.equal((await request(opened, 'GET', `${url}/a.txt`)).status, 404);
});

test('errors are JSON with a detail, and another workspace has no sessions of the first', async () => {
  await using opened = await open();
  const one = await opened.server.keys.create('one', 'key');
  const two = await opened.server.keys.create('two', 'key');
  const as = ({ token }: { readonly token: string }): Headers => ({
    authorization: `Bearer ${token}`,
  });
  await ok(opened, 'POST', `${USER}/s1`, { body: {}, headers: as(one) });
  const status = async (method: string, path: string, body?: object): Promise<number> =>
    (await request(opened, method, path, { headers: as(two), ...(body !== undefined && { body }) }))
      .status;
  assert.deepEqual(await ok(opened, 'GET', USER, { headers: as(two) }), []);
  assert.equal(await status('GET', `${USER}/s1`), 404);
  assert.equal(await status('DELETE', `${USER}/s1`), 404);
  const foreign = { appName: 'cleaner', userId: 'ada', sessionId: 's1', ...say('x') };
  assert.equal(await status('POST', '/run', foreign), 404);
  assert.equal(await status('POST', '/run_sse', foreign), 404);
  const event = Buffer.from('["s1",1]').toString('base64url');
  assert.equal(await status('GET', `/dev/apps/cleaner/debug/trace/${event}`), 404);
  assert.equal(await status('GET', '/run_live'), 501);
  const { text } = await request(opened, 'GET', '/apps/none/app-info', { headers: as(one) });
  assert.deepEqual(JSON.parse(text), {
    detail: 'There is no app "none".',
    error: 'There is no app "none".',
  });
});
