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
const looker = new LlmAgent({ name: 'looker', model: 'gemini-2.5-flash', tools: [look] });

async function collectEvents(agent: LlmAgent | ParallelAgent): Promise<readonly Event[]> {
  await using runner = new InMemoryRunner({ agent, modelResolver });
  return await runner.runDebug('Look.');
}

describe('an event', () => {
  it('has an id of its own, its author, its time, and the invocation that it belongs to', async () => {
    const events = await collectEvents(looker);
    assert.equal(events.length, 3);
    assert.equal(new Set(events.map(({ id }) => id)).size, 3);
    assert.equal(new Set(events.map(({ invocationId }) => invocationId)).size, 1);
    for (const { id, author, timestamp } of events) {
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-/);
      assert.equal(author, 'looker');
      assert.ok(timestamp > 1e9 && timestamp < 1e11, 'seconds');
    }
  });

  it('of a model has its usage, and no other has', async () => {
    const events = await collectEvents(looker);
    assert.deepEqual(
      events.map((event) => [event.content?.role, event.usage]),
      [
        ['model', usage],
        ['tool', undefined],
        ['model', usage],
      ],
    );
  });

  it('tells its calls and results, and its message is its content', async () => {
    const [asked, answered, final] = await collectEvents(looker);
    assert.ok(asked !== undefined && answered !== undefined && final !== undefined);
    assert.deepEqual(
      getFunctionCalls(asked).map(({ name, args }) => [name, args]),
      [['look', { at: 'it' }]],
    );
    assert.deepEqual(
      getFunctionResponses(answered).map(({ name, response }) => [name, response]),
      [['look', { result: 'a tree' }]],
    );
    assert.deepEqual([asked, answered, final].map(isFinalResponse), [false, false, true]);
    assert.equal(eventMessage(final), final.content);
    assert.equal(contentText(eventMessage(final)), 'Seen.');
  });

  it('of agents side by side names its branch', async () => {
    const scriptedAgent = (name: string): LlmAgent =>
      new LlmAgent({ name, model: 'gemini-2.5-flash', tools: [look] });
    const both = new ParallelAgent({
      name: 'both',
      subAgents: [scriptedAgent('a'), scriptedAgent('b')],
    });
    const events = await collectEvents(both);
    assert.deepEqual(
      new Set(events.map(({ author, branch }) => `${author} ${branch}`)),
      new Set(['a both.a', 'b both.b']),
    );
  });

  it('with a call that takes long names it, and is final for now', async () => {
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

  it('tells what a tool wants drawn', async () => {
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

  it('that is appended keeps every action it has', async () => {
    const sessionService = new InMemorySessionService();
    const session = await sessionService.createSession({ appName: 'demo', userId: 'u1' });
    const [template] = await collectEvents(looker);
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

  it('of one moment keeps its place: order is by sequence, not by time', async () => {
    const sessionService = new InMemorySessionService({
      clock: { now: () => 1000, at: () => () => {} },
    });
    let session = await sessionService.createSession({ appName: 'demo', userId: 'u1' });
    const [template] = await collectEvents(looker);
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

describe('what belongs to a runner', () => {
  it('a toolset is asked for its tools when the app is built, and closed with the runner', async () => {
    const said: string[] = [];
    class Eyes extends BaseToolset {
      async getTools(): Promise<readonly (typeof look)[]> {
        said.push('asked');
        return [look];
      }

      override async close(): Promise<void> {
        said.push('closed');
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
    assert.deepEqual(said, ['asked', 'closed']);
  });

  it('a session that is deleted and made again under its id starts from nothing', async () => {
    await using runner = new InMemoryRunner({ agent: looker, appName: 'demo', modelResolver });
    const here = { appName: 'demo', userId: 'u1', sessionId: 's1' };
    for (let restart = 0; restart < 3; restart++) {
      await runner.sessionService.createSession(here);
      await runner.run({ ...here, newMessage: 'Look.' });
      const session = await runner.sessionService.getSession(here);
      assert.equal(session?.events.length, 4);
      await runner.sessionService.deleteSession(here);
    }
  });

  it('a session that is not there is told with the names it was looked for under', async () => {
    const sessionService: SessionService = new InMemorySessionService();
    await using runner = new Runner({
      agent: looker,
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
