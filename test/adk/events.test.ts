/** The statements of ADK's page on events, checked on the events of a Runner. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { eventMessage } from '../../src/core/index.ts';
import {
  BaseToolset,
  FunctionTool,
  getFunctionCalls,
  getFunctionResponses,
  InMemoryRunner,
  InMemorySessionService,
  isFinalResponse,
  LlmAgent,
  LongRunningFunctionTool,
  ParallelAgent,
  Runner,
  contentText,
} from '../../src/adk/index.ts';
import type { Event, SessionService } from '../../src/adk/index.ts';
import { scriptedResolver } from './scripted-resolver.ts';

const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 };
const modelResolver = scriptedResolver(({ contents }) =>
  contents.at(-1)?.role === 'user'
    ? { text: 'I look.', toolCalls: [{ name: 'look', args: { at: 'it' } }], usage }
    : { text: 'Seen.', usage },
);
const parameters = z.object({ at: z.string() });
const look = new FunctionTool({
  name: 'look',
  description: 'Looks',
  parameters,
  execute: () => 'a tree',
});
const lookAgent = new LlmAgent({ name: 'looker', model: 'gemini-2.5-flash', tools: [look] });

async function collectEvents(agent: LlmAgent | ParallelAgent): Promise<readonly Event[]> {
  await using runner = new InMemoryRunner({ agent, modelResolver });
  return await runner.runDebug('Look.');
}

describe('an event', () => {
  it('has a unique id, an author, a timestamp, and the id of its invocation', async () => {
    const events = await collectEvents(lookAgent);
    assert.equal(events.length, 3);
    assert.equal(new Set(events.map(({ id }) => id)).size, 3);
    assert.equal(new Set(events.map(({ invocationId }) => invocationId)).size, 1);
    for (const { id, author, timestamp } of events) {
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-/);
      assert.equal(author, 'looker');
      assert.ok(timestamp > 1e9 && timestamp < 1e11, 'seconds');
    }
  });

  it('has a usage if it comes from a model, and none otherwise', async () => {
    const events = await collectEvents(lookAgent);
    assert.deepEqual(
      events.map((event) => [event.content?.role, event.usageMetadata]),
      [
        ['model', usageMetadata],
        ['tool', undefined],
        ['model', usageMetadata],
      ],
    );
  });

  it('contains its function calls and responses, and eventMessage() returns its content', async () => {
    const [callEvent, responseEvent, finalEvent] = await collectEvents(lookAgent);
    assert.ok(callEvent !== undefined && responseEvent !== undefined && finalEvent !== undefined);
    assert.deepEqual(
      getFunctionCalls(callEvent).map(({ name, args }) => [name, args]),
      [['look', { at: 'it' }]],
    );
    assert.deepEqual(
      getFunctionResponses(responseEvent).map(({ name, response }) => [name, response]),
      [['look', { result: 'a tree' }]],
    );
    assert.deepEqual([callEvent, responseEvent, finalEvent].map(isFinalResponse), [
      false,
      false,
      true,
    ]);
    assert.equal(eventMessage(finalEvent), finalEvent.content);
    assert.equal(contentText(eventMessage(finalEvent)), 'Seen.');
  });

  it('of a parallel agent has a branch', async () => {
    const scriptedAgent = (name: string): LlmAgent =>
      new LlmAgent({ name, model: 'gemini-2.5-flash', tools: [look] });
    const parallelAgents = new ParallelAgent({
      name: 'both',
      subAgents: [scriptedAgent('a'), scriptedAgent('b')],
    });
    const events = await collectEvents(parallelAgents);
    assert.deepEqual(
      new Set(events.map(({ author, branch }) => `${author} ${branch}`)),
      new Set(['a both.a', 'b both.b']),
    );
  });

  it('of a long-running call lists the id of the call and counts as a final response', async () => {
    const slow = new LongRunningFunctionTool({
      name: 'look',
      description: 'Looks for long',
      parameters,
      execute: () => ({ ticket: 7 }),
    });
    const events = await collectEvents(
      new LlmAgent({ name: 'looker', model: 'gemini-2.5-flash', tools: [slow] }),
    );
    const [id] = getFunctionCalls(events[0] ?? assert.fail()).map((call) => call.id);
    const waiting = events.findLast((event) => event.longRunningToolIds !== undefined);
    assert.deepEqual(waiting?.longRunningToolIds, [id]);
    assert.ok(isFinalResponse(waiting ?? assert.fail()));
  });

  it('contains the UI widgets that a tool requests', async () => {
    const widget = { id: 'map', provider: 'maps', payload: { city: 'Oslo' } };
    const draw = new FunctionTool({
      name: 'look',
      description: 'Draws',
      parameters,
      execute: (_, { act }) => act({ renderUiWidgets: [widget] }),
    });
    const events = await collectEvents(
      new LlmAgent({ name: 'looker', model: 'gemini-2.5-flash', tools: [draw] }),
    );
    assert.deepEqual(
      events.map(({ actions }) => actions.renderUiWidgets),
      [undefined, [widget], undefined],
    );
  });

  it('keeps all its actions when it is appended', async () => {
    const sessionService = new InMemorySessionService();
    const session = await sessionService.createSession({ appName: 'demo', userId: 'u1' });
    const [template] = await collectEvents(lookAgent);
    assert.ok(template !== undefined);
    const actions = {
      ...template.actions,
      endOfAgent: true,
      route: ['a', 1, true],
      escalate: true,
    };
    await sessionService.appendEvent({ session, event: { ...template, actions } });
    const read = await sessionService.getSession({ ...session, sessionId: session.id });
    assert.deepEqual(read?.events[0]?.actions, actions);
    await sessionService.close();
  });

  it('keeps its position when other events have the same timestamp', async () => {
    const sessionService = new InMemorySessionService({
      clock: { now: () => 1000, at: () => () => {} },
    });
    let session = await sessionService.createSession({ appName: 'demo', userId: 'u1' });
    const [template] = await collectEvents(lookAgent);
    assert.ok(template !== undefined);
    const names = ['c', 'a', 'b', 'd'];
    for (const id of names) {
      await sessionService.appendEvent({ session, event: { ...template, id, timestamp: 1 } });
      session =
        (await sessionService.getSession({ ...session, sessionId: session.id })) ?? assert.fail();
    }
    assert.deepEqual(
      session.events.map(({ id }) => id),
      names,
    );
    await sessionService.close();
  });
});

describe('the resources of a runner', () => {
  it('a toolset is listed once, when the runner is created, and closed with the runner', async () => {
    const toolsetCalls: string[] = [];
    class Eyes extends BaseToolset {
      async getTools(): Promise<readonly (typeof look)[]> {
        toolsetCalls.push('asked');
        return [look];
      }

      override async close(): Promise<void> {
        toolsetCalls.push('closed');
      }
    }
    const agent = new LlmAgent({
      name: 'looker',
      model: 'gemini-2.5-flash',
      tools: [new Eyes('eyes')],
    });
    const runner = new InMemoryRunner({ agent, modelResolver });
    const events = await runner.runDebug(['Look.', 'Look again.']);
    assert.equal(contentText(events.at(-1)?.content), 'Seen.');
    await runner.close();
    assert.deepEqual(toolsetCalls, ['asked', 'closed']);
  });

  it('a session that is deleted and created again under the same id starts empty', async () => {
    await using runner = new InMemoryRunner({ agent: lookAgent, appName: 'demo', modelResolver });
    const sessionKey = { appName: 'demo', userId: 'u1', sessionId: 's1' };
    for (let restart = 0; restart < 3; restart++) {
      await runner.sessionService.createSession(sessionKey);
      await runner.run({ ...sessionKey, newMessage: 'Look.' });
      const session = await runner.sessionService.getSession(sessionKey);
      assert.equal(session?.events.length, 4);
      await runner.sessionService.deleteSession(sessionKey);
    }
  });

  it('the error for a missing session names its app, user and id', async () => {
    const sessionService: SessionService = new InMemorySessionService();
    await using runner = new Runner({
      agent: lookAgent,
      appName: 'demo',
      sessionService,
      modelResolver,
    });
    await assert.rejects(
      runner.run({ userId: 'u1', sessionId: 's1', newMessage: 'Hi' }),
      /demo.*u1.*s1|s1.*u1.*demo|s1.*demo/s,
    );
  });
});
