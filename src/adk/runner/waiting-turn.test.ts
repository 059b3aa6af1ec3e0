import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { getFunctionCalls } from '../index.ts';
import { isFinalResponse, contentText } from '../../core/index.ts';
import type { Content, Event } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { pending } from '../../tools/index.ts';
import { AgentBuilder } from '../builder/agent-builder.ts';
import { AgentTool } from '../agents/agent-tool.ts';
import { FunctionTool, LongRunningFunctionTool } from '../tools/base-tool.ts';
import { InMemoryRunner } from './in-memory-runner.ts';
import { LlmAgent } from '../agents/llm-agent.ts';
import { NoAnswerError } from '../builder/enhanced-runner.ts';
import { SequentialAgent } from '../agents/sequential-agent.ts';

const sessionIds = { userId: 'u1', sessionId: 's1' } as const;
const address = { appName: 'demo', ...sessionIds } as const;

const ticket = new LongRunningFunctionTool({
  name: 'ticket',
  description: 'Files a ticket.',
  parameters: z.object({ about: z.string() }),
  // The turn waits for the result.
  execute: () => pending({ request: { status: 'filed' } }),
});

const pay = new FunctionTool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ amount: z.number() }),
  needsApproval: true,
  execute: ({ amount }) => ({ paid: amount }),
});

const approvalHint =
  'Please approve or reject the tool call pay() by responding with a FunctionResponse with an expected ToolConfirmation payload.';

const toolCalls = [
  { name: 'ticket', args: { about: 'a leak' } },
  { name: 'pay', args: { amount: 7 } },
];

/** Calls both tools for the first message, and repeats later messages. */
const model = (): ScriptedModel =>
  new ScriptedModel(({ contents }) => {
    const users = contents.filter(({ role }) => role === 'user');
    const last = contents.at(-1);
    if (last?.role === 'tool') return { text: 'Both are done.' };
    return users.length === 1 ? { toolCalls } : { text: `Heard: ${contentText(last)}` };
  });

const clerk = (): LlmAgent => new LlmAgent({ name: 'clerk', model: model(), tools: [ticket, pay] });

async function waitingRunner(agent = clerk()) {
  const runner = new InMemoryRunner({ appName: 'demo', agent });
  await runner.sessionService.createSession(address);
  const first = await runner.run({ ...sessionIds, newMessage: 'First' });
  const all = first.flatMap(({ longRunningToolIds = [] }) => longRunningToolIds);
  const ids = [...new Set(all)];
  assert.equal(ids.length, 2);
  const confirmation = ids.find((id) => id.startsWith('adk-')) ?? '';
  const result = ids.find((id) => id !== confirmation) ?? '';
  return { runner, first, confirmation, result };
}

const answer = (id: string, name: string, response: Record<string, string | boolean>): Content => ({
  role: 'user',
  parts: [{ functionResponse: { id, name, response } }],
});

const messageTexts = (events: readonly Event[]): readonly string[] =>
  events.flatMap(({ author, content }) =>
    contentText(content) === '' ? [] : [`${author}: ${contentText(content)}`],
  );

