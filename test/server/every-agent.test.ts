import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { App, FunctionTool, LlmAgent, LongRunningFunctionTool } from '../../src/adk/index.ts';
import { agent, sequential, START, workflow } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { createClient } from '../../src/client/index.ts';
import type { Client } from '../../src/client/index.ts';
import { openManagedRuntime } from '../../src/managed/index.ts';
import type { ManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { createServer, listen, registerAgents } from '../../src/server/index.ts';
import type { ListeningServer } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { checkResponses } from './response-check.ts';
import type { CheckedServer } from './response-check.ts';
import { scriptedChat } from './scripted-chat.ts';
import { userMessage } from './server-fixture.ts';

// Every verb of the clients over every kind of agent, with one expected result per verb.

const model = new ScriptedModel(scriptedChat);
const path = { type: 'object', properties: { path: { type: 'string' } } } as const;

const pay = tool({
  name: 'pay',
  description: 'Pays.',
  parameters: path,
  needsApproval: true,
  execute: () => 'paid',
});
const wait = tool({
  name: 'wait',
  description: 'Waits until it is stopped.',
  parameters: path,
  execute: async (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')));
    }),
});
const ask = tool({ name: 'ask', description: 'Asks a person.', parameters: path });
const tools = [pay, wait, ask];

const chat = (name: string): Agent => agent({ name, model, tools });

const KINDS = ['agent()', 'sequential()', 'workflow()', 'ADK App', 'definition'] as const;
type Kind = (typeof KINDS)[number];

const AGENT_IDS: Readonly<Record<Kind, string>> = {
  'agent()': 'agent_plain',
  'sequential()': 'agent_line',
  'workflow()': 'agent_flow',
  'ADK App': 'agent_desk',
  definition: 'agent_stored',
};

const SOURCES = [
  chat('plain'),
  sequential({ name: 'line', subAgents: [chat('first')] }),
  workflow({
    name: 'flow',
    nodes: [{ kind: 'agent', name: 'only', agent: chat('only') }],
    edges: [{ from: START, to: 'only' }],
  }),
  new App({
    name: 'desk',
    rootAgent: new LlmAgent({
      name: 'clerk',
      model,
      tools: [
        new FunctionTool({
          name: 'pay',
          description: 'Pays.',
          parameters: path,
          needsApproval: true,
          execute: () => 'paid',
        }),
        new FunctionTool({
          name: 'wait',
          description: 'Waits until it is stopped.',
          parameters: path,
          execute: async (_args, context) =>
            new Promise((_resolve, reject) => {
              context.signal.addEventListener('abort', () => reject(new Error('stopped')));
            }),
        }),
        new LongRunningFunctionTool({
          name: 'ask',
          description: 'Asks a person.',
          parameters: path,
          execute: () => null,
        }),
      ],
    }),
  }),
];

const DEFINITION = {
  name: 'stored',
  model: 'gpt-5',
  tools: [
    { type: 'builtin', name: 'pay' },
    { type: 'builtin', name: 'wait' },
    { type: 'custom', name: 'ask', description: 'Asks a person.', input_schema: path },
  ],
};

/** What a verb works with. */
interface Subject {
  readonly kind: Kind;
  readonly agentId: string;
  readonly stock: Anthropic['beta'];
  readonly client: Client;
  /** A new session of the agent. */
  readonly start: () => Promise<string>;
  /** Sends events, and returns the types of what follows until the session is idle. */
  readonly send: (id: string, ...events: readonly object[]) => Promise<readonly string[]>;
}

const message = (text: string): object => userMessage(text);

/** The events that every kind has alike. Models and sub-agents report more in between. */
function listMilestones(types: readonly string[]): string {
  const shown = new Set([
    'user.message',
    'user.interrupt',
    'user.tool_confirmation',
    'session.status_running',
    'session.status_idle',
    'session.status_terminated',
    'agent.message',
    'session.error',
    'user.define_outcome',
    'span.outcome_evaluation_end',
  ]);
  return types.filter((type) => shown.has(type)).join(' ');
}

