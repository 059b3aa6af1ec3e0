import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { DEFAULT_ROUTE, RequestInput, type NodeContext } from '../../agents/index.ts';
import { contentText } from '../../core/index.ts';
import type { Content, Json } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { tool } from '../../tools/index.ts';
import { AgentTool } from '../agents/agent-tool.ts';
import { BaseAgent } from '../agents/base-agent.ts';
import type { AgentYield } from '../agents/base-agent.ts';
import type { EdgeItem } from './parsed-edges.ts';
import { Event } from '../agents/event.ts';
import { InMemoryRunner } from '../runner/in-memory-runner.ts';
import { LlmAgent } from '../agents/llm-agent.ts';
import { node } from './node.ts';
import { Runner } from '../runner/runner.ts';
import { SequentialAgent } from '../agents/sequential-agent.ts';
import { SqliteSessionService } from '../sessions/sqlite-session-service.ts';
import { JoinNode } from './workflow-node.ts';
import { Workflow } from './workflow.ts';
import type { WorkflowConfig } from './workflow.ts';

const sessionIds = { userId: 'debug_user_id', sessionId: 'debug_session_id' } as const;
const sessionKey = { appName: 'InMemoryRunner', ...sessionIds };

type Text = (context: NodeContext, input: string) => unknown;

const upper: Text = (_, input) => input.toUpperCase();
const exclaim: Text = (_, input) => `${input}!`;
const size: Text = (_, input) => input.length;

function createRunner(edges: readonly EdgeItem[], more: Partial<WorkflowConfig> = {}) {
  return new InMemoryRunner({ node: new Workflow({ name: 'wf', edges, ...more }) });
}

const messageTexts = (events: readonly Event[]): readonly string[] =>
  events.flatMap(({ author, content }) =>
    content === undefined || contentText(content) === ''
      ? []
      : [`${author}: ${contentText(content)}`],
  );

const paths = (events: readonly Event[]): readonly string[] =>
  events.flatMap(({ nodeInfo }) => nodeInfo?.path ?? []);

const outputs = (events: readonly Event[]): readonly Json[] =>
  events.flatMap(({ output }) => (output === undefined ? [] : [output]));

const errors = (events: readonly Event[]): string =>
  events.map(({ errorMessage = '' }) => errorMessage).join('');

/** Repeats the last message. */
const echo = (name: string): LlmAgent =>
  new LlmAgent({
    name,
    model: new ScriptedModel(({ contents }) => ({
      text: `${name} heard ${contents.map(contentText).join(' / ')}`,
    })),
  });

