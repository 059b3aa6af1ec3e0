import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { isFunctionResponsePart, contentText } from '../../core/index.ts';
import type { Content, Event, JsonObject } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { tool } from '../../tools/index.ts';
import type { Tool, ToolContext } from '../../tools/index.ts';
import {
  BaseAgent,
  FunctionTool,
  InMemoryRunner,
  LlmAgent,
  ParallelAgent,
  Runner,
  SequentialAgent,
  SqliteSessionService,
} from '../index.ts';

const sessionIds = { userId: 'u1', sessionId: 's1' } as const;

/** Calls these tools at the same time, then answers "Done.". */
const calling = (...names: readonly string[]): ScriptedModel =>
  new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'tool'
      ? { text: 'Done.' }
      : { toolCalls: names.map((name) => ({ name, args: {} })) },
  );

const actingTool = (name: string, execute: (context: ToolContext) => unknown): Tool =>
  tool({ name, description: name, execute: async (_, context) => execute(context) });

function readResults(events: readonly Event[]): readonly JsonObject[] {
  return events
    .flatMap(({ content }) => content?.parts ?? [])
    .filter(isFunctionResponsePart)
    .map(({ functionResponse }) => functionResponse.response);
}

/** Asserts that each call has a result and each result has a call. */
function assertEveryCallHasResult(contents: readonly Content[]): void {
  const parts = contents.flatMap((content) => content.parts);
  const calls = parts.flatMap((part) => ('functionCall' in part ? [part.functionCall.id] : []));
  const results = parts.flatMap((part) =>
    'functionResponse' in part ? [part.functionResponse.id] : [],
  );
  assert.deepEqual(results.toSorted(), calls.toSorted());
}

/** A barrier: no caller continues before all have arrived. */
function createBarrier(count: number): () => Promise<void> {
  const all = Promise.withResolvers<void>();
  let come = 0;
  return async () => {
    if (++come === count) all.resolve();
    await all.promise;
  };
}

describe('ten invocations that increment a counter', () => {
  const counting = {
    'by reading and writing': ({ state }: ToolContext) =>
      state.set('n', Number(state.get('n') ?? 0) + 1),
    'by update': ({ state }: ToolContext) => state.update('n', (n) => Number(n ?? 0) + 1),
  };
  for (const [how, count] of Object.entries(counting))
    it(`at once in one session count to ten, ${how}`, async () => {
      await using runner = new InMemoryRunner({
        agent: new LlmAgent({
          name: 'a',
          model: calling('count'),
          tools: [actingTool('count', count)],
        }),
        appName: 'demo',
        autoCreateSession: true,
      });
      await runner.sessionService.createSession({ appName: 'demo', ...sessionIds });
      await Promise.all(
        Array.from({ length: 10 }, async () => runner.run({ ...sessionIds, newMessage: 'Go' })),
      );
      const session = await runner.sessionService.getSession({ appName: 'demo', ...sessionIds });
      assert.equal(session?.state['n'], 10);
    });

  it('at once in one session, from two runners over one file, count to ten', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'races-'));
    const open = (): { runner: Runner; service: SqliteSessionService } => {
      const service = new SqliteSessionService(join(folder, 's.db'));
      const agent = new LlmAgent({
        name: 'a',
        model: calling('count'),
        tools: [actingTool('count', counting['by reading and writing'])],
      });
      return { service, runner: new Runner({ agent, appName: 'demo', sessionService: service }) };
    };
    const both = [open(), open()];
    const [first] = both;
    await first?.service.createSession({ appName: 'demo', ...sessionIds });
    await Promise.all(
      Array.from({ length: 10 }, async (_, index) =>
        both[index % 2]?.runner.run({ ...sessionIds, newMessage: 'Go' }),
      ),
    );
    const session = await first?.service.getSession({ appName: 'demo', ...sessionIds });
    assert.equal(session?.state['n'], 10);
    for (const { runner, service } of both) {
      await runner.close();
      await service.close();
    }
    await rm(folder, { recursive: true });
  });

  it('in user state, in ten sessions at once, lose no update silently', async () => {
    await using runner = new InMemoryRunner({
      agent: new LlmAgent({
        name: 'a',
        model: calling('add', 'set'),
        tools: [
          actingTool('add', ({ state }) => state.increment('user:added')),
          actingTool('set', ({ state }) =>
            state.set('user:n', Number(state.get('user:n') ?? 0) + 1),
          ),
        ],
      }),
      appName: 'demo',
      autoCreateSession: true,
    });
    const runs = await Promise.all(
      Array.from({ length: 10 }, async (_, index) =>
        runner.run({ userId: 'u1', sessionId: `s${index}`, newMessage: 'Go' }),
      ),
    );
    const { state } = await runner.sessionService.createSession({ appName: 'demo', userId: 'u1' });
    assert.equal(state['user:added'], 10);
    const refused = readResults(runs.flat()).filter((result) =>
      JSON.stringify(result).includes('state_conflict'),
    );
    assert.equal(Number(state['user:n']) + refused.length, 10);
  });
});

