import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { agent } from '../../src/agents/index.ts';
import { createClient } from '../../src/client/index.ts';
import { openManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { createServer, listen } from '../../src/server/index.ts';
import type { ServerOptions } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { checkResponses } from './response-check.ts';
import { scriptedChat } from './scripted-chat.ts';
import { userMessage } from './server-fixture.ts';

const ask = tool({ name: 'ask', description: 'Asks a person.' });

const assistant = agent({
  name: 'Help_Desk',
  description: 'Helps.',
  instruction: 'Be brief.',
  model: new ScriptedModel(scriptedChat),
  tools: [ask],
});

interface Served extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly url: string;
  readonly client: Anthropic;
  readonly connect: (workspace: string) => Promise<Anthropic>;
}

async function serve(
  agents: Parameters<typeof openRuntime>[0]['agents'],
  { store = new MemoryStore(), keys = 'off' }: Partial<Pick<ServerOptions, 'store' | 'keys'>> = {},
): Promise<Served> {
  const runtime = await openRuntime({ agents, store });
  const server = checkResponses(await createServer({ runtime, keys }));
  const listening = await listen(server, { port: 0, keysRequired: keys !== 'off' });
  const { url } = listening;
  return {
    runtime,
    url,
    client: new Anthropic({ baseURL: url, apiKey: 'none' }),
    connect: async (workspace) => {
      const { token } = await server.keys.create(workspace, 'test');
      return new Anthropic({ baseURL: url, apiKey: token });
    },
    [Symbol.asyncDispose]: async () => {
      await listening.close();
      await runtime.close();
      assert.deepEqual(server.violations, []);
    },
  };
}

async function newSession({ beta }: Anthropic): Promise<string> {
  const environment = await beta.environments.create({ name: 'Here' });
  const created = { agent: 'agent_help-desk', environment_id: environment.id };
  return (await beta.sessions.create(created)).id;
}

async function listIds(
  { beta }: Anthropic,
  query: Parameters<Anthropic['beta']['sessions']['list']>[0] = {},
): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { id } of beta.sessions.list(query)) found.push(id);
  return found;
}

async function send({ beta }: Anthropic, id: string, text: string): Promise<readonly string[]> {
  const stream = await beta.sessions.events.stream(id);
  await beta.sessions.events.send(id, { events: [userMessage(text)] });
  const types: string[] = [];
  for await (const { type } of stream) {
    types.push(type);
    if (type === 'session.status_idle') break;
  }
  return types;
}

test('an agent from code is in every workspace, and a client cannot change it', async () => {
  await using on = await serve([assistant], { keys: 'required' });
  for (const workspace of ['ada', 'bob']) {
    const { beta } = await on.connect(workspace);
    const [one, ...others] = (await beta.agents.list()).data;
    assert.deepEqual([one?.id, one?.name, one?.version], ['agent_help-desk', 'Help_Desk', 1]);
    assert.deepEqual(others, []);
    const read = (await beta.agents.retrieve('agent_help-desk')) as unknown as Record<
      string,
      unknown
    >;
    assert.deepEqual(
      [read['source'], read['net_hash'], read['system']],
      ['code', assistant.compiled.hash, 'Be brief.'],
    );
    assert.equal((await beta.agents.versions.list('agent_help-desk')).data.length, 1);
    await assert.rejects(
      beta.agents.update('agent_help-desk', { version: 1, name: 'Mine' }),
      (error) => {
        assert.ok(error instanceof APIError);
        assert.deepEqual([error.status, error.headers?.get('allow')], [405, 'GET']);
        assert.match(error.message, /agent_from_code/);
        return true;
      },
    );
    await assert.rejects(beta.agents.archive('agent_help-desk'), { status: 405 });
  }
});

test('a session with any id is read and continued over HTTP, and ids that no URL can name are refused', async () => {
  await using on = await serve([assistant]);
  const odd = ['a/b', '%2e', '%2E%2E', 'a/../b', '...', './', '\\..\\', 'a?b#c', 'é ☂', '%', '+'];
  const own = createClient({ baseUrl: on.url });
  for (const id of odd) {
    await (await on.runtime.session(id)).ask('Hi');
    assert.equal((await on.client.beta.sessions.retrieve(id)).id, id);
    assert.equal((await own.sessions.get(id)).id, id);
    assert.equal(await own.sessions.ask(id, 'Hello'), 'You said: Hello');
    assert.ok((await send(on.client, id, 'Hi')).includes('agent.message'), id);
  }
  assert.deepEqual((await listIds(on.client)).toSorted(), odd.toSorted());
  const session = await on.runtime.session('a');
  for (const id of ['.', '..']) {
    const error = {
      code: 'invalid_input',
      message: /"\.{1,2}" cannot be part of the path of a URL/,
    };
    await assert.rejects(on.runtime.session(id), error);
    await assert.rejects(session.fork({ id }), error);
    await assert.rejects(on.runtime.batch().session(id), error);
    await assert.rejects(async () => own.sessions.get(id), error);
    await assert.rejects(async () => own.sessions.delete(id), error);
  }
  await assert.rejects(async () => own.sessions.get(''), { code: 'invalid_input' });
});