describe('a workflow', () => {
  it('passes the output of a node to the next, and shows the output of the last one', async () => {
    await using runner = createRunner([['START', upper, exclaim]]);
    const events = await runner.runDebug('Hi');
    assert.deepEqual(messageTexts(events), ['exclaim: HI!']);
    assert.deepEqual(outputs(events), ['HI', 'HI!']);
    assert.deepEqual(paths(events), ['wf/upper@1', 'wf/upper@1/exclaim@1']);
    assert.deepEqual(messageTexts(await runner.runDebug('Yo')), ['exclaim: YO!']);
  });

  it('with a single function can be the node of a runner', async () => {
    await using runner = new InMemoryRunner({ node: upper, appName: 'demo' });
    assert.deepEqual(messageTexts(await runner.runDebug('Hi')), ['upper: HI']);
    await using named = new InMemoryRunner({ node: node(exclaim), appName: 'exclaim' });
    assert.deepEqual(messageTexts(await named.runDebug('Hi')), ['exclaim: Hi!']);
  });

  it('follows the route of a node, and each node knows its path', async () => {
    async function* classify(_: NodeContext, message: string) {
      const intent = message.toLowerCase().includes('invoice') ? 'billing' : 'support';
      yield Event({ state: { last_intent: intent }, route: intent });
    }
    const billing: Text = ({ nodePath, runId, state }) =>
      `${nodePath} ${runId} ${String(state.get('last_intent'))}`;
    const support: Text = () => 'support';
    await using runner = createRunner([['START', classify, { billing, support }]]);
    const events = await runner.runDebug('Where is my invoice?');
    assert.deepEqual(messageTexts(events), ['billing: wf/classify@1/billing@1 1 billing']);
    assert.deepEqual(events.at(-1)?.nodeInfo, {
      path: 'wf/classify@1/billing@1',
      runId: '1',
      name: 'billing',
    });
    assert.deepEqual(
      events.flatMap(({ actions }) => actions.route ?? []),
      ['billing'],
    );
    assert.deepEqual((await runner.sessionService.getSession(sessionKey))?.state, {
      last_intent: 'billing',
    });
    assert.deepEqual(messageTexts(await runner.runDebug('Help')), ['support: support']);
  });

  it('takes every edge with a matching route, the default edge when none matches, and edges without a route always', async () => {
    const choose: Text = (_, input) =>
      Event({
        route: input.split(',').map((one) => (one === '2' ? 2 : one === 'true' ? true : one)),
      });
    const make =
      (text: string): Text =>
      () =>
        text;
    const [a, two, yes, other, always] = ['a', 'two', 'yes', 'other', 'always'].map((name) =>
      node(make(name), { name }),
    ) as [ReturnType<typeof node>, ...ReturnType<typeof node>[]] & { readonly length: 5 };
    await using runner = createRunner([
      ['START', choose, { a, b: a, 2: two ?? a, true: yes ?? a, [DEFAULT_ROUTE]: other ?? a }],
      [choose, always ?? a],
    ]);
    for (const [routes, expected] of [
      ['a,b', 'a always'],
      ['2,true', 'always two yes'],
      ['x', 'always other'],
    ] as const) {
      const events = await runner.runDebug(routes);
      assert.deepEqual(
        messageTexts(events)
          .map((line) => line.split(': ')[1] ?? '')
          .toSorted((a, b) => a.localeCompare(b))
          .join(' '),
        expected,
      );
    }
  });

  it('ends a branch without a matching route', async () => {
    const choose: Text = () => Event({ route: 'nowhere', message: 'Hm.' });
    await using runner = createRunner([['START', choose, { somewhere: upper }]]);
    assert.deepEqual(messageTexts(await runner.runDebug('Hi')), ['choose: Hm.']);
  });

  it('runs several nodes in parallel, and joins when all are done', async () => {
    const begun: string[] = [];
    let both = (): void => {};
    const bothStarted = new Promise<void>((resolve) => (both = resolve));
    const waitForBoth =
      (name: string): Text =>
      async (_, input) => {
        begun.push(name);
        if (begun.length === 2) both();
        await bothStarted;
        return `${name} ${input}`;
      };
    const left = node(waitForBoth('left'), { name: 'left' });
    const right = node(waitForBoth('right'), { name: 'right' });
    const all = new JoinNode({ name: 'all' });
    const count = node((_: NodeContext, input: object) => Object.values(input).join(' and '), {
      name: 'count',
    });
    await using runner = createRunner([['START', [left, right], all, count]]);
    const events = await runner.runDebug('go');
    assert.deepEqual(messageTexts(events), ['count: left go and right go']);
    assert.equal(events.at(-1)?.nodeInfo?.path, 'wf/all@1/count@1');
  });

  it('shows the output of a final join or list', async () => {
    const all = new JoinNode({ name: 'all' });
    await using joined = createRunner([['START', [upper, size], all]]);
    const events = await joined.runDebug('Hi');
    assert.deepEqual(messageTexts(events), ['all: {"upper":"HI","size":2}']);
    assert.deepEqual(outputs(events).at(-1), { upper: 'HI', size: 2 });
    assert.equal(paths(events).at(-1), 'wf/all@1');
    const split: Text = (_, input) => input.split(' ');
    const each = node(upper, { name: 'each', parallelWorker: true });
    await using list = createRunner([['START', split, each]]);
    assert.deepEqual(messageTexts(await list.runDebug('a b')), ['each: ["A","B"]']);
  });

  it('ends with an error when a join still waits', async () => {
    const choose: Text = () => Event({ output: 1, route: 'no' });
    const all = new JoinNode({ name: 'all' });
    await using runner = createRunner([
      ['START', [choose, size]],
      [choose, { yes: upper }],
      [upper, all],
      [size, all, exclaim],
    ]);
    const events = await runner.runDebug('Hi');
    assert.match(errors(events), /join still waited: it had .*all-from-size/);
    assert.equal((await runner.runDebug('Hi')).length, events.length);
  });

  it('repeats a cycle up to its limit, and numbers each run', async () => {
    const count: Text = ({ state, runId }) => {
      state.increment('n');
      return Event({ output: runId, route: (state.get('n') ?? 0) === 3 ? 'done' : 'again' });
    };
    const back: Text = (_, input) => input;
    const done: Text = ({ nodePath }) => nodePath;
    const edges: EdgeItem[] = [
      ['START', count, { again: back, done }],
      [back, count],
    ];
    // Only the edge back has no condition.
    await using runner = createRunner(edges);
    const events = await runner.runDebug('go');
    assert.deepEqual(messageTexts(events), ['done: wf/count@3/done@1']);
    assert.deepEqual(paths(events), [
      'wf/count@1',
      'wf/count@1/back@1',
      'wf/count@2',
      'wf/count@2/back@2',
      'wf/count@3',
      'wf/count@3/done@1',
    ]);
    await using short = createRunner(edges, { maxSteps: 3 });
    assert.match(errors(await short.runDebug('go')), /used all its steps/);
    assert.equal(errors(await short.runDebug('again')).includes('took all'), false);
  });

  it('rejects invalid edges', async () => {
    const joins = new JoinNode({ name: 'j' });
    const refused: readonly (readonly [readonly EdgeItem[], RegExp])[] = [
      [[[upper, exclaim]], /must include one from "START"/],
      [
        [
          ['START', upper],
          [exclaim, size],
        ],
        /not reachable from/,
      ],
      [
        [
          ['START', upper, exclaim],
          [exclaim, upper],
        ],
        /form a cycle from "upper" without a route/,
      ],
      [
        [
          ['START', upper],
          ['START', upper],
        ],
        /twice/,
      ],
      [[['START', node(upper, { name: 'wf' })]], /"wf" is taken/],
      [[['START', node(upper), node(exclaim, { name: 'upper' })]], /"upper" is taken/],
      [[['START', joins]], /to the join/],
      [
        [
          ['START', upper],
          [upper, 'START'],
        ],
        /lead to "START"/,
      ],
    ];
    for (const [edges, message] of refused) {
      await using runner = createRunner(edges);
      await assert.rejects(runner.runDebug('x'), message);
    }
  });

  it('rejects an invalid chain or node where it is defined', () => {
    const made = (edges: unknown) => () =>
      new Workflow({ name: 'wf', edges: edges as readonly EdgeItem[] });
    assert.throws(made([['START']]), /two elements/);
    assert.throws(made([['START', 'upper']]), /"upper", which is not a node/);
    assert.throws(made([[{ a: upper }, upper]]), /start with a map of routes/);
    assert.throws(() => node(() => 1), /for a function without a name/);
    assert.throws(() => node(node(upper), { name: 'x' }), /is already a node/);
  });
});