describe('parallel agents that increment a counter', () => {
  const agents = (count: number, execute: (context: ToolContext) => unknown): ParallelAgent =>
    new ParallelAgent({
      name: 'all',
      subAgents: Array.from(
        { length: count },
        (_, index) =>
          new LlmAgent({
            name: `a${index}`,
            model: calling('count'),
            tools: [actingTool('count', execute)],
          }),
      ),
    });
  const run = async (agent: BaseAgent): Promise<{ n: unknown; results: readonly JsonObject[] }> => {
    await using runner = new InMemoryRunner({ agent, appName: 'demo', autoCreateSession: true });
    const events = await runner.run({ ...sessionIds, newMessage: 'Go' });
    const session = await runner.sessionService.getSession({ appName: 'demo', ...sessionIds });
    return { n: session?.state['n'], results: readResults(events) };
  };

  it('with update() count exactly', async () => {
    const together = createBarrier(5);
    const { n, results } = await run(
      agents(5, async ({ state }) => {
        state.update('n', (value) => Number(value ?? 0) + 1);
        await together();
      }),
    );
    assert.equal(n, 5);
    assert.deepEqual(
      results,
      Array.from({ length: 5 }, () => ({ result: null })),
    );
  });

  it('with update() count exactly, in any order of completion', async () => {
    const { n } = await run(
      agents(6, async ({ state, callId }) => {
        state.update('n', (value) => Number(value ?? 0) + 1);
        for (let turn = callId.length; turn > 0; turn--)
          await new Promise((resolve) => setImmediate(resolve));
        state.increment('n', 10);
      }),
    );
    assert.equal(n, 66);
  });

  it('with get() and set() get a conflict error, and no update is lost silently', async () => {
    const together = createBarrier(2);
    const { n, results } = await run(
      agents(2, async ({ state }) => {
        const value = Number(state.get('n') ?? 0);
        await together();
        state.set('n', value + 1);
      }),
    );
    assert.equal(n, 1);
    const conflicts = results.filter(({ error }) => error !== undefined);
    assert.equal(conflicts.length, 1);
    assert.match(JSON.stringify(conflicts), /"code":"state_conflict".*Read it again/);
  });

  it('with update() get a conflict error if they return the value they read', async () => {
    const together = createBarrier(2);
    const { n, results } = await run(
      agents(2, async ({ state }) => {
        state.update('n', (value) => Number(value ?? 0) + 1);
        const value = state.get('n');
        await together();
        return { said: value ?? null };
      }),
    );
    assert.equal(n, 1);
    assert.deepEqual(
      results.filter((result) => 'said' in result),
      [{ said: 1 }],
    );
  });

  it('as custom agents with update() count exactly', async () => {
    class Counting extends BaseAgent {
      protected override async *runAsyncImpl(
        context: Parameters<BaseAgent['runAsync']>[0],
      ): AsyncGenerator<string> {
        context.state.update('n', (value) => Number(value ?? 0) + 1);
        yield 'counted';
      }
    }
    const { n } = await run(
      new ParallelAgent({
        name: 'all',
        subAgents: Array.from({ length: 5 }, (_, index) => new Counting({ name: `a${index}` })),
      }),
    );
    assert.equal(n, 5);
  });
});

