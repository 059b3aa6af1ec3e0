/** The stock client of AG-UI and agents that work for others: it checks that their events are nested and attributed. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { agent, agentTool, parallel, sequential } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { isFunctionResponsePart } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { tool } from '../../src/tools/index.ts';
import { openTestServer } from './test-server.ts';

// The package is installed in test/protocols only, so its name is not written as an import.
const AG_UI = '@ag-ui/client';

interface SentEvent {
  readonly type: string;
  readonly subagentRunId?: string;
  readonly parentSubagentRunId?: string;
  readonly parentToolCallId?: string;
  readonly toolCallId?: string;
  readonly name?: string;
  readonly metadata?: { readonly agent?: string };
  readonly outcome?: {
    readonly type: string;
    readonly interrupts?: readonly { readonly id: string }[];
    readonly interruptIds?: readonly string[];
  };
}

interface HttpAgent {
  readonly messages: readonly { readonly id: string; readonly role: string }[];
  addMessage(message: object): void;
  runAgent(
    parameters: object,
    subscriber: { readonly onEvent: (received: { readonly event: SentEvent }) => void },
  ): Promise<unknown>;
}

async function openClient(url: string, name: string, threadId: string): Promise<HttpAgent> {
  const module = (await import(AG_UI)) as {
    readonly HttpAgent: new (config: object) => HttpAgent;
  };
  return new module.HttpAgent({ url: `${url}/ag-ui/agent_${name}`, threadId });
}

/** Runs the agent. The client throws for an event that its protocol does not allow. */
async function run(client: HttpAgent, parameters: object = {}): Promise<readonly SentEvent[]> {
  const events: SentEvent[] = [];
  const onEvent = ({ event }: { readonly event: SentEvent }): void => void events.push(event);
  await client.runAgent({ runId: randomUUID(), ...parameters }, { onEvent });
  return events;
}

const erase = tool({
  name: 'erase',
  description: 'Erases.',
  needsApproval: true,
  execute: () => 'erased',
});
const look = tool({ name: 'look', description: 'Looks.', readOnly: true, execute: () => 'seen' });

/** An agent that calls a tool once, and then says its name. */
function caller(name: string, called: string, tools: Parameters<typeof agent>[0]['tools']): Agent {
  return agent({
    name,
    description: `Is ${name}.`,
    tools: tools ?? [],
    model: new ScriptedModel(({ contents }) =>
      contents.some(({ parts }) => parts.some(isFunctionResponsePart))
        ? { thinking: 'Hm.', deltas: [name, '.'], text: `${name}.` }
        : { toolCalls: [{ name: called, args: called === 'helper' ? { request: 'Help.' } : {} }] },
    ),
  });
}

const starts = (events: readonly SentEvent[]): readonly SentEvent[] =>
  events.filter(({ type }) => type === 'SUBAGENT_STARTED');

test('sub-agents that run in parallel are nested, and each event is that of its agent', async () => {
  const root = sequential({
    name: 'flow',
    subAgents: [
      parallel({
        name: 'both',
        subAgents: [caller('left', 'look', [look]), caller('right', 'look', [look])],
      }),
    ],
  });
  await using server = await openTestServer({ agents: [root], protocols: ['ag-ui'] });
  const client = await openClient(server.url, 'flow', 't1');
  client.addMessage({ id: 'm1', role: 'user', content: 'go' });
  const events = await run(client);
  const byName = new Map(starts(events).map((event) => [event.name, event]));
  assert.deepEqual(new Set(byName.keys()), new Set(['both', 'left', 'right']));
  const outer = byName.get('both')?.subagentRunId;
  for (const name of ['left', 'right']) {
    const { subagentRunId, parentSubagentRunId } = byName.get(name) ?? {};
    assert.equal(parentSubagentRunId, outer);
    const own = events.filter(({ metadata }) => metadata?.agent === name);
    assert.deepEqual(
      new Set(own.map(({ type }) => type)),
      new Set([
        'TOOL_CALL_START',
        'REASONING_START',
        'REASONING_MESSAGE_START',
        'TEXT_MESSAGE_START',
      ]),
    );
    for (const event of own) assert.equal(event.subagentRunId, subagentRunId, event.type);
  }
  // Another client of the thread gets the same messages.
  const other = await openClient(server.url, 'flow', 't1');
  await run(other);
  assert.deepEqual(
    other.messages.map(({ id, role }) => [id, role]),
    client.messages.map(({ id, role }) => [id, role]),
  );
});

test('a called agent that waits for an approval is suspended, and goes on under its id in the run that approves', async () => {
  const root = caller('boss', 'helper', [agentTool(caller('helper', 'erase', [erase]))]);
  await using server = await openTestServer({ agents: [root], protocols: ['ag-ui'] });
  const client = await openClient(server.url, 'boss', 't1');
  client.addMessage({ id: 'm1', role: 'user', content: 'go' });
  const first = await run(client);
  const [helper] = starts(first);
  const call = first.find(({ type }) => type === 'TOOL_CALL_START');
  assert.deepEqual([helper?.name, helper?.parentToolCallId], ['helper', call?.toolCallId]);
  const interruptId = first.at(-1)?.outcome?.interrupts?.[0]?.id ?? '';
  const suspended = first.find(({ type }) => type === 'SUBAGENT_FINISHED');
  assert.equal(suspended?.subagentRunId, helper?.subagentRunId);
  assert.deepEqual(suspended?.outcome, { type: 'suspended', interruptIds: [interruptId] });
  const resume = [{ interruptId, status: 'resolved', payload: { approved: true } }];
  const second = await run(client, { resume });
  assert.deepEqual(
    starts(second).map(({ subagentRunId }) => subagentRunId),
    [helper?.subagentRunId],
  );
  const ended = second.find(({ type }) => type === 'SUBAGENT_FINISHED');
  assert.deepEqual([ended?.subagentRunId, ended?.outcome], [helper?.subagentRunId, undefined]);
  assert.equal(second.at(-1)?.outcome?.type, 'success');
});