describe('a node', () => {
  it('that yields continues after the commit, and sees the state it wrote', async () => {
    const seen: unknown[] = [];
    async function* step({ state }: NodeContext) {
      yield Event({ state: { a: 1 }, message: 'one' });
      seen.push(state.get('a'));
      state.set('a', 2);
      yield 'two';
      seen.push(state.get('a'));
      return Event({ message: 'three' });
    }
    await using runner = createRunner([['START', step, exclaim]]);
    const events = await runner.runDebug('go');
    assert.deepEqual(messageTexts(events), ['step: one', 'step: three', 'exclaim: two!']);
    assert.deepEqual(seen, [1, 2]);
  });

  it('has one output per run', async () => {
    function* twice() {
      yield 1;
      yield 2;
    }
    await using runner = createRunner([['START', twice]]);
    assert.match(errors(await runner.runDebug('go')), /"twice" gave two outputs/);
  });

  it('that fails ends the turn with an error, and the session continues', async () => {
    let fails = true;
    const shaky: Text = (_, input) => {
      if (fails) throw new Error('no!');
      return input;
    };
    await using runner = createRunner([['START', shaky, exclaim]]);
    assert.match(errors(await runner.runDebug('Hi')), /Node "shaky" failed: no!/);
    fails = false;
    assert.deepEqual(messageTexts(await runner.runDebug('Hi')), ['exclaim: Hi!']);
  });

  it('is retried as configured', async () => {
    class Busy extends Error {}
    for (const [exceptions, attempts, ok] of [
      [undefined, 3, true],
      [[Busy], 3, true],
      [['Busy'], 3, true],
      [['TypeError'], 1, false],
    ] as const) {
      let calls = 0;
      const shaky: Text = (_, input) => {
        if (++calls < 3) throw new Busy('busy');
        return input;
      };
      const retryConfig = {
        initialDelayMs: 1,
        jitter: 0,
        ...(exceptions !== undefined && { exceptions }),
      };
      await using runner = createRunner([['START', node(shaky, { retryConfig })]]);
      const events = await runner.runDebug('Hi');
      assert.equal(calls, attempts);
      assert.equal(messageTexts(events).length === 1, ok);
    }
    await using runner = createRunner([['START', node(upper, { retryConfig: { jitter: 2 } })]]);
    await assert.rejects(runner.runDebug('Hi'), /from 0 to 1/);
  });

  it('that yields and then fails is retried from its last yield', async () => {
    const runs: number[] = [];
    async function* shaky({ attempt }: NodeContext) {
      runs.push(attempt);
      yield Event({ message: 'one' });
      if (runs.length < 3) throw new Error('busy');
      yield Event({ message: 'two' });
      return 'three';
    }
    const retryConfig = { initialDelayMs: 1, jitter: 0 };
    await using runner = createRunner([['START', node(shaky, { retryConfig }), exclaim]]);
    const events = await runner.runDebug('go');
    assert.deepEqual(messageTexts(events), ['shaky: one', 'shaky: two', 'exclaim: three!']);
    assert.equal(runs.length, 3);
  });

  it('waits longer before each retry, by the clock of the runner', async () => {
    const clock = new SimulatedClock(0);
    const calls: number[] = [];
    const shaky: Text = (_, input) => {
      calls.push(clock.now());
      if (calls.length < 4) throw new Error('busy');
      return input;
    };
    const retryConfig = { initialDelayMs: 100, backoffFactor: 3, maxDelayMs: 500, jitter: 0 };
    await using runner = new InMemoryRunner({
      agent: new Workflow({ name: 'wf', edges: [['START', node(shaky, { retryConfig })]] }),
      clock,
    });
    const run = runner.runDebug('Hi');
    const controller = new AbortController();
    void run.finally(() => controller.abort());
    while (!controller.signal.aborted) {
      await new Promise((resolve) => setImmediate(resolve));
      if (calls.length > 0) clock.advance(1);
    }
    assert.deepEqual(messageTexts(await run), ['shaky: Hi']);
    const waits = calls.slice(1).map((at, index) => at - (calls[index] ?? 0));
    for (const [index, wait] of [100, 300, 500].entries())
      assert.ok((waits[index] ?? 0) >= wait && (waits[index] ?? 0) < 2 * wait, String(waits));
  });

  it('that exceeds its timeout has failed', async () => {
    const clock = new SimulatedClock(1_000);
    const slow = async ({ signal }: NodeContext): Promise<void> => {
      setImmediate(() => clock.advance(20_000));
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('stopped'))),
      );
    };
    const edges: readonly EdgeItem[] = [['START', node(slow, { timeoutMs: 20_000 })]];
    await using runner = new InMemoryRunner({ node: new Workflow({ name: 'wf', edges }), clock });
    assert.match(errors(await runner.runDebug('Hi')), /Node "slow" failed: no result within/);
  });

  it('validates its input and its output', async () => {
    const half = node((_: NodeContext, n: number) => n / 2, {
      name: 'half',
      inputSchema: z.coerce.number(),
      outputSchema: z.int(),
    });
    await using runner = createRunner([['START', half]]);
    assert.deepEqual(outputs(await runner.runDebug('4')), [2]);
    assert.match(errors(await runner.runDebug('3')), /output of node "half" does not match/);
    assert.match(errors(await runner.runDebug('x')), /input of node "half" does not match/);
  });

  it('processes the items of a list, a limited number at once, and returns the results in order', async () => {
    let atOnce = 0;
    let most = 0;
    const split: Text = (_, input) => input.split(' ');
    const double = node(
      async (_: NodeContext, item: string) => {
        most = Math.max(most, ++atOnce);
        await new Promise((resolve) => setImmediate(resolve));
        atOnce--;
        return item + item;
      },
      { name: 'double', parallelWorker: true, maxParallelWorkers: 2 },
    );
    await using runner = createRunner([['START', split, double]]);
    const events = await runner.runDebug('a b c d e');
    assert.deepEqual(outputs(events).at(-1), ['aa', 'bb', 'cc', 'dd', 'ee']);
    assert.ok(most <= 2);
    assert.deepEqual(outputs(await runner.runDebug('x')).at(-1), ['xx']);
  });

  it('that processes a list fails when one item fails', async () => {
    const split: Text = (_, input) => input.split(' ');
    const pick = node(
      (_: NodeContext, item: string) => {
        if (item === 'b') throw new Error('not b');
        return item;
      },
      { name: 'pick', parallelWorker: true },
    );
    await using runner = createRunner([['START', split, pick, exclaim]]);
    assert.match(errors(await runner.runDebug('a b c')), /Node "pick" failed: not b/);
  });

  it('rejects a list of more than 1000 items', async () => {
    const split: Text = () => Array.from({ length: 1001 }, () => 'x');
    const pick = node((_: NodeContext, item: string) => item, {
      name: 'pick',
      parallelWorker: true,
    });
    await using runner = createRunner([['START', split, pick]]);
    const events = await runner.runDebug('go');
    assert.ok(events.some(({ errorCode }) => errorCode === 'invalid_input'));
    assert.match(errors(events), /input of node "pick": has 1001 items; the limit is 1000/);
  });

  it('can be a tool, which gets its arguments', async () => {
    const add = tool({
      name: 'add',
      description: 'Adds.',
      parameters: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => a + b,
    });
    const make: Text = () => ({ a: 1, b: 2 });
    await using runner = createRunner([['START', make, add]]);
    assert.deepEqual(outputs(await runner.runDebug('go')).at(-1), 3);
    await using wrong = createRunner([['START', upper, add]]);
    assert.match(errors(await wrong.runDebug('go')), /Node "add" failed/);
    const asks = tool({
      name: 'asks',
      description: 'Asks.',
      needsApproval: true,
      execute: () => 1,
    });
    await using refused = createRunner([['START', asks]]);
    await assert.rejects(refused.runDebug('go'), /wait for an answer from outside/);
  });

  it('can end the invocation', async () => {
    const stop: Text = ({ actions }) => {
      actions.endInvocation();
      return 'stopped';
    };
    await using runner = createRunner([['START', stop, exclaim]]);
    assert.deepEqual(outputs(await runner.runDebug('go')), ['stopped']);
  });

  it('writes only state that matches the schema', async () => {
    const stateSchema = z.object({ n: z.number(), names: z.array(z.string()).optional() });
    const set =
      (key: string, value: Json): Text =>
      ({ state }) =>
        state.set(key, value);
    for (const [key, value, problem] of [
      ['n', 1, /^$/],
      ['temp:x', 'anything', /^$/],
      ['user:n', 'anything', /^$/],
      ['names', ['a'], /^$/],
      ['n', 'one', /State "n" does not match/],
      ['names', [1], /State "names" does not match/],
      ['m', 1, /the schema has no such key. It has: n, names/],
    ] as const) {
      await using runner = createRunner([['START', node(set(key, value), { name: 'set' })]], {
        stateSchema,
      });
      const events = await runner.runDebug('go');
      assert.match(errors(events), problem);
      const state = (await runner.sessionService.getSession(sessionKey))?.state ?? {};
      if (errors(events) !== '') assert.deepEqual(state, {});
    }
  });
});