describe('parallel tools that add to a number', () => {
  const ways = {
    update: ({ state }: ToolContext, by: number) => state.update('n', (n) => Number(n ?? 0) + by),
    increment: ({ state }: ToolContext, by: number) => state.increment('n', by),
    'get and set': ({ state }: ToolContext, by: number) =>
      state.set('n', Number(state.get('n') ?? 0) + by),
  };
  const adding = fc.record({
    way: fc.constantFrom('update', 'increment', 'get and set'),
    by: fc.integer({ min: 1, max: 9 }),
    before: fc.nat(6),
    after: fc.nat(6),
  });
  const turns = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('produce the sum of the successful ones', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(adding, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        async (plans, isObserved) => {
          const tools = plans.map(({ way, by, before, after }, index) =>
            actingTool(`t${index}`, async (context) => {
              await turns(before);
              ways[way](context, by);
              await turns(after);
            }),
          );
          await using runner = new InMemoryRunner({
            agent: new LlmAgent({
              name: 'a',
              model: calling(...tools.map(({ name }) => name)),
              tools,
              ...(isObserved && { afterToolCallback: () => undefined }),
            }),
            appName: 'demo',
            autoCreateSession: true,
          });
          const events = await runner.run({ ...sessionIds, newMessage: 'Go' });
          const results = events
            .flatMap(({ content }) => content?.parts ?? [])
            .filter(isFunctionResponsePart)
            .map(({ functionResponse }) => functionResponse);
          const added = plans.filter((_, index) =>
            results.some(
              ({ name, response }) => name === `t${index}` && response['error'] === undefined,
            ),
          );
          assert.equal(results.length, plans.length);
          const session = await runner.sessionService.getSession({
            appName: 'demo',
            ...sessionIds,
          });
          assert.equal(
            session?.state['n'],
            added.reduce((sum, { by }) => sum + by, 0),
          );
          if (!isObserved && plans.every(({ way }) => way !== 'get and set'))
            assert.equal(added.length, plans.length, 'nobody is refused');
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a callback after a tool', () => {
  for (const [how, write] of Object.entries({
    'set without looking': ({ state }: ToolContext) => state.set('n', 5),
    updated: ({ state }: ToolContext) => state.update('n', () => 5),
    'added to': ({ state }: ToolContext) => state.increment('n', 5),
    'read and set': ({ state }: ToolContext) => state.set('n', Number(state.get('n') ?? 0) + 5),
  }))
    it(`updates a value that the tool has ${how}, before others see it`, async () => {
      await using runner = new InMemoryRunner({
        agent: new LlmAgent({
          name: 'a',
          model: calling('write'),
          tools: [actingTool('write', write)],
          afterToolCallback: ({ context: { state } }) => {
            state.update('n', (n) => Number(n ?? 0) + 1);
          },
        }),
        appName: 'demo',
        autoCreateSession: true,
      });
      const events = await runner.run({ ...sessionIds, newMessage: 'Go' });
      const session = await runner.sessionService.getSession({ appName: 'demo', ...sessionIds });
      assert.deepEqual([session?.state['n'], readResults(events)], [6, [{ result: null }]]);
    });
});

describe('a tool call', () => {
  it('after endInvocation in another tool does not count: it is stopped, and the model is not called again', async () => {
    const began = Promise.withResolvers<void>();
    let wasAborted = false;
    let modelCalls = 0;
    const model = new ScriptedModel(() => {
      modelCalls++;
      return { toolCalls: [{ name: 'one' }, { name: 'two' }] };
    });
    await using runner = new InMemoryRunner({
      agent: new LlmAgent({
        name: 'a',
        model,
        tools: [
          actingTool('one', async ({ actions, state }) => {
            await began.promise;
            state.set('one', true);
            actions.endInvocation();
          }),
          actingTool('two', async ({ signal, state }) => {
            began.resolve();
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
            wasAborted = true;
            state.set('two', true);
          }),
        ],
      }),
      appName: 'demo',
      autoCreateSession: true,
    });
    const events = await runner.run({ ...sessionIds, newMessage: 'Go' });
    const session = await runner.sessionService.getSession({ appName: 'demo', ...sessionIds });
    assert.deepEqual(session?.state, { one: true });
    assert.deepEqual([wasAborted, modelCalls], [true, 1]);
    assertEveryCallHasResult(events.flatMap(({ content }) => content ?? []));
    assert.match(JSON.stringify(readResults(events).at(-1)), /"code":"outcome_unknown"/);
  });

  it('with an unknown tool name gets one error result', async () => {
    const requests: (readonly Content[])[] = [];
    const model = new ScriptedModel(({ contents }) => {
      requests.push(contents);
      return contents.at(-1)?.role === 'tool'
        ? { text: 'Sorry.' }
        : { toolCalls: [{ name: 'nothing_of_this_name', args: { x: 1 } }] };
    });
    await using runner = new InMemoryRunner({
      agent: new LlmAgent({ name: 'a', model, tools: [actingTool('real', () => 'x')] }),
      appName: 'demo',
      autoCreateSession: true,
    });
    const events = await runner.run({ ...sessionIds, newMessage: 'Go' });
    assert.equal(requests.length, 2);
    assert.match(JSON.stringify(readResults(events)), /^\[\{"error".*nothing_of_this_name/);
    assert.equal(contentText(events.at(-1)?.content ?? { role: 'model', parts: [] }), 'Sorry.');
    await runner.run({ ...sessionIds, newMessage: 'Go on' });
    for (const contents of requests) assertEveryCallHasResult(contents);
  });

  it('that throws or is aborted has a result', async () => {
    const requests: (readonly Content[])[] = [];
    const stop = new AbortController();
    const model = new ScriptedModel(({ contents }) => {
      requests.push(contents);
      return contents.at(-1)?.role === 'user' &&
        contentText(contents.at(-1) ?? { role: 'user', parts: [] }) === 'Go'
        ? { toolCalls: [{ name: 'throws' }, { name: 'waits' }] }
        : { text: 'Here.' };
    });
    await using runner = new InMemoryRunner({
      agent: new LlmAgent({
        name: 'a',
        model,
        tools: [
          actingTool('throws', () => {
            throw new TypeError('no');
          }),
          actingTool('waits', async ({ signal }) => {
            stop.abort();
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
          }),
        ],
      }),
      appName: 'demo',
      autoCreateSession: true,
    });
    const events = await runner.run({ ...sessionIds, newMessage: 'Go', abortSignal: stop.signal });
    assertEveryCallHasResult(events.flatMap(({ content }) => content ?? []));
    await runner.run({ ...sessionIds, newMessage: 'There?' });
    for (const contents of requests) assertEveryCallHasResult(contents);
    assert.equal(requests.length, 2);
  });
});

describe('an abort signal', () => {
  const chat = (requestTexts: string[] = []): LlmAgent =>
    new LlmAgent({
      name: 'a',
      model: new ScriptedModel(({ contents }) => {
        requestTexts.push(contents.map(contentText).join());
        return { text: 'Yes.' };
      }),
    });

  it('that is already aborted runs nothing', async () => {
    const requests: string[] = [];
    await using runner = new InMemoryRunner({
      agent: chat(requests),
      appName: 'demo',
      autoCreateSession: true,
    });
    const abortSignal = AbortSignal.abort();
    assert.deepEqual(await runner.run({ ...sessionIds, newMessage: 'Go', abortSignal }), []);
    assert.deepEqual(requests, []);
    assert.equal((await runner.run({ ...sessionIds, newMessage: 'Go' })).length, 1);
    assert.deepEqual(requests, ['Go']);
  });

  it('that aborts directly after the message is sent ends that invocation only', async () => {
    await using runner = new InMemoryRunner({
      agent: new SequentialAgent({
        name: 'two',
        subAgents: [
          new LlmAgent({
            name: 'a',
            model: calling('wait'),
            tools: [
              new FunctionTool({
                name: 'wait',
                description: 'Waits',
                execute: async (_, { signal }) =>
                  new Promise((resolve) => signal.addEventListener('abort', () => resolve(null))),
              }),
            ],
          }),
        ],
      }),
      appName: 'demo',
      autoCreateSession: true,
    });
    const stop = new AbortController();
    const running = runner.run({ ...sessionIds, newMessage: 'Go', abortSignal: stop.signal });
    stop.abort();
    await running;
    const next = new AbortController();
    const again = runner.runAsync({ ...sessionIds, newMessage: 'Go', abortSignal: next.signal });
    for await (const { content } of again) if (content?.role === 'model') next.abort();
    const session = await runner.sessionService.getSession({ appName: 'demo', ...sessionIds });
    assertEveryCallHasResult((session?.events ?? []).flatMap(({ content }) => content ?? []));
  });
});