test('a session that a program made is listed and can be continued, named and deleted', async () => {
  await using on = await serve([assistant], { keys: 'required' });
  const ada = await on.connect('ada');
  const bob = await on.connect('bob');
  const session = await on.runtime.session('demo', { user: 'ada' });
  await session.ask('Hi');
  assert.deepEqual([await listIds(ada), await listIds(bob)], [['demo'], []]);
  await assert.rejects(bob.beta.sessions.retrieve('demo'), { status: 404 });

  const types = await send(ada, 'demo', 'Hello');
  assert.ok(types.includes('agent.message'), types.join());
  const log: string[] = [];
  for await (const { type } of session.events(0, { follow: false })) log.push(type);
  assert.equal(log.filter((type) => type === 'user.message').length, 2);

  // Another user has a session with the same id.
  await (await on.runtime.session('demo', { user: 'bob' })).ask('Hi');
  await ada.beta.sessions.update('demo', { title: 'Ours', metadata: { team: 'a' } });
  await bob.beta.sessions.update('demo', { title: 'Mine' });
  const read = await ada.beta.sessions.retrieve('demo');
  assert.deepEqual(
    [read.title, read.metadata, read.agent.id],
    ['Ours', { team: 'a' }, 'agent_help-desk'],
  );
  assert.equal((await bob.beta.sessions.retrieve('demo')).title, 'Mine');
  await ada.beta.sessions.delete('demo');
  assert.deepEqual([await listIds(ada), await listIds(bob)], [[], ['demo']]);
  assert.equal((await bob.beta.sessions.retrieve('demo')).title, 'Mine');
  const again = await on.runtime.session('demo', { user: 'ada' });
  assert.equal((await again.status()).lastSeq, 0);
  assert.equal((await ada.beta.sessions.retrieve('demo')).title, null);
});

test('sessions of clients and of the program are one list by creation, with pages both ways', async () => {
  await using on = await serve([assistant]);
  const made: string[] = [];
  for (let index = 0; index < 7; index++) {
    const id = `made/${index} ü`;
    if (index % 2 === 0) await on.runtime.session(id);
    made.push(index % 2 === 0 ? id : await newSession(on.client));
    // Sessions of one millisecond are in the order of their ids.
    const now = Date.now();
    while (Date.now() === now);
  }
  await on.runtime.session('of another user', { user: 'bob' });
  assert.deepEqual(await listIds(on.client), made.toReversed());
  assert.deepEqual(await listIds(on.client, { limit: 2 }), made.toReversed());
  assert.deepEqual(await listIds(on.client, { limit: 3, order: 'asc' }), made);
  const [first] = made;
  assert.equal((await on.client.beta.sessions.retrieve(first ?? '')).id, first);

  type Page = { data: { id: string }[]; next_page: string | null; prev_page: string | null };
  const read = async (query: string): Promise<Page> =>
    (await (await fetch(`${on.url}/v1/sessions?${query}`)).json()) as Page;
  const pages: Page[] = [await read('limit=3')];
  for (let next = pages[0]?.next_page; next != null; next = pages.at(-1)?.next_page)
    pages.push(await read(`limit=3&page=${encodeURIComponent(next)}`));
  assert.equal(pages.length, 3);
  const last = pages.at(-1);
  const back = await read(`limit=3&page=${encodeURIComponent(last?.prev_page ?? '')}`);
  assert.deepEqual(
    back.data.map(({ id }) => id),
    pages[1]?.data.map(({ id }) => id),
  );
  assert.equal(pages[0]?.prev_page, null);
  // The cursor of a release that listed by id is the id of the last session.
  const after = await read(`limit=3&page=${encodeURIComponent(made[4] ?? '')}`);
  assert.deepEqual(
    after.data.map(({ id }) => id),
    made.slice(1, 4).toReversed(),
  );
});

test('a client answers a call of an external tool like one of its own tools', async () => {
  await using on = await serve([assistant]);
  const { beta } = on.client;
  const id = await newSession(on.client);
  const types = await send(on.client, id, 'call ask {}');
  assert.ok(types.includes('agent.custom_tool_use'), types.join());
  const { data } = await beta.sessions.events.list(id, { limit: 100 });
  const call = data.find((event) => event.type === 'agent.custom_tool_use');
  const stream = await beta.sessions.events.stream(id);
  await beta.sessions.events.send(id, {
    events: [
      {
        type: 'user.custom_tool_result',
        custom_tool_use_id: call?.id ?? '',
        content: [{ type: 'text', text: 'blue' }],
      },
    ],
  });
  const seen: string[] = [];
  for await (const event of stream) {
    seen.push(event.type);
    if (event.type === 'session.status_idle') break;
  }
  assert.ok(
    seen.includes('user.custom_tool_result') && seen.includes('agent.message'),
    seen.join(),
  );
});