describe('agents as nodes', () => {
  it('get the output of the previous node, and return their answer', async () => {
    await using runner = createRunner([['START', upper, echo('a'), exclaim, echo('b')]]);
    const events = await runner.runDebug('Hi');
    assert.deepEqual(messageTexts(events), ['a: a heard HI', 'b: b heard a heard HI!']);
    assert.deepEqual(
      events.filter(({ author }) => author === 'b').map(({ nodeInfo }) => nodeInfo),
      [{ path: 'wf/upper@1/a@1/exclaim@1/b@1', runId: '1', name: 'b' }],
    );
  });

  it('in parallel do not see each other', async () => {
    const all = new JoinNode({ name: 'all' });
    const tell = node((_: NodeContext, both: object) => JSON.stringify(both), { name: 'tell' });
    await using runner = createRunner([['START', [echo('a'), echo('b')], all, tell]]);
    assert.equal(
      messageTexts(await runner.runDebug('Hi')).at(-1),
      'tell: {"a":"a heard Hi","b":"b heard Hi"}',
    );
  });

  it('with an output schema return a value', async () => {
    const judge = new LlmAgent({
      name: 'judge',
      model: new ScriptedModel([{ text: '{"good":true}' }]),
      outputSchema: z.object({ good: z.boolean() }),
    });
    const route = node((_: NodeContext, { good }: { good: boolean }) => Event({ route: good }), {
      name: 'route',
    });
    const yes: Text = () => 'yes';
    const no: Text = () => 'no';
    await using runner = createRunner([['START', judge, route, { true: yes, false: no }]]);
    assert.equal(messageTexts(await runner.runDebug('Hi')).at(-1), 'yes: yes');
  });

  it('wait for approvals of their tools, in parallel with functions', async () => {
    const remove = tool({
      name: 'remove',
      description: 'Removes.',
      needsApproval: true,
      execute: () => 'gone',
    });
    const careful = new LlmAgent({
      name: 'careful',
      model: new ScriptedModel(({ contents }) =>
        contents.at(-1)?.role === 'tool' ? { text: 'Done.' } : { toolCalls: [{ name: 'remove' }] },
      ),
      tools: [remove],
    });
    const all = new JoinNode({ name: 'all' });
    const tell = node((_: NodeContext, both: object) => JSON.stringify(both), { name: 'tell' });
    await using runner = createRunner([['START', [careful, size], all, tell]]);
    const events = await runner.runDebug('Hi');
    const [id = ''] = events.flatMap(({ longRunningToolIds }) => longRunningToolIds ?? []);
    const response = { confirmed: true };
    const parts = [{ functionResponse: { id, name: 'remove', response } }];
    const rest = await runner.run({ ...sessionIds, newMessage: { role: 'user', parts } });
    assert.equal(messageTexts(rest).at(-1), 'tell: {"careful":"Done.","size":2}');
    // All events of the agent carry its position in the graph.
    const agentEvents = [...events, ...rest].filter(({ author }) => author === 'careful');
    assert.equal(agentEvents.length, 4);
    assert.ok(agentEvents.every(({ nodeInfo }) => nodeInfo?.path === 'wf/careful@1'));
  });

  it('process the items of a list, each in its own session', async () => {
    const split: Text = (_, input) => input.split(' ');
    const each = node(echo('each'), { parallelWorker: true });
    await using runner = createRunner([['START', split, each]]);
    assert.deepEqual(outputs(await runner.runDebug('a b')).at(-1), [
      'each heard a',
      'each heard b',
    ]);
  });

  it('can be composite agents and workflows', async () => {
    const inner = new Workflow({ name: 'inner', edges: [['START', upper, size]] });
    const flow = new SequentialAgent({ name: 'flow', subAgents: [echo('x'), echo('y')] });
    await using runner = createRunner([
      ['START', exclaim, inner, flow, node(exclaim, { name: 'end' })],
    ]);
    const events = await runner.runDebug('Hi');
    assert.deepEqual(outputs(events).slice(0, 3), ['Hi!', 'HI!', 3]);
    assert.ok(paths(events).includes('wf/exclaim@1/inner@1/upper@1/size@1'));
    assert.match(messageTexts(events).at(-1) ?? '', /^end: y heard .*3.*!$/);
  });

  it('a workflow that receives a transfer starts with the text of the user', async () => {
    const boss = new LlmAgent({
      name: 'boss',
      model: new ScriptedModel(() => ({
        toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: 'wf' } }],
      })),
      subAgents: [new Workflow({ name: 'wf', edges: [['START', upper, exclaim]] })],
    });
    await using runner = new InMemoryRunner({ agent: boss });
    assert.deepEqual(messageTexts(await runner.runDebug(['Hi', 'Yo'])), [
      'exclaim: HI!',
      'exclaim: YO!',
    ]);
  });

  it('a workflow is an agent: in a sequence, and as a tool', async () => {
    const wf = (): Workflow => new Workflow({ name: 'wf', edges: [['START', upper, exclaim]] });
    await using flow = new InMemoryRunner({
      agent: new SequentialAgent({ name: 'flow', subAgents: [wf(), echo('after')] }),
    });
    assert.match(messageTexts(await flow.runDebug('Hi')).at(-1) ?? '', /after heard Hi \/ .*HI!/);
    const caller = new LlmAgent({
      name: 'caller',
      model: new ScriptedModel(({ contents }) =>
        contents.at(-1)?.role === 'tool'
          ? { text: JSON.stringify(contents.at(-1)?.parts) }
          : { toolCalls: [{ name: 'wf', args: { request: 'tool' } }] },
      ),
      tools: [new AgentTool({ agent: wf() })],
    });
    await using runner = new InMemoryRunner({ agent: caller });
    assert.match(messageTexts(await runner.runDebug('go')).at(-1) ?? '', /TOOL!/);
  });
});