async function findCall({ stock }: Subject, id: string, name: string): Promise<string> {
  for await (const event of stock.sessions.events.list(id))
    if ('name' in event && event.name === name) return event.id;
  throw new Error(`there is no call of ${name}`);
}

/** Waits until the tool `wait` runs. */
async function startWaiting({ stock, client }: Subject, id: string): Promise<void> {
  await stock.sessions.events.send(id, { events: [userMessage('call wait x')] });
  for await (const event of client.sessions.events(id, { after: 0 }))
    if ('name' in event && event.name === 'wait') return;
}

type Verb = (subject: Subject) => Promise<unknown>;

const VERBS: Readonly<Record<string, readonly [verb: Verb, expected: unknown]>> = {
  'read an agent': [
    async ({ stock, agentId }) => {
      const { id, version } = await stock.agents.retrieve(agentId);
      const versions = (await stock.agents.versions.list(agentId)).data.length;
      const listed: string[] = [];
      for await (const one of stock.agents.list()) listed.push(one.id);
      return [id === agentId, version, versions, listed.includes(agentId)];
    },
    [true, 1, 1, true],
  ],
  'start with a message': [
    async ({ client, agentId }) => {
      const initial_events = [userMessage('Hi')];
      const { id } = await client.sessions.create({ agent: agentId, initial_events });
      for await (const event of client.sessions.events(id, { after: 0 }))
        if (event.type === 'session.status_idle') break;
      return listTypes(client, id);
    },
    'user.message session.status_running agent.message session.status_idle',
  ],
  'send and stream': [
    async ({ start, send }) => listMilestones(await send(await start(), message('Hi'))),
    'user.message session.status_running agent.message session.status_idle',
  ],
  'list events in pages': [
    async ({ stock, start, send }) => {
      const id = await start();
      await send(id, message('Hi'));
      const one: string[] = [];
      for await (const event of stock.sessions.events.list(id, { limit: 1 })) one.push(event.id);
      const all = (await stock.sessions.events.list(id, { limit: 100 })).data;
      return one.join() === all.map((event) => event.id).join();
    },
    true,
  ],
  'approve a call': [
    async (subject) => {
      const { start, send, stock } = subject;
      const id = await start();
      const asked = await send(id, message('call pay x'));
      const call = await findCall(subject, id, 'pay');
      const done = await send(id, {
        type: 'user.tool_confirmation',
        tool_use_id: call,
        result: 'allow',
      });
      const text = JSON.stringify((await stock.sessions.events.list(id, { limit: 100 })).data);
      return [listMilestones(asked), listMilestones(done), /Results: .*paid/.test(text)];
    },
    [
      'user.message session.status_running session.status_idle',
      'session.status_running user.tool_confirmation agent.message session.status_idle',
      true,
    ],
  ],
  'deny a call': [
    async (subject) => {
      const { start, send } = subject;
      const id = await start();
      await send(id, message('call pay x'));
      const call = await findCall(subject, id, 'pay');
      return listMilestones(
        await send(id, {
          type: 'user.tool_confirmation',
          tool_use_id: call,
          result: 'deny',
          deny_message: 'No.',
        }),
      );
    },
    'session.status_running user.tool_confirmation agent.message session.status_idle',
  ],
  'answer a call': [
    async (subject) => {
      const { start, send, stock } = subject;
      const id = await start();
      await send(id, message('call ask x'));
      const { data } = await stock.sessions.events.list(id, { limit: 100 });
      const call = data.find((event) => 'name' in event && event.name === 'ask');
      const content = [{ type: 'text', text: 'blue' }];
      const answer =
        call?.type === 'agent.custom_tool_use'
          ? { type: 'user.custom_tool_result', custom_tool_use_id: call.id, content }
          : { type: 'user.tool_result', tool_use_id: call?.id, content };
      const types = await send(id, answer);
      const text = JSON.stringify((await stock.sessions.events.list(id, { limit: 100 })).data);
      return [listMilestones(types), /Results: .*blue/.test(text)];
    },
    ['session.status_running agent.message session.status_idle', true],
  ],
  'list pending calls': [
    async (subject) => {
      const { start, send, client, agentId } = subject;
      const id = await start();
      await send(id, message('call pay x'));
      for await (const call of client.pending.list({ agent_id: agentId }))
        if (call.session_id === id) return [call.name, call.needs];
      return 'none';
    },
    ['pay', 'approval'],
  ],
  interrupt: [
    async (subject) => {
      const id = await subject.start();
      await startWaiting(subject, id);
      const types = await subject.send(id, { type: 'user.interrupt' });
      return listMilestones(types);
    },
    'user.interrupt session.status_idle',
  ],
  'pause and resume': [
    async (subject) => {
      const { client, start, send } = subject;
      const id = await start();
      const paused = await client.sessions.pause(id);
      await client.sessions.send(id, 'Hi');
      const held = await client.sessions.get(id);
      await client.sessions.resume(id);
      for await (const event of client.sessions.events(id, { after: 0 }))
        if (event.type === 'session.status_idle') break;
      return [paused.paused, held.paused, listMilestones(await send(id, message('Again')))];
    },
    [true, true, 'user.message session.status_running agent.message session.status_idle'],
  ],
  'title and metadata': [
    async ({ stock, start }) => {
      const id = await start();
      await stock.sessions.update(id, { title: 'T', metadata: { a: 'b' } });
      const { title, metadata } = await stock.sessions.retrieve(id);
      return [title, metadata];
    },
    ['T', { a: 'b' }],
  ],
  fork: [
    async ({ client, start, send }) => {
      const id = await start();
      await send(id, message('Hi'));
      const fork = await client.sessions.fork(id);
      const before = await listTypes(client, fork.id);
      return [before, listMilestones(await send(fork.id, message('Again')))];
    },
    [
      'user.message session.status_running agent.message session.status_idle',
      'user.message session.status_running agent.message session.status_idle',
    ],
  ],
  rewind: [
    async ({ stock, client, start, send }) => {
      const id = await start();
      await send(id, message('One'));
      await send(id, message('Two'));
      const { data } = await stock.sessions.events.list(id, { types: ['user.message'] });
      await client.sessions.rewind(id, data[1]?.id ?? '');
      return listMilestones(await send(id, message('Three')));
    },
    'user.message session.status_running agent.message session.status_idle',
  ],
  inspect: [
    async ({ client, start, send }) => {
      const id = await start();
      await send(id, message('Hi'));
      const kinds = new Set<string>();
      for await (const { kind } of client.sessions.records(id)) kinds.add(kind);
      const { places } = await client.sessions.marking(id);
      const net = await client.sessions.net(id);
      const points: unknown[] = [];
      for await (const point of client.sessions.forkPoints(id)) points.push(point);
      return [
        kinds.has('fired'),
        Object.keys(places).length > 0,
        net.transitions.length > 0,
        points.length > 0,
      ];
    },
    [true, true, true, true],
  ],
  threads: [
    async ({ stock, start }) => {
      const id = await start();
      const [own, ...others] = (await stock.sessions.threads.list(id)).data;
      const { data } = await stock.sessions.threads.events.list(own?.id ?? '', { session_id: id });
      return [own?.parent_thread_id, others.length, data.length];
    },
    [null, 0, 0],
  ],
  usage: [
    async ({ client, start, send, agentId }) => {
      await send(await start(), message('Hi'));
      const [total] = await client.usage({ agentId });
      return total !== undefined && total.calls > 0 && total.input_tokens > 0;
    },
    true,
  ],
  'list sessions': [
    async ({ stock, start, agentId }) => {
      const id = await start();
      for await (const one of stock.sessions.list({ agent_id: agentId })) return one.id === id;
      return 'none';
    },
    true,
  ],
  'follow the list of sessions': [
    async ({ client, start, agentId }) => {
      const ended = new AbortController();
      const changes = client.sessions.changes({ agentId, signal: ended.signal });
      let id: string | undefined;
      for await (const { change } of changes) {
        if (change.type === 'sessions.current') id = await start();
        if (change.type === 'sessions.changed' && change.session.id === id) break;
      }
      ended.abort();
      return 'seen';
    },
    'seen',
  ],
  archive: [
    async ({ stock, start, send }) => {
      const id = await start();
      await send(id, message('Hi'));
      const { status, archived_at } = await stock.sessions.archive(id);
      const refused = await stock.sessions.events
        .send(id, { events: [userMessage('More')] })
        .catch((error: unknown) => (error as { status?: number }).status);
      return [status, archived_at === null, refused];
    },
    ['terminated', false, 409],
  ],
  delete: [
    async ({ stock, start }) => {
      const id = await start();
      await stock.sessions.delete(id);
      return stock.sessions
        .retrieve(id)
        .catch((error: unknown) => (error as { status?: number }).status);
    },
    404,
  ],
  'change or archive the agent': [
    async ({ stock, agentId }) => {
      const { version, name } = await stock.agents.retrieve(agentId);
      await stock.agents.update(agentId, { version, name, description: 'Changed.' });
      return (await stock.agents.retrieve(agentId)).description;
    },
    'Changed.',
  ],
};