test('a session of an agent that no program runs any more is listed with its id, and refuses messages', async () => {
  const store = new MemoryStore();
  const old = agent({ name: 'old', model: new ScriptedModel(scriptedChat) });
  await using earlier = await openRuntime({ agents: [old], store });
  await (await earlier.session('past')).ask('Hi');
  await earlier.close();
  await using on = await serve([assistant], { store });
  const { beta } = on.client;
  const [listed] = (await beta.sessions.list()).data;
  assert.deepEqual([listed?.id, listed?.agent.id, listed?.status], ['past', 'agent_old', 'idle']);
  await assert.rejects(beta.sessions.events.send('past', { events: [userMessage('Hi')] }), {
    status: 409,
  });
});

test('a worker cannot run the tools of an agent from code', async () => {
  await using on = await serve([assistant]);
  const { beta } = on.client;
  const environment = await beta.environments.create({
    name: 'Mine',
    config: { type: 'self_hosted' },
  });
  await assert.rejects(
    beta.sessions.create({ agent: 'agent_help-desk', environment_id: environment.id }),
    /environment_id: is self-hosted, but the tools of agent .* run in the program/,
  );
});

test('agents that other agents call are not listed, and their threads name them', async () => {
  const { agentTool } = await import('../../src/agents/index.ts');
  const clerk = agent({ name: 'clerk', model: new ScriptedModel(() => ({ text: 'Done.' })) });
  const lead = agent({
    name: 'lead',
    model: new ScriptedModel(scriptedChat),
    tools: [agentTool(clerk)],
  });
  await using on = await serve([lead]);
  const { beta } = on.client;
  assert.deepEqual(
    (await beta.agents.list()).data.map(({ id }) => id),
    ['agent_lead'],
  );
  const session = await on.runtime.session('work');
  await session.ask('call clerk {"request":"do"}');
  const [own, thread] = (await beta.sessions.threads.list('work')).data;
  assert.deepEqual(
    [own, thread].map((one) => (one?.agent as { id?: string } | undefined)?.id),
    ['agent_lead', 'agent_clerk'],
  );
  const events = (await beta.sessions.threads.events.list(thread?.id ?? '', { session_id: 'work' }))
    .data;
  assert.ok(events.some(({ type }) => type === 'agent.message'));
  assert.equal((await beta.agents.retrieve('agent_clerk')).name, 'clerk');
});

test('a runtime without definitions refuses to store one, and a managed runtime serves both', async () => {
  await using on = await serve([assistant]);
  await assert.rejects(on.client.beta.agents.create({ name: 'Mine', model: 'gpt-5' }), {
    status: 400,
  });
  await using managed = await openManagedRuntime({
    agents: [assistant],
    resolver: async () => new ScriptedModel(scriptedChat),
  });
  const server = await createServer({ runtime: managed, keys: 'off' });
  await using listening = await listen(server, { port: 0, keysRequired: false });
  const { beta } = new Anthropic({ baseURL: listening.url, apiKey: 'none' });
  const { id } = await beta.agents.create({ name: 'Mine', model: 'gpt-5' });
  const ids: string[] = [];
  for await (const one of beta.agents.list({ limit: 1 })) ids.push(one.id);
  assert.deepEqual(ids.toSorted(), [id, 'agent_help-desk'].toSorted());
});

test('the tools of an agent from code name what happens to a call after a crash', async () => {
  const execute = (): string => 'done';
  const agents = [
    agent({
      name: 'crashes',
      model: new ScriptedModel([]),
      tools: [
        tool({ name: 'reads', description: 'Reads.', readOnly: true, execute }),
        tool({ name: 'writes', description: 'Writes.', execute }),
        tool({ name: 'asks', description: 'Asks.', onCrash: 'ask', execute }),
      ],
    }),
  ];
  await using served = await serve(agents);
  const response = await fetch(`${served.url}/v1/agents/agent_crashes`);
  const {
    tools,
  }: { readonly tools: readonly { readonly name: string; readonly on_crash: string }[] } = Object(
    await response.json(),
  );
  assert.deepEqual(
    tools.map(({ name, on_crash }) => [name, on_crash]),
    [
      ['reads', 'rerun'],
      ['writes', 'unknown'],
      ['asks', 'ask'],
    ],
  );
});
