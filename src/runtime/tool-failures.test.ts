import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../agents/index.ts';
import { getFunctionCalls, getFunctionResponses } from '../core/index.ts';
import type { Json, JsonObject, LogEvent } from '../core/index.ts';
import { ScriptedModel } from '../models/index.ts';
import { SimulatedClock } from '../net/index.ts';
import { tool } from '../tools/index.ts';
import type { Tool, ToolContext } from '../tools/index.ts';
import { openRuntime } from './open-runtime.ts';

interface TurnResult {
  readonly log: readonly LogEvent[];
  /** The result that the model got for each call, in the order of the calls. */
  readonly results: readonly JsonObject[];
  readonly clock: SimulatedClock;
}

/** Runs a turn in which the model calls these tools, then a turn without calls: the session must still work. */
async function play(
  tools: readonly Tool[],
  calls: readonly {
    readonly name: string;
    readonly args?: JsonObject;
    readonly malformedArgs?: string;
  }[],
  during: (clock: SimulatedClock) => Promise<void> = async () => {},
): Promise<TurnResult> {
  const clock = new SimulatedClock(1_000);
  const model = new ScriptedModel(({ contents }) =>
    contents.length === 1 ? { text: 'Calling.', toolCalls: calls } : { text: 'I see.' },
  );
  await using runtime = await openRuntime({
    agents: [agent({ name: 'a', tools, model })],
    clock,
    onError: (error) => assert.fail(String(error)),
  });
  const session = await runtime.session('x');
  const first = session.send('go');
  await first.accepted;
  await during(clock);
  for await (const _ of first);
  for await (const event of session.send('still there?'))
    if (event.type === 'turn.ended') assert.equal(event.stopReason, 'end_turn');
  const log: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) log.push(event);
  for (const { contents } of model.requests) {
    for (const [index, content] of contents.entries()) {
      const ids = getFunctionCalls(content).map(({ id }) => id);
      if (ids.length === 0) continue;
      const answers = getFunctionResponses(contents[index + 1] ?? assert.fail('a call dangles'));
      assert.deepEqual(
        answers.map(({ id }) => id),
        ids,
      );
    }
  }
  const results = model.requests.at(-1)?.contents[2] ?? assert.fail();
  return { log, clock, results: getFunctionResponses(results).map(({ response }) => response) };
}

const bad = (name: string, execute: (args: unknown, context: ToolContext) => unknown): Tool =>
  tool({ name, description: 'Misbehaves.', execute, timeoutMs: 1_000 });

const listOutcomes = (log: readonly LogEvent[]): readonly string[] =>
  log.flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : []));
const getCode = (response: JsonObject | undefined): Json | undefined =>
  (response?.['error'] as JsonObject | undefined)?.['code'];

test('a tool that throws is answered with its error message, without the stack', async () => {
  const { log, results } = await play(
    [
      bad('throws', () => {
        throw new Error('no luck');
      }),
      bad('rejects', async () => {
        throw new RangeError('too far');
      }),
      bad('throws-text', () => {
        throw 'just text';
      }),
      bad('throws-nothing', () => {
        throw undefined;
      }),
    ],
    ['throws', 'rejects', 'throws-text', 'throws-nothing'].map((name) => ({ name })),
  );
  assert.deepEqual(listOutcomes(log), ['error', 'error', 'error', 'error']);
  assert.deepEqual(
    results.map((response) => (response['error'] as JsonObject)['message']),
    ['no luck', 'too far', 'just text', 'The tool threw something that is not an error.'],
  );
  assert.equal(JSON.stringify(log).includes('.ts:'), false);
});

test('a tool that hangs past its timeout is aborted and answered with an error; its later result is ignored', async () => {
  const began = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<string>();
  const signals: AbortSignal[] = [];
  const { log, results } = await play(
    [
      bad('hangs', (_, { signal }) => {
        signals.push(signal);
        began.resolve();
        return finish.promise;
      }),
      bad('works', () => 'done'),
    ],
    [{ name: 'hangs' }, { name: 'works' }],
    async (clock) => {
      await began.promise;
      clock.advance(999);
      await new Promise(setImmediate);
      assert.equal(signals[0]?.aborted, false);
      clock.advance(1);
      // The tool gets the abort signal, and time to stop, before the error is committed.
      for (let n = 0; n < 20; n++) await new Promise(setImmediate);
      finish.resolve('too late');
    },
  );
  assert.deepEqual(listOutcomes(log).toSorted(), ['ok', 'unknown']);
  assert.equal(getCode(results[0]), 'outcome_unknown');
  assert.deepEqual(results[1], { result: 'done' });
  assert.equal(signals[0]?.aborted, true);
  assert.equal(JSON.stringify(log).includes('too late'), false);
});

