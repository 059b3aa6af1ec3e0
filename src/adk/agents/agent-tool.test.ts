import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  getFunctionCalls,
  getFunctionResponses,
  isFunctionResponsePart,
  contentText,
} from '../../core/index.ts';
import type { Content, Event } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { InMemoryArtifactService, pending, tool } from '../../tools/index.ts';
import { AgentTool } from './agent-tool.ts';
import { getPendingUserInputRequests } from '../contracts/user-input-request.ts';
import { InMemoryRunner } from '../runner/in-memory-runner.ts';
import { InMemorySessionService } from '../sessions/in-memory-session-service.ts';
import { LlmAgent } from './llm-agent.ts';
import { Runner } from '../runner/runner.ts';

const sessionIds = { userId: 'u1', sessionId: 's1' } as const;

/** A model that calls these tools one after the other and then returns the text of the last result. */
function callsInTurn(...calls: readonly { readonly name: string; readonly args?: object }[]) {
  return new ScriptedModel(({ contents }) => {
    const results = contents.flatMap(({ parts }) => parts.filter(isFunctionResponsePart));
    const call = calls[results.length];
    return call === undefined
      ? { text: `Done: ${JSON.stringify(results.at(-1)?.functionResponse.response)}` }
      : { toolCalls: [{ name: call.name, args: { ...call.args } }] };
  });
}

const asks = (name: string, request = 'Go') => ({ name, args: { request } });

async function started(root: LlmAgent, state: Record<string, string> = {}) {
  const runner = new InMemoryRunner({ agent: root, appName: 'demo' });
  await runner.sessionService.createSession({ appName: 'demo', ...sessionIds, state });
  return runner;
}

const responded = (events: readonly Event[]) =>
  events.flatMap((event) => getFunctionResponses(event).map(({ response }) => response));

const answer = (id: string, name: string, response: object): Content => ({
  role: 'user',
  parts: [{ functionResponse: { id, name, response: { ...response } } }],
});

describe('a called agent is part of its invocation', () => {
  it("starts with the caller's state, and its changes are merged into the caller's state at the end", async () => {
    const seen: unknown[] = [];
    const noteTool = tool({
      name: 'note',
      description: 'Notes.',
      execute: (_, { state }) => {
        seen.push(state.get('city'), state.get('user:lang'), state.get('temp:once'));
        state.set('city', 'Paris');
        state.set('user:lang', 'fr');
        state.set('temp:own', 'x');
        state.delete('old');
        return 'ok';
      },
    });
    const model = callsInTurn({ name: 'note' });
    const clerk = new LlmAgent({
      name: 'clerk',
      model,
      identity: false,
      instruction: 'They live in {city}.',
      outputKey: 'report',
      tools: [noteTool],
    });
    await using runner = await started(
      new LlmAgent({
        name: 'boss',
        model: callsInTurn(asks('clerk')),
        tools: [new AgentTool({ agent: clerk })],
      }),
      { city: 'London', old: 'yes', 'user:lang': 'en' },
    );
    const events = await runner.run({
      ...sessionIds,
      newMessage: 'Hi',
      stateDelta: { 'temp:once': 'once' },
    });
    assert.deepEqual(seen, ['London', 'en', 'once']);
    assert.equal(model.requests[0]?.instruction, 'They live in London.');
    const session = await runner.sessionService.getSession({ appName: 'demo', ...sessionIds });
    assert.deepEqual(
      { ...session?.state },
      { city: 'Paris', report: 'Done: {"result":"ok"}', 'user:lang': 'fr' },
    );
    // The event of the call lists the changes, without the agent's initial state.
    const deltas = events
      .filter(({ author }) => author === 'boss')
      .map((one) => one.actions.stateDelta);
    assert.deepEqual(Object.assign({}, ...deltas), {
      city: 'Paris',
      'user:lang': 'fr',
      old: null,
      report: 'Done: {"result":"ok"}',
    });
  });

  it("shares the caller's artifacts, in tools and instructions, at any depth", async () => {
    const artifacts = new InMemoryArtifactService();
    const save = tool({
      name: 'save',
      description: 'Saves.',
      execute: async (_, { artifacts: mine }) => {
        assert.deepEqual(await mine.list(), ['brief.txt']);
        return { version: await mine.save('report.txt', { text: 'All is well.' }) };
      },
    });
    const model = callsInTurn({ name: 'save' });
    const inner = new LlmAgent({
      name: 'inner',
      model,
      identity: false,
      instruction: 'The brief: {artifact.brief.txt}',
      tools: [save],
    });
    const clerk = new LlmAgent({
      name: 'clerk',
      model: callsInTurn(asks('inner')),
      tools: [new AgentTool({ agent: inner })],
    });
    const boss = new LlmAgent({
      name: 'boss',
      model: callsInTurn(asks('clerk')),
      tools: [new AgentTool({ agent: clerk })],
    });
    await using runner = new Runner({
      agent: boss,
      appName: 'demo',
      sessionService: new InMemorySessionService(),
      artifactService: artifacts,
    });
    await runner.sessionService.createSession({ appName: 'demo', ...sessionIds });
    const session = { appName: 'demo', ...sessionIds };
    await artifacts.save({ session, name: 'brief.txt' }, { text: 'Look.' }, { saveId: '1' });
    const events = await runner.run({ ...sessionIds, newMessage: 'Hi' });
    assert.equal(model.requests[0]?.instruction, 'The brief: Look.');
    assert.deepEqual(await artifacts.list(session), ['brief.txt', 'report.txt']);
    const deltas = events.map(({ actions }) => actions.artifactDelta);
    assert.deepEqual(Object.assign({}, ...deltas), { 'report.txt': 0 });
  });

  it('returns its answer as the answer of the caller with skipSummarization', async () => {
    const clerk = new LlmAgent({ name: 'clerk', model: new ScriptedModel([{ text: 'Blue.' }]) });
    const model = callsInTurn(asks('clerk'));
    await using runner = await started(
      new LlmAgent({
        name: 'boss',
        model,
        tools: [new AgentTool({ agent: clerk, skipSummarization: true })],
      }),
    );
    const events = await runner.run({ ...sessionIds, newMessage: 'Hi' });
    assert.equal(model.requests.length, 1);
    assert.deepEqual(responded(events), [{ result: 'Blue.' }]);
  });

  it('is not in the list of sessions', async () => {
    const clerk = new LlmAgent({ name: 'clerk', model: new ScriptedModel([{ text: 'Blue.' }]) });
    await using runner = await started(
      new LlmAgent({
        name: 'boss',
        model: callsInTurn(asks('clerk')),
        tools: [new AgentTool({ agent: clerk })],
      }),
    );
    await runner.run({ ...sessionIds, newMessage: 'Hi' });
    const { sessions } = await runner.sessionService.listSessions({ appName: 'demo' });
    assert.deepEqual(
      sessions.map(({ id }) => id),
      ['s1'],
    );
  });
});