const CODE = 'the program defines the agent: 405';

/** The cells without the verb, each with its reason. */
const MISSING: Readonly<Record<string, Readonly<Partial<Record<Kind, string>>>>> = {
  'change or archive the agent': {
    'agent()': CODE,
    'sequential()': CODE,
    'workflow()': CODE,
    'ADK App': CODE,
  },
};

async function listTypes(client: Client, id: string): Promise<string> {
  const types: string[] = [];
  for await (const { type } of client.sessions.listEvents(id)) types.push(type);
  return listMilestones(types);
}

let server: CheckedServer;
let listening: ListeningServer;
let runtime: ManagedRuntime;

before(async () => {
  const store = new MemoryStore();
  runtime = await openManagedRuntime({
    agents: SOURCES,
    store,
    resolver: async () => model,
    builtIns: async (name) => tools.filter((one) => one.name === name && !one.external),
  });
  await registerAgents({ runtime, store }, 'default', [DEFINITION]);
  const limits = { createsPerMinute: 10_000, requestsPerMinute: 100_000 };
  server = checkResponses(await createServer({ runtime, keys: 'off', limits }));
  listening = await listen(server, { port: 0, keysRequired: false });
});

after(async () => {
  await listening.close();
  await runtime.close();
  assert.deepEqual(server.violations, []);
});