test('a tool that returns a value that is not JSON is answered with an error', async () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const values: Readonly<Record<string, unknown>> = {
    'a-function': () => 1,
    'a-bigint': 1n,
    'a-map': { when: new Map() },
    'not-a-number': { value: Number.NaN },
    'a-circle': cyclic,
  };
  const { log, results } = await play(
    Object.entries(values).map(([name, value]) => bad(name, () => value)),
    Object.keys(values).map((name) => ({ name })),
  );
  assert.deepEqual([...new Set(listOutcomes(log))], ['error']);
  assert.deepEqual([...new Set(results.map(getCode))], ['not_serialisable']);
});

test('unknown tools and invalid arguments are answered without running anything', async () => {
  const executions: unknown[] = [];
  const picky = tool({
    name: 'picky',
    description: 'Wants a number.',
    parameters: {
      type: 'object',
      properties: { n: { type: 'number' } },
      required: ['n'],
      additionalProperties: false,
    } as const,
    execute: (args) => executions.push(args),
  });
  const { log, results } = await play(
    [picky],
    [
      { name: 'nowhere' },
      { name: 'picky', args: { n: 'one' } },
      { name: 'picky' },
      { name: 'picky', malformedArgs: '{"n":' },
      { name: 'picky', args: { n: 1 } },
    ],
  );
  assert.deepEqual(listOutcomes(log), ['not_found', 'invalid', 'invalid', 'invalid', 'ok']);
  assert.deepEqual(results.map(getCode), ['not_found', 'invalid', 'invalid', 'invalid', undefined]);
  assert.deepEqual(executions, [{ n: 1 }]);
});

test('when the approval check throws, the call fails and nothing runs', async () => {
  let executions = 0;
  const touchy = tool({
    name: 'touchy',
    description: 'Cannot decide.',
    needsApproval: () => {
      throw new Error('undecided');
    },
    execute: () => executions++,
  });
  const { log } = await play([touchy], [{ name: 'touchy' }]).catch((error: unknown) =>
    assert.fail(String(error)),
  );
  assert.equal(executions, 0);
  assert.deepEqual(listOutcomes(log), ['error']);
});

test('calls beyond the limit of one message are each answered, and the turn continues', async () => {
  let executions = 0;
  const { log, results } = await play(
    [bad('count', () => ++executions)],
    Array.from({ length: 70 }, () => ({ name: 'count' })),
  );
  assert.equal(executions, 64);
  assert.equal(listOutcomes(log).length, 70);
  assert.deepEqual(
    results.slice(64).map(getCode),
    Array.from({ length: 6 }, () => 'error'),
  );
});

test('a tool that writes a forbidden state key fails, and writes nothing', async () => {
  const { log, results } = await play(
    [
      bad('writes', (_, { state }) => {
        state.set('fine', 1);
        state.set('', 2);
      }),
      bad('adds', (_, { state }) => {
        state.set('text', 'a');
        state.increment('text');
      }),
    ],
    [{ name: 'writes' }, { name: 'adds' }],
  );
  assert.deepEqual(listOutcomes(log), ['error', 'error']);
  assert.deepEqual(results.map(getCode), ['invalid_state_key', 'invalid_input']);
  assert.equal(
    log.some(({ type }) => type === 'state.changed'),
    false,
  );
});

test('progress that a tool reports after its end is dropped', async () => {
  const partials: unknown[] = [];
  let late: (text: string) => void = () => {};
  const model = new ScriptedModel([{ toolCalls: [{ name: 'chatty' }] }, { text: 'Done.' }]);
  const chatty = bad('chatty', (_, { progress }) => {
    progress('in time');
    late = progress;
    return 'ok';
  });
  await using runtime = await openRuntime({
    agents: [agent({ name: 'a', tools: [chatty], model })],
  });
  const session = await runtime.session('x');
  for await (const event of session.send('go')) {
    if (event.type === 'tool.result') late('too late');
    if (event.type === 'partial' && event.kind === 'progress') partials.push(event.text);
  }
  assert.deepEqual(partials, ['in time']);
});