describe('a called agent that waits', () => {
  const done: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    needsApproval: true,
    execute: () => {
      done.push('paid');
      return 'paid';
    },
  });
  const ask = tool({
    name: 'ask',
    description: 'Asks.',
    execute: () => pending({ request: 'Why?' }),
  });

  const nested = (leaf: LlmAgent): LlmAgent => {
    const clerk = new LlmAgent({
      name: 'clerk',
      model: callsInTurn(asks('payer')),
      tools: [new AgentTool({ agent: leaf })],
    });
    return new LlmAgent({
      name: 'boss',
      model: callsInTurn(asks('clerk')),
      tools: [new AgentTool({ agent: clerk })],
    });
  };

  it('ends runAsync with an event that lists its calls, and continues after they are answered', async () => {
    done.length = 0;
    const payer = new LlmAgent({
      name: 'payer',
      model: callsInTurn({ name: 'pay' }, { name: 'ask' }),
      tools: [pay, ask],
    });
    await using runner = await started(nested(payer));
    const first = await runner.run({ ...sessionIds, newMessage: 'Hi' });
    const waiting = first.at(-1);
    const [callId = ''] = waiting?.longRunningToolIds ?? [];
    const [asked] = getPendingUserInputRequests(first);
    assert.deepEqual(
      [asked?.kind, asked?.interruptId, asked?.toolName],
      ['confirmation', callId, 'pay'],
    );
    assert.equal(waiting?.author, 'boss');
    assert.ok(
      !first
        .slice(0, -1)
        .flatMap(getFunctionCalls)
        .some(({ id }) => id === callId),
    );
    assert.deepEqual(done, []);

    const second = await runner.run({
      ...sessionIds,
      newMessage: answer(callId, 'pay', { confirmed: true }),
    });
    assert.deepEqual(done, ['paid']);
    const [next = ''] = second.at(-1)?.longRunningToolIds ?? [];
    assert.notEqual(next, callId);

    const third = await runner.run({
      ...sessionIds,
      newMessage: answer(next, 'ask', { why: 'So.' }),
    });
    const last = third.at(-1)?.content;
    assert.ok(last);
    assert.match(contentText(last), /Done: .*So\./);
    assert.deepEqual(
      new Set([...first, ...second, ...third].map(({ invocationId }) => invocationId)).size,
      1,
    );
    // Each call was answered once.
    await assert.rejects(
      runner.run({ ...sessionIds, newMessage: answer(callId, 'pay', { confirmed: true }) }),
      { code: 'invalid_input' },
    );
    assert.deepEqual(done, ['paid']);
  });
});
