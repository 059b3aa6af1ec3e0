import assert from 'node:assert/strict';
import type Anthropic from '@anthropic-ai/sdk';
import { cuttableProxy } from './cuttable-proxy.ts';
import { userMessage } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

type Client = Anthropic;
type Event = Awaited<ReturnType<Client['beta']['sessions']['events']['list']>>['data'][number];
type SessionParams = Omit<
  Parameters<Client['beta']['sessions']['create']>[0],
  'agent' | 'environment_id'
>;

export interface ConformanceCase {
  /** The SDK method, or a name for several. */
  readonly call: string;
  /** The reason to skip this client, if there is one. */
  readonly skip?: (client: Client) => string | undefined;
  readonly check: (client: Client, on: ServerFixture, receiver: WebhookReceiver) => Promise<void>;
}

export const deploy = {
  type: 'custom',
  name: 'deploy',
  description: 'Deploys',
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
} as const;

/** A tool of the runtime that needs approval. */
const guardedTool = {
  type: 'agent_toolset_20260401',
  default_config: { enabled: false },
  configs: [{ name: 'bash', enabled: true, permission_policy: { type: 'always_ask' } }],
} satisfies NonNullable<Parameters<Client['beta']['agents']['create']>[0]['tools']>[number];

/** A tool of the toolset that needs no approval. */
const freeTool = {
  type: 'agent_toolset_20260401' as const,
  default_config: { enabled: false },
  configs: [{ name: 'bash' as const, enabled: true }],
};

async function newAgent(client: Client, more: object = {}): Promise<string> {
  return (await client.beta.agents.create({ name: 'Helper', model: 'gemini-2.5-flash', ...more }))
    .id;
}

async function newEnvironment(client: Client, more: object = {}): Promise<string> {
  return (await client.beta.environments.create({ name: 'Here', ...more })).id;
}

async function newSession(
  client: Client,
  agent: object = {},
  more: SessionParams = {},
  environment: object = {},
): Promise<string> {
  const session = await client.beta.sessions.create({
    agent: await newAgent(client, agent),
    environment_id: await newEnvironment(client, environment),
    ...more,
  });
  return session.id;
}

/** Sends events and collects the session's events up to the first idle with an end of turn. */
async function sendAndCollect(
  client: Client,
  session: string,
  text: string,
  until: (event: Event) => boolean = isIdle,
): Promise<readonly Event[]> {
  const stream = await client.beta.sessions.events.stream(session);
  await client.beta.sessions.events.send(session, { events: [userMessage(text)] });
  const events: Event[] = [];
  for await (const event of stream) {
    if (event.type === 'event_start' || event.type === 'event_delta') continue;
    events.push(event);
    if (until(event)) break;
  }
  return events;
}

function isIdle(event: Event): boolean {
  return event.type === 'session.status_idle';
}

function ofType<T extends Event['type']>(
  events: readonly Event[],
  type: T,
): Extract<Event, { type: T }> {
  const found = events.find((event): event is Extract<Event, { type: T }> => event.type === type);
  assert.ok(found, `there is a ${type} among ${events.map((event) => event.type).join(', ')}`);
  return found;
}

async function collectEvents(client: Client, session: string): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of client.beta.sessions.events.list(session, { limit: 1000 }))
    events.push(event);
  return events;
}

async function untilIdle(client: Client, session: string): Promise<readonly Event[]> {
  for (;;) {
    const events = await collectEvents(client, session);
    const last = events.findLast(({ type }) => type.startsWith('session.status_'));
    if (last?.type === 'session.status_idle' && last.stop_reason.type !== 'requires_action')
      return events;
  }
}

async function waitFor<T>(find: () => Promise<T | null | undefined>): Promise<T> {
  for (;;) {
    const found = await find();
    if (found != null) return found;
  }
}

async function getStatus(request: Promise<unknown>): Promise<{ status: number; type: string }> {
  const error: unknown = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const failed = error as { status: number; error: { error: { type: string } } } | undefined;
  assert.ok(failed !== undefined, 'it is refused');
  return { status: failed.status, type: failed.error.error.type };
}

function noToolRunner(client: Client): string | undefined {
  return 'toolRunner' in client.beta.sessions.events ? undefined : 'this version has none';
}

function noThreads(client: Client): string | undefined {
  return 'threads' in client.beta.sessions ? undefined : 'this version has no threads';
}