describe('a node that requests input', () => {
  const answer = (id: string, response: Record<string, Json>): Content => ({
    role: 'user',
    parts: [{ functionResponse: { id, name: 'adk_request_input', response } }],
  });
  const waitingCallId = (events: readonly Event[]): string => {
    const id = events.at(-1)?.longRunningToolIds?.[0];
    assert.ok(id !== undefined, 'someone is asked');
    return id;
  };
  const open = (folder: string, edges: readonly EdgeItem[]) => {
    const sessionService = new SqliteSessionService(join(folder, 'adk.db'));
    const runner = new Runner({
      node: new Workflow({ name: 'wf', edges }),
      appName: 'demo',
      sessionService,
      autoCreateSession: true,
    });
    return {
      runner,
      close: async () => {
        await runner.close();
        await sessionService.close();
      },
    };
  };

  it('waits across a restart, and the answer is its output', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'wf-'));
    const ask: Text = (_, input) =>
      new RequestInput({ interruptId: 'q', message: `${input}?`, payload: { of: 1 } });
    const edges: EdgeItem[] = [['START', ask, exclaim]];
    try {
      const before = open(folder, edges);
      const events = await before.runner.run({ ...sessionIds, newMessage: 'Sure' });
      assert.equal(waitingCallId(events), 'q');
      assert.deepEqual(events.at(-1)?.content?.parts, [
        {
          functionCall: {
            id: 'q',
            name: 'adk_request_input',
            args: { message: 'Sure?', payload: { of: 1 } },
          },
        },
      ]);
      await before.close();
      const after = open(folder, edges);
      const rest = await after.runner.run({
        ...sessionIds,
        newMessage: answer('q', { result: 'yes' }),
      });
      assert.deepEqual(messageTexts(rest), ['exclaim: yes!']);
      await after.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('continues with the answer if it is configured to, also after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'wf-'));
    const runs: string[] = [];
    async function* ask({ state }: NodeContext): AsyncGenerator<unknown, unknown, Json> {
      runs.push('run');
      yield Event({ state: { asked: true }, message: 'One question.' });
      const first = yield new RequestInput({ message: 'Name?' });
      yield Event({ message: `Hello ${String(first)}, ${String(state.get('asked'))}.` });
      const second = yield new RequestInput({ message: 'Colour?' });
      return `${String(first)} likes ${String(second)}`;
    }
    const edges: EdgeItem[] = [['START', node(ask, { rerunOnResume: true }), exclaim]];
    try {
      for (const restarts of [false, true]) {
        runs.length = 0;
        let now = open(folder, edges);
        const restart = async (): Promise<void> => {
          if (!restarts) return;
          await now.close();
          now = open(folder, edges);
        };
        const sessionId = String(restarts);
        const waitingEvents = await now.runner.run({ ...sessionIds, sessionId, newMessage: 'go' });
        await restart();
        const newMessage = answer(waitingCallId(waitingEvents), { result: 'Ada' });
        const more = await now.runner.run({ ...sessionIds, sessionId, newMessage });
        assert.deepEqual(messageTexts(more), ['ask: Hello Ada, true.']);
        await restart();
        const last = answer(waitingCallId(more), { result: 'red' });
        const rest = await now.runner.run({ ...sessionIds, sessionId, newMessage: last });
        assert.deepEqual(messageTexts(rest), ['exclaim: Ada likes red!']);
        assert.equal(runs.length, restarts ? 3 : 1);
        await now.close();
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('runs again with the answer if it is a function', async () => {
    const ask: Text = ({ resumeInputs }) =>
      resumeInputs['q'] === undefined
        ? new RequestInput({ interruptId: 'q' })
        : `told ${JSON.stringify(resumeInputs['q'])}`;
    await using runner = createRunner([['START', node(ask, { name: 'ask', rerunOnResume: true })]]);
    await runner.runDebug('go');
    const rest = await runner.run({ ...sessionIds, newMessage: answer('q', { a: 1, b: 2 }) });
    assert.deepEqual(messageTexts(rest), ['ask: told {"a":1,"b":2}']);
  });

  it('ends when the turn is interrupted', async () => {
    const ask: Text = () => new RequestInput();
    await using runner = createRunner([['START', ask, exclaim]]);
    const [waitingEvent = never()] = await runner.runDebug('go');
    const { invocationId } = waitingEvent;
    const abortSignal = AbortSignal.abort();
    await runner.run({ ...sessionIds, invocationId, abortSignal });
    // The next message has its own turn, which requests input again.
    const [again = never()] = await runner.runDebug('next');
    assert.notEqual(again.invocationId, invocationId);
    const stored = await runner.sessionService.getSession(sessionKey);
    assert.match(JSON.stringify(stored?.events), /stopped by an interrupt/);
    assert.deepEqual(await runner.run({ ...sessionIds, newMessage: 'no', abortSignal }), []);
  });
});

describe('a custom agent', () => {
  it('yields events in their short form', async () => {
    class Mine extends BaseAgent {
      protected override async *runAsyncImpl(): AsyncGenerator<AgentYield, void, never> {
        yield Event({ message: 'Hi.', state: { met: true } });
      }
    }
    await using runner = new InMemoryRunner({ agent: new Mine({ name: 'mine' }) });
    assert.deepEqual(messageTexts(await runner.runDebug('Hi')), ['mine: Hi.']);
    assert.deepEqual((await runner.sessionService.getSession(sessionKey))?.state, { met: true });
  });
});

function never(): never {
  throw new Error('It is not there.');
}