function createSubject(kind: Kind): Subject {
  const { url } = listening;
  const { beta: stock } = new Anthropic({ baseURL: url, apiKey: 'none' });
  const client = createClient({ baseUrl: url });
  return {
    kind,
    agentId: AGENT_IDS[kind],
    stock,
    client,
    start: async () => (await client.sessions.create({ agent: AGENT_IDS[kind] })).id,
    send: async (id, ...events) => {
      const stream = await stock.sessions.events.stream(id);
      await stock.sessions.events.send(id, { events: events as never });
      const types: string[] = [];
      for await (const { type } of stream) {
        types.push(type);
        if (type === 'session.status_idle' || type === 'session.status_terminated') break;
      }
      return types;
    },
  };
}

for (const [name, [verb, expected]] of Object.entries(VERBS))
  for (const kind of KINDS) {
    const reason = MISSING[name]?.[kind];
    test(`${name}: ${kind}${reason === undefined ? '' : ` (missing: ${reason})`}`, async () => {
      if (reason === undefined) assert.deepEqual(await verb(createSubject(kind)), expected);
      else
        await assert.rejects(verb(createSubject(kind)), (error) =>
          reason.endsWith(String((error as { status?: number }).status)),
        );
    });
  }

test('docs/server.md has the table of verbs', () => {
  const page = readFileSync(new URL('../../docs/server.md', import.meta.url), 'utf8');
  const rows = Object.keys(VERBS).map((name) => {
    const cells = KINDS.map((kind) => MISSING[name]?.[kind]?.slice(-3) ?? 'yes');
    return [name, ...cells];
  });
  for (const row of rows) {
    const pattern = row
      .map((cell) => cell.replaceAll(/[()]/g, String.raw`\$&`))
      .join(String.raw` +\| +`);
    assert.match(page, new RegExp(String.raw`^\| ${pattern} +\|$`, 'm'), row.join(' | '));
  }
});