function noWork(client: Client): string | undefined {
  return 'work' in client.beta.environments ? undefined : 'this version has no workers';
}

/** SDK 0.93 sends flat queries. */
function noLists(client: Client): string | undefined {
  return 'toolRunner' in client.beta.sessions.events
    ? undefined
    : 'this version sends no lists in an address';
}

const seconds = async (ms: number): Promise<string> => {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
  return new Date().toISOString();
};

export const conformanceCases: readonly ConformanceCase[] = [
  {
    call: 'agents.create',
    check: async (client) => {
      const agent = await client.beta.agents.create({
        name: 'Helper',
        model: { id: 'gemini-2.5-flash' },
        system: 'Be brief.',
        description: 'Helps.',
        tools: [deploy, guardedTool],
        metadata: { team: 'blue' },
      });
      assert.equal(agent.version, 1);
      assert.equal(agent.model.id, 'gemini-2.5-flash');
      assert.deepEqual(agent.metadata, { team: 'blue' });
      assert.deepEqual(agent.tools.map(({ type }) => type).toSorted(), [
        'agent_toolset_20260401',
        'custom',
      ]);
      const toolset = agent.tools.find((one) => one.type === 'agent_toolset_20260401');
      const bash = toolset?.configs.find(({ name }) => name === 'bash');
      assert.deepEqual([bash?.enabled, bash?.permission_policy], [true, { type: 'always_ask' }]);
    },
  },
  {
    call: 'agents.create rejects an unknown field by name',
    check: async (client) => {
      // @ts-expect-error -- a number is not a name
      const request = client.beta.agents.create({ name: 5, model: 'gemini-2.5-flash' });
      await assert.rejects(request, { status: 400, message: /body\.name/ });
    },
  },
  {
    call: 'agents.retrieve',
    check: async (client) => {
      const id = await newAgent(client);
      await client.beta.agents.update(id, { version: 1, name: 'Other' });
      assert.equal((await client.beta.agents.retrieve(id)).name, 'Other');
      assert.equal((await client.beta.agents.retrieve(id, { version: 1 })).name, 'Helper');
      assert.deepEqual(await getStatus(client.beta.agents.retrieve('agent_none')), {
        status: 404,
        type: 'not_found_error',
      });
    },
  },
  {
    call: 'agents.update',
    check: async (client) => {
      const id = await newAgent(client, {
        tools: [deploy, guardedTool],
        metadata: { a: '1', b: '2' },
      });
      const agent = await client.beta.agents.update(id, {
        version: 1,
        description: 'New.',
        metadata: { a: null, c: '3' },
      });
      assert.equal(agent.version, 2);
      assert.deepEqual(agent.metadata, { b: '2', c: '3' });
      assert.equal(agent.tools.length, 2);
      const same = await client.beta.agents.update(id, { version: 2, description: 'New.' });
      assert.equal(same.version, 2, 'what changes nothing is no version');
    },
  },
  {
    call: 'agents.update with an outdated version',
    check: async (client) => {
      const id = await newAgent(client);
      await client.beta.agents.update(id, { version: 1, name: 'Second' });
      const conflict = client.beta.agents.update(id, { version: 1, name: 'Third' });
      assert.deepEqual(await getStatus(conflict), { status: 409, type: 'invalid_request_error' });
    },
  },
  {
    call: 'agents.list',
    check: async (client) => {
      const before = await seconds(2);
      const ids: string[] = [];
      for (let index = 0; index < 5; index++) ids.unshift(await newAgent(client));
      const after = await seconds(2);
      await seconds(2);
      await newAgent(client);
      await client.beta.agents.archive(ids[1] ?? '');
      const range = { 'created_at[gte]': before, 'created_at[lte]': after };
      const seen: string[] = [];
      for await (const { id } of client.beta.agents.list({ ...range, limit: 2 })) seen.push(id);
      assert.deepEqual(seen, ids.toSpliced(1, 1));
      const all: string[] = [];
      for await (const { id } of client.beta.agents.list({ ...range, include_archived: true }))
        all.push(id);
      assert.deepEqual(all, ids);
    },
  },
  {
    call: 'agents.archive',
    check: async (client) => {
      const id = await newAgent(client);
      assert.notEqual((await client.beta.agents.archive(id)).archived_at, null);
      const changing = client.beta.agents.update(id, { version: 1, name: 'New' });
      assert.equal((await getStatus(changing)).status, 400);
    },
  },
  {
    call: 'agents.versions.list',
    check: async (client) => {
      const id = await newAgent(client);
      await client.beta.agents.update(id, { version: 1, name: 'Two' });
      await client.beta.agents.update(id, { version: 2, name: 'Three' });
      const seen: number[] = [];
      for await (const { version } of client.beta.agents.versions.list(id, { limit: 1 }))
        seen.push(version);
      assert.deepEqual(seen, [3, 2, 1]);
    },
  },
  {
    call: 'environments.create',
    check: async (client) => {
      const environment = await client.beta.environments.create({
        name: 'Box',
        description: 'A box',
        config: { type: 'cloud', networking: { type: 'unrestricted' } },
        metadata: { a: '1' },
      });
      assert.equal(environment.config.type, 'cloud');
      const config = { type: 'cloud' as const, packages: { pip: ['numpy'] } };
      const request = client.beta.environments.create({ name: 'Box', config });
      assert.equal((await getStatus(request)).status, 400);
    },
  },
  {
    call: 'environments.retrieve',
    check: async (client) => {
      const id = await newEnvironment(client, { description: 'A place' });
      assert.equal((await client.beta.environments.retrieve(id)).description, 'A place');
    },
  },
  {
    call: 'environments.update',
    check: async (client) => {
      const id = await newEnvironment(client, { metadata: { a: '1', b: '2' } });
      const changed = await client.beta.environments.update(id, {
        name: 'There',
        metadata: { a: null },
      });
      assert.deepEqual([changed.name, changed.metadata], ['There', { b: '2' }]);
      const request = client.beta.environments.update(id, { config: { type: 'self_hosted' } });
      assert.equal((await getStatus(request)).status, 400);
    },
  },
  {
    call: 'environments.list',
    check: async (client) => {
      const ids: string[] = [];
      for (let index = 0; index < 3; index++) ids.unshift(await newEnvironment(client));
      await client.beta.environments.archive(ids[0] ?? '');
      const seen: string[] = [];
      for await (const { id } of client.beta.environments.list({ limit: 1 })) {
        seen.push(id);
        if (seen.length === 2) break;
      }
      assert.deepEqual(seen, ids.slice(1));
      const first = await client.beta.environments.list({ limit: 1, include_archived: true });
      assert.equal(first.data[0]?.id, ids[0]);
    },
  },
  {
    call: 'environments.archive',
    check: async (client) => {
      const id = await newEnvironment(client);
      assert.notEqual((await client.beta.environments.archive(id)).archived_at, null);
      const agent = await newAgent(client);
      const request = client.beta.sessions.create({ agent, environment_id: id });
      assert.equal((await getStatus(request)).status, 400);
    },
  },
  {
    call: 'environments.delete',
    check: async (client) => {
      const id = await newEnvironment(client);
      assert.equal((await client.beta.environments.delete(id)).type, 'environment_deleted');
      assert.equal((await getStatus(client.beta.environments.retrieve(id))).status, 404);
    },
  },
  {
    call: 'sessions.create',
    check: async (client) => {
      const agent = await newAgent(client);
      const environment_id = await newEnvironment(client);
      await client.beta.agents.update(agent, { version: 1, name: 'Newer' });
      const session = await client.beta.sessions.create({
        agent: { type: 'agent', id: agent, version: 1 },
        environment_id,
        title: 'First',
        metadata: { a: '1' },
      });
      assert.deepEqual(
        [session.status, session.title, session.agent.version, session.environment_id],
        ['idle', 'First', 1, environment_id],
      );
    },
  },
  {
    call: 'sessions.create with initial_events',
    check: async (client) => {
      const id = await newSession(client, {}, { initial_events: [userMessage('Good morning')] });
      const events = await untilIdle(client, id);
      const [block] = ofType(events, 'agent.message').content;
      assert.deepEqual(block, { type: 'text', text: 'You said: Good morning' });
    },
  },
  {
    call: 'sessions.retrieve',
    check: async (client) => {
      const id = await newSession(client);
      await sendAndCollect(client, id, 'Hi');
      const session = await client.beta.sessions.retrieve(id);
      assert.deepEqual([session.status, session.usage.output_tokens], ['idle', 5]);
    },
  },
  {
    call: 'sessions.update',
    check: async (client) => {
      const id = await newSession(client, {}, { metadata: { a: '1', b: '2' } });
      const changed = await client.beta.sessions.update(id, {
        title: 'Named',
        metadata: { a: null, c: '3' },
      });
      assert.deepEqual([changed.title, changed.metadata], ['Named', { b: '2', c: '3' }]);
    },
  },
  {
    call: 'sessions.list with every filter',
    check: async (client) => {
      const agent = await newAgent(client);
      const environment_id = await newEnvironment(client);
      const ids: string[] = [];
      for (let index = 0; index < 5; index++)
        ids.unshift((await client.beta.sessions.create({ agent, environment_id })).id);
      const list = async (
        query: Parameters<typeof client.beta.sessions.list>[0],
      ): Promise<readonly string[]> => {
        const seen: string[] = [];
        for await (const { id } of client.beta.sessions.list({ agent_id: agent, ...query }))
          seen.push(id);
        return seen;
      };
      assert.deepEqual(await list({ limit: 2 }), ids);
      assert.deepEqual(await list({ limit: 2, order: 'asc' }), ids.toReversed());
      assert.deepEqual(await list({ agent_version: 2 }), []);
      assert.deepEqual(await list({ 'created_at[gt]': new Date().toISOString() }), []);
      assert.deepEqual(await list({ 'created_at[lt]': new Date(0).toISOString() }), []);
      await client.beta.sessions.archive(ids[0] ?? '');
      assert.deepEqual(await list({}), ids.slice(1));
      assert.deepEqual(await list({ include_archived: true }), ids);
    },
  },
  {
    call: 'sessions.list by status',
    skip: noLists,
    check: async (client) => {
      const agent = await newAgent(client);
      const environment_id = await newEnvironment(client);
      const { id } = await client.beta.sessions.create({ agent, environment_id });
      const query = { agent_id: agent, include_archived: true };
      const list = async (statuses: ('idle' | 'running' | 'terminated')[]): Promise<unknown> =>
        (await client.beta.sessions.list({ ...query, statuses })).data.map((one) => one.id);
      assert.deepEqual(await list(['idle']), [id]);
      assert.deepEqual(await list(['running', 'terminated']), []);
      await client.beta.sessions.archive(id);
      assert.deepEqual(await list(['running', 'terminated']), [id]);
    },
  },
  {
    call: 'sessions.list, previous page',
    skip: (client) =>
      'toolRunner' in client.beta.sessions.events
        ? undefined
        : 'the pages of this version go on only',
    check: async (client) => {
      const agent = await newAgent(client);
      const environment_id = await newEnvironment(client);
      for (let index = 0; index < 4; index++)
        await client.beta.sessions.create({ agent, environment_id });
      const first = await client.beta.sessions.list({ agent_id: agent, limit: 2 });
      const second = await client.beta.sessions.list({
        agent_id: agent,
        limit: 2,
        page: first.next_page ?? null,
      });
      assert.equal(second.data.length, 2);
      const back = await client.beta.sessions.list({
        agent_id: agent,
        limit: 2,
        page: second.prev_page,
      });
      assert.deepEqual(
        back.data.map(({ id }) => id),
        first.data.map(({ id }) => id),
      );
    },
  },
  {
    call: 'sessions.archive',
    check: async (client) => {
      const id = await newSession(client);
      await sendAndCollect(client, id, 'Hi');
      const session = await client.beta.sessions.archive(id);
      assert.equal(session.status, 'terminated');
      assert.notEqual(session.archived_at, null);
      assert.equal((await collectEvents(client, id)).at(-1)?.type, 'session.status_terminated');
      const sending = client.beta.sessions.events.send(id, { events: [userMessage('Hi')] });
      assert.equal((await getStatus(sending)).status, 409);
    },
  },
  {
    call: 'sessions.delete',
    check: async (client) => {
      const id = await newSession(client);
      const stream = await client.beta.sessions.events.stream(id);
      assert.equal((await client.beta.sessions.delete(id)).type, 'session_deleted');
      const types: string[] = [];
      for await (const { type } of stream) types.push(type);
      assert.deepEqual(types, ['session.deleted']);
      assert.equal((await getStatus(client.beta.sessions.retrieve(id))).status, 404);
    },
  },
  {
    call: 'events.send',
    check: async (client) => {
      const id = await newSession(client);
      const { data } = await client.beta.sessions.events.send(id, {
        events: [userMessage('One'), userMessage('Two')],
      });
      assert.equal(data?.length, 2);
      assert.equal(data[0]?.processed_at, null);
      const events = await untilIdle(client, id);
      const ids = events.filter(({ type }) => type === 'user.message').map((event) => event.id);
      assert.deepEqual(
        ids,
        data.map((event) => event.id),
        'the listed ids equal the returned ids',
      );
    },
  },
  {
    call: 'events.send rejects an unknown event type',
    check: async (client) => {
      const id = await newSession(client);
      // @ts-expect-error -- an unknown event type
      const sending = client.beta.sessions.events.send(id, { events: [{ type: 'user.shrug' }] });
      assert.equal((await getStatus(sending)).status, 400);
    },
  },
  {
    call: 'events.list',
    check: async (client) => {
      const id = await newSession(client);
      const streamed = await sendAndCollect(client, id, 'Hi');
      const all = await collectEvents(client, id);
      assert.deepEqual(all, streamed, 'the list is what was streamed');
      const backwards: Event[] = [];
      for await (const event of client.beta.sessions.events.list(id, { limit: 2, order: 'desc' }))
        backwards.push(event);
      assert.deepEqual(backwards.toReversed(), streamed);
    },
  },
  {
    call: 'events.list by type and time',
    skip: noLists,
    check: async (client) => {
      const id = await newSession(client);
      const streamed = await sendAndCollect(client, id, 'Hi');
      const seen: string[] = [];
      const query = { types: ['user.message', 'agent.message'], limit: 1, order: 'desc' } as const;
      for await (const { type } of client.beta.sessions.events.list(id, {
        ...query,
        types: [...query.types],
      }))
        seen.push(type);
      assert.deepEqual(seen, ['agent.message', 'user.message']);
      const future = { 'created_at[gt]': new Date(Date.now() + 1000).toISOString() };
      assert.deepEqual((await client.beta.sessions.events.list(id, future)).data, []);
      const past = { 'created_at[lte]': new Date(Date.now() + 1000).toISOString() };
      assert.deepEqual((await client.beta.sessions.events.list(id, past)).data, streamed);
    },
  },
  {
    call: 'events.stream',
    check: async (client) => {
      const id = await newSession(client);
      const types = (await sendAndCollect(client, id, 'Hi')).map(({ type }) => type);
      assert.deepEqual(types, [
        'user.message',
        'session.status_running',
        'span.model_request_start',
        'agent.message',
        'span.model_request_end',
        'session.status_idle',
      ]);
    },
  },
  {
    call: 'events.stream with Last-Event-ID',
    check: async (client) => {
      const id = await newSession(client);
      const events = await sendAndCollect(client, id, 'Hi');
      for (const [index, seen] of events.slice(0, -1).entries()) {
        const headers = { 'Last-Event-ID': seen.id };
        const stream = await client.beta.sessions.events.stream(id, {}, { headers });
        const rest: Event[] = [];
        for await (const event of stream) {
          rest.push(event as Event);
          if (event.type === 'session.status_idle') break;
        }
        assert.deepEqual(rest, events.slice(index + 1));
      }
    },
  },
  {
    call: 'events.stream with previews',
    check: async (client) => {
      const id = await newSession(client);
      const stream = await client.beta.sessions.events.stream(id, {
        event_deltas: ['agent.message'],
      });
      await client.beta.sessions.events.send(id, { events: [userMessage('slowly 5')] });
      let text = '';
      const started: string[] = [];
      for await (const event of stream) {
        if (event.type === 'event_start') started.push(event.event.id);
        if (event.type === 'event_delta') text += event.delta.content.text;
        if (event.type !== 'agent.message') continue;
        assert.deepEqual(started, [event.id], 'the preview had the same id');
        assert.deepEqual(event.content, [{ type: 'text', text }]);
        break;
      }
      assert.match(text, /word 4/);
    },
    skip: (client) =>
      'toolRunner' in client.beta.sessions.events ? undefined : 'this version knows no previews',
  },
  {
    call: 'user.custom_tool_result',
    check: async (client) => {
      const id = await newSession(client, { tools: [deploy] });
      const events = await sendAndCollect(client, id, 'call deploy a and deploy b');
      const uses = events.filter((event) => event.type === 'agent.custom_tool_use');
      const idle = ofType(events, 'session.status_idle');
      assert.deepEqual(idle.stop_reason, {
        type: 'requires_action',
        event_ids: uses.map((use) => use.id),
      });
      const answer = (use: string, text: string): Promise<unknown> =>
        client.beta.sessions.events.send(id, {
          events: [
            {
              type: 'user.custom_tool_result',
              custom_tool_use_id: use,
              content: [{ type: 'text', text }],
            },
          ],
        });
      await answer(uses[1]?.id ?? '', 'second');
      await answer(uses[1]?.id ?? '', 'second');
      const remaining = (await collectEvents(client, id)).findLast(
        (event) => event.type === 'session.status_idle',
      );
      assert.deepEqual(remaining?.stop_reason, {
        type: 'requires_action',
        event_ids: [uses[0]?.id],
      });
      await answer(uses[0]?.id ?? '', 'first');
      const all = await untilIdle(client, id);
      const [block] = all.findLast((event) => event.type === 'agent.message')?.content ?? [];
      assert.deepEqual(block, {
        type: 'text',
        text: 'Results: {"result":"first"} {"result":"second"}',
      });
      const other = answer(uses[0]?.id ?? '', 'something else');
      assert.equal((await getStatus(other)).status, 400, 'the earlier answer is kept');
    },
  },
  {
    call: 'events.toolRunner',
    skip: noToolRunner,
    check: async (client) => {
      const id = await newSession(client, { tools: [deploy] });
      await client.beta.sessions.events.send(id, { events: [userMessage('call deploy prod')] });
      const ran: unknown[] = [];
      const tool = {
        ...deploy,
        run: async (input: unknown) => {
          ran.push(input);
          return 'deployed';
        },
        parse: (input: unknown) => input,
      };
      const runner = client.beta.sessions.events.toolRunner(id, {
        tools: [tool],
        maxIdleMs: 50,
      });
      for await (const call of runner) assert.equal(call.posted, true);
      assert.deepEqual(ran, [{ path: 'prod' }]);
      const events = await untilIdle(client, id);
      const [block] = events.findLast((event) => event.type === 'agent.message')?.content ?? [];
      assert.deepEqual(block, { type: 'text', text: 'Results: {"result":"deployed"}' });
    },
  },
  {
    call: 'events.toolRunner whose connection breaks during a call',
    skip: noToolRunner,
    check: async (client, on) => {
      await using proxy = await cuttableProxy(on.url);
      const id = await newSession(client, { tools: [deploy] });
      await client.beta.sessions.events.send(id, { events: [userMessage('call deploy prod')] });
      const ran: unknown[] = [];
      const tool = {
        ...deploy,
        run: async (input: unknown) => {
          ran.push(input);
          proxy.cut();
          return 'deployed';
        },
        parse: (input: unknown) => input,
      };
      const near = client.withOptions({ baseURL: proxy.url });
      const runner = near.beta.sessions.events.toolRunner(id, { tools: [tool], maxIdleMs: 50 });
      for await (const call of runner) assert.equal(call.posted, true);
      assert.deepEqual(ran, [{ path: 'prod' }], 'it ran once');
      const events = await untilIdle(client, id);
      const results = events.filter(({ type }) => type === 'user.custom_tool_result');
      assert.equal(results.length, 1);
      const [block] = events.findLast((event) => event.type === 'agent.message')?.content ?? [];
      assert.deepEqual(block, { type: 'text', text: 'Results: {"result":"deployed"}' });
    },
  },
  ...(['allow', 'deny'] as const).map((result): ConformanceCase => ({
    call: `user.tool_confirmation: ${result}`,
    check: async (client) => {
      const id = await newSession(client, { tools: [guardedTool] });
      const events = await sendAndCollect(client, id, 'call bash x');
      const use = ofType(events, 'agent.tool_use');
      assert.equal(use.evaluated_permission, 'ask');
      await client.beta.sessions.events.send(id, {
        events: [
          {
            type: 'user.tool_confirmation',
            tool_use_id: use.id,
            result,
            ...(result === 'deny' && { deny_message: 'Better not.' }),
          },
        ],
      });
      const all = await untilIdle(client, id);
      assert.equal(ofType(all, 'user.tool_confirmation').result, result);
      const shown = ofType(all, 'agent.tool_result');
      assert.deepEqual([shown.tool_use_id, shown.is_error], [use.id, result === 'deny']);
      if (result === 'deny') assert.match(JSON.stringify(shown.content), /Better not/);
    },
  })),
  {
    call: 'user.interrupt',
    check: async (client) => {
      const id = await newSession(client);
      const stream = await client.beta.sessions.events.stream(id);
      await client.beta.sessions.events.send(id, { events: [userMessage('slowly 500')] });
      const types: string[] = [];
      for await (const event of stream) {
        types.push(event.type);
        if (event.type === 'session.status_running')
          await client.beta.sessions.events.send(id, { events: [{ type: 'user.interrupt' }] });
        if (event.type !== 'session.status_idle') continue;
        assert.deepEqual(event.stop_reason, { type: 'end_turn' });
        break;
      }
      assert.ok(types.includes('user.interrupt'));
      assert.equal((await client.beta.sessions.retrieve(id)).status, 'idle');
      assert.equal(
        (await sendAndCollect(client, id, 'Still there?')).at(-1)?.type,
        'session.status_idle',
      );
    },
  },
  {
    call: 'user.define_outcome',
    check: async (client) => {
      const id = await newSession(client);
      const { data } = await client.beta.sessions.events.send(id, {
        events: [
          {
            type: 'user.define_outcome',
            description: 'A poem',
            rubric: { type: 'text', content: 'It rhymes' },
            max_iterations: 1,
          },
        ],
      });
      const events = await untilIdle(client, id);
      assert.equal(ofType(events, 'user.define_outcome').id, data?.[0]?.id);
      const { iteration, result } = ofType(events, 'span.outcome_evaluation_end');
      assert.deepEqual([iteration, result], [1, 'satisfied']);
    },
  },
  {
    call: 'threads.list, retrieve and events',
    skip: noThreads,
    check: async (client) => {
      const { threads, events } = client.beta.sessions;
      const session_id = await newSession(client);
      await sendAndCollect(client, session_id, 'Hi');
      const seen: string[] = [];
      for await (const { id } of threads.list(session_id)) seen.push(id);
      const [id = ''] = seen;
      assert.equal(seen.length, 1);
      const thread = await threads.retrieve(id, { session_id });
      assert.deepEqual(
        [thread.session_id, thread.parent_thread_id, thread.status],
        [session_id, null, 'idle'],
      );
      const stream = await threads.events.stream(id, { session_id });
      await events.send(session_id, { events: [userMessage('Again')] });
      const types: string[] = [];
      for await (const { type } of stream) {
        types.push(type);
        if (type === 'session.status_idle') break;
      }
      assert.ok(types.includes('agent.message'));
      const { data } = await threads.events.list(id, { session_id, limit: 1000 });
      assert.deepEqual(data, await collectEvents(client, session_id));
      assert.equal((await getStatus(threads.archive(id, { session_id }))).status, 400);
      assert.equal((await getStatus(threads.retrieve('sthr_none', { session_id }))).status, 404);
    },
  },
  {
    call: 'threads.archive',
    skip: noThreads,
    check: async (client) => {
      const called = await newAgent(client, { name: 'deployer' });
      const session_id = await newSession(client, {
        multiagent: { type: 'coordinator', agents: [called] },
      });
      const { threads, events } = client.beta.sessions;
      await events.send(session_id, { events: [userMessage('call deployer {"request":"Hello"}')] });
      for (;;) {
        const child = (await threads.list(session_id)).data[1];
        if (child === undefined) continue;
        const archived = await threads.archive(child.id, { session_id });
        assert.deepEqual([archived.id, archived.status], [child.id, 'terminated']);
        break;
      }
      await untilIdle(client, session_id);
    },
  },
  {
    call: 'work.poll, ack, heartbeat, list, retrieve, update, stats and stop',
    skip: noWork,
    check: async (client) => {
      const { work } = client.beta.environments;
      const environment_id = await newEnvironment(client, { config: { type: 'self_hosted' } });
      const agent = await newAgent(client, { tools: [freeTool] });
      const session = await client.beta.sessions.create({ agent, environment_id });
      assert.equal(await work.poll(environment_id), null);
      await client.beta.sessions.events.send(session.id, { events: [userMessage('call bash x')] });
      const item = await waitFor(async () => work.poll(environment_id, { block_ms: 500 }));
      const at = { environment_id };
      assert.deepEqual(item.data, { type: 'session', id: session.id });
      assert.equal((await work.ack(item.id, at)).state, 'starting');
      const expected_last_heartbeat = 'NO_HEARTBEAT';
      const beat = await work.heartbeat(item.id, { ...at, expected_last_heartbeat });
      assert.deepEqual([beat.state, beat.lease_extended], ['active', true]);
      const staleHeartbeat = work.heartbeat(item.id, { ...at, expected_last_heartbeat });
      assert.equal((await getStatus(staleHeartbeat)).status, 412);
      const named = await work.update(item.id, { ...at, metadata: { host: 'one' } });
      assert.deepEqual(named.metadata, { host: 'one' });
      assert.deepEqual((await work.list(environment_id)).data, [named]);
      assert.deepEqual(await work.retrieve(item.id, at), named);
      assert.equal((await work.stats(environment_id)).depth, 0);
      const use = await waitFor(async () => {
        const events = await collectEvents(client, session.id);
        return events.find((event) => event.type === 'agent.tool_use');
      });
      await client.beta.sessions.events.send(session.id, {
        events: [
          {
            type: 'user.tool_result',
            tool_use_id: use.id,
            content: [{ type: 'text', text: 'done' }],
          },
        ],
      });
      const events = await untilIdle(client, session.id);
      assert.equal(ofType(events, 'user.tool_result').tool_use_id, use.id);
      assert.equal((await work.stop(item.id, { ...at, force: true })).state, 'stopped');
      assert.equal((await getStatus(work.stop(item.id, at))).status, 409);
    },
  },
  {
    call: 'work.worker runs bash, read and write in its folder, and nothing outside it',
    skip: noWork,
    check: async (client) => {
      using folder = temporaryFolder();
      const environmentId = await newEnvironment(client, { config: { type: 'self_hosted' } });
      const configs = (['bash', 'read', 'write'] as const).map((name) => ({ name, enabled: true }));
      const agent = await newAgent(client, { tools: [{ ...freeTool, configs }] });
      const session = await client.beta.sessions.create({ agent, environment_id: environmentId });
      const ended = new AbortController();
      const calls = [
        'call write {"file_path":"a.txt","content":"hello"}',
        'call read {"file_path":"a.txt"}',
        'call bash {"command":"cat<a.txt"}',
        'call read {"file_path":"../../../../etc/passwd"}',
      ];
      const running = client.beta.environments.work
        .worker({
          environmentId,
          environmentKey: 'none',
          workdir: folder.path,
          memorySyncIntervalMs: null,
        })
        .run(ended.signal)
        .catch(() => undefined);
      const resultsAfter = async (
        count: number,
      ): Promise<readonly Extract<Event, { type: 'user.tool_result' }>[]> =>
        waitFor(async () => {
          const events = await collectEvents(client, session.id);
          const results = events.filter((event) => event.type === 'user.tool_result');
          const isOver = events.at(-1)?.type === 'session.status_idle';
          return isOver && results.length === count ? results : undefined;
        });
      for (const [index, call] of calls.entries()) {
        await client.beta.sessions.events.send(session.id, { events: [userMessage(call)] });
        await resultsAfter(index + 1);
      }
      const results = await resultsAfter(calls.length);
      ended.abort();
      await running;
      assert.deepEqual(
        results.map(({ is_error }) => is_error),
        [false, false, false, true],
      );
      assert.match(JSON.stringify(results[1]?.content), /hello/);
      assert.match(JSON.stringify(results[2]?.content), /hello/);
    },
  },
  {
    call: 'webhooks.unwrap',
    skip: (client) =>
      'webhooks' in client.beta ? undefined : 'this version has no webhooks.unwrap',
    check: async (client, _, receiver) => {
      const { id, secret } = await client.post<{ id: string; secret: string }>('/v1/webhooks', {
        body: { url: receiver.url, events: ['session.created'] },
      });
      const before = receiver.deliveries.length;
      const session = await newSession(client);
      await receiver.waitFor(before + 1);
      const { body = '', headers = {} } = receiver.deliveries[before] ?? {};
      const event = client.beta.webhooks.unwrap(body, { headers, key: secret });
      assert.equal(event.data.type, 'session.created');
      assert.ok('id' in event.data && event.data.id === session);
      const forgedHeaders = { ...headers, 'webhook-signature': 'v1,AAAA' };
      assert.throws(() =>
        client.beta.webhooks.unwrap(body, { headers: forgedHeaders, key: secret }),
      );
      await client.delete(`/v1/webhooks/${id}`);
    },
  },
  {
    call: 'session.error',
    check: async (client) => {
      const id = await newSession(client);
      const events = await sendAndCollect(client, id, 'fail');
      const { error } = ofType(events, 'session.error');
      assert.equal(error.type, 'model_request_failed_error');
      assert.deepEqual(ofType(events, 'session.status_idle').stop_reason, {
        type: 'retries_exhausted',
      });
    },
  },
];