describe('a new message while calls of an earlier one wait', () => {
  it('gets one event that lists the calls, and the run ends', async () => {
    const { runner, first, confirmation, result } = await waitingRunner();
    await using _ = runner;
    const events = await runner.run({ ...sessionIds, newMessage: 'Second' });
    assert.equal(events.length, 1);
    const [event] = events;
    assert.ok(event !== undefined);
    assert.deepEqual(new Set(event.longRunningToolIds), new Set([confirmation, result]));
    assert.equal(event.author, 'clerk');
    assert.deepEqual(
      getFunctionCalls(event).map(({ id, name, args }) => [id, name, args]),
      [
        [result, 'ticket', { about: 'a leak' }],
        [
          confirmation,
          'adk_request_confirmation',
          {
            originalFunctionCall: {
              id: confirmation.replace('adk-', ''),
              name: 'pay',
              args: { amount: 7 },
            },
            toolConfirmation: { hint: approvalHint, confirmed: false },
          },
        ],
      ],
    );
    assert.deepEqual(event.actions.requestedToolConfirmations, {
      [confirmation.replace('adk-', '')]: { hint: approvalHint, confirmed: false },
    });
    assert.ok(isFinalResponse(event));
    assert.deepEqual(event.customMetadata, { queuedBehind: first[0]?.invocationId });
    assert.match(event.invocationId, /^e-/);
  });

  it('is kept, and runs after the calls are answered', async () => {
    const { runner, first, confirmation, result } = await waitingRunner();
    await using _ = runner;
    const [waiting] = await runner.run({ ...sessionIds, newMessage: 'Second' });
    const third = await runner.run({ ...sessionIds, newMessage: 'Third' });
    assert.deepEqual(
      third.map(({ longRunningToolIds = [] }) => longRunningToolIds.length),
      [2],
    );
    const kept = waiting?.invocationId ?? '';
    assert.notEqual(kept, first[0]?.invocationId);

    // One call is answered and the other still waits: a new message reports the waiting one.
    await runner.run({ ...sessionIds, newMessage: answer(result, 'ticket', { status: 'closed' }) });
    const [left] = await runner.run({ ...sessionIds, newMessage: 'Fourth' });
    assert.deepEqual(left?.longRunningToolIds, [confirmation]);

    const rest = await runner.run({
      ...sessionIds,
      newMessage: answer(confirmation, 'pay', { confirmed: true }),
    });
    assert.deepEqual(messageTexts(rest), ['clerk: Both are done.']);
    // Queued messages get their turns in order of arrival.
    await runner.run({ ...sessionIds, newMessage: 'Fifth' });
    const session = await runner.sessionService.getSession(address);
    assert.deepEqual(messageTexts(session?.events ?? []), [
      'user: First',
      'clerk: Both are done.',
      'user: Second',
      'clerk: Heard: Second',
      'user: Third',
      'clerk: Heard: Third',
      'user: Fourth',
      'clerk: Heard: Fourth',
      'user: Fifth',
      'clerk: Heard: Fifth',
    ]);
    const keptEvents = session?.events.filter(({ invocationId }) => invocationId === kept);
    assert.deepEqual(messageTexts(keptEvents ?? []), ['user: Second', 'clerk: Heard: Second']);
  });

  it('can be followed by its invocation id, before and during its turn', async () => {
    const { runner, confirmation, result } = await waitingRunner();
    await using _ = runner;
    const [waiting] = await runner.run({ ...sessionIds, newMessage: 'Second' });
    const invocationId = waiting?.invocationId ?? '';
    const [again, ...none] = await runner.run({ ...sessionIds, invocationId });
    assert.deepEqual(again?.longRunningToolIds, waiting?.longRunningToolIds);
    assert.deepEqual(none, []);
    await runner.run({ ...sessionIds, newMessage: answer(result, 'ticket', { status: 'closed' }) });
    const followed = await runner.run({ ...sessionIds, invocationId });
    assert.deepEqual(
      followed.map(({ longRunningToolIds }) => longRunningToolIds),
      [[confirmation]],
    );
    await runner.run({
      ...sessionIds,
      newMessage: answer(confirmation, 'pay', { confirmed: true }),
    });
    await runner.run({ ...sessionIds, newMessage: 'Third' });
    assert.deepEqual(await runner.run({ ...sessionIds, invocationId }), []);
    await assert.rejects(runner.run({ ...sessionIds, invocationId: 'e-nobody' }), {
      code: 'invalid_input',
      field: 'invocationId',
    });
  });

  it('yields the agent and the branch of the waiting call', async () => {
    const agent = new SequentialAgent({ name: 'root', subAgents: [clerk()] });
    const runner = new InMemoryRunner({ appName: 'demo', agent });
    await using _ = runner;
    await runner.sessionService.createSession(address);
    await runner.run({ ...sessionIds, newMessage: 'First' });
    const [event] = await runner.run({ ...sessionIds, newMessage: 'Second' });
    assert.equal(event?.author, 'clerk');
  });

  it('yields the waiting calls of an agent tool, too', async () => {
    const asks = new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'tool'
        ? { text: 'Paid.' }
        : { toolCalls: [{ name: 'pay', args: { amount: 3 } }] },
    );
    const payer = new LlmAgent({ name: 'payer', description: 'Pays.', model: asks, tools: [pay] });
    const boss = new LlmAgent({
      name: 'boss',
      model: new ScriptedModel(() => ({
        toolCalls: [{ name: 'payer', args: { request: 'Pay 3.' } }],
      })),
      tools: [new AgentTool({ agent: payer })],
    });
    const runner = new InMemoryRunner({ appName: 'demo', agent: boss });
    await using _ = runner;
    await runner.sessionService.createSession(address);
    const first = await runner.run({ ...sessionIds, newMessage: 'First' });
    const ids = first.flatMap(({ longRunningToolIds = [] }) => longRunningToolIds);
    const [event] = await runner.run({ ...sessionIds, newMessage: 'Second' });
    assert.deepEqual(event?.longRunningToolIds, ids);
    assert.deepEqual(
      event.content?.parts.map((part) => 'functionCall' in part && part.functionCall.name),
      ['adk_request_confirmation'],
    );
    assert.deepEqual(
      Object.keys(event.actions.requestedToolConfirmations).map((id) => `adk-${id}`),
      ids,
    );
  });

  it('makes ask() of a built agent throw an error that lists the waiting calls', async () => {
    const { runner } = await AgentBuilder.create('clerk')
      .withModel(model())
      .withTools(ticket, pay)
      .build();
    await using _ = runner;
    for (const message of ['First', 'Second'])
      await assert.rejects(runner.ask(message), (error: unknown) => {
        assert.ok(error instanceof NoAnswerError);
        assert.ok(error.waitingFor.length > 0);
        return true;
      });
  });
});
