import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as macrotask } from 'node:timers/promises';
import * as fc from 'fast-check';
import { InvalidInputError, contentText, userContent, type Content } from '../../core/index.ts';
import { ModelError } from '../model/model-error.ts';
import type { ModelContext, ModelDelta, ModelRequest } from '../model/model.ts';
import { ScriptedModel, ScriptExhaustedError } from './scripted-model.ts';
import type { ScriptedTurn } from './scripted-turn.ts';

function requestAfter(answers: number): ModelRequest {
  return {
    contents: [userContent('Hi'), ...Array.from({ length: answers }, earlierAnswer)],
    tools: [],
  };
}

function earlierAnswer(): Content {
  return { role: 'model', parts: [{ text: 'earlier' }] };
}

function contextWith(more: Partial<ModelContext> = {}): ModelContext {
  const { signal } = new AbortController();
  return { signal, onDelta: () => undefined, firingId: 'f1', attempt: 1, ...more };
}

async function collectDeltas(turn: ScriptedTurn): Promise<readonly ModelDelta[]> {
  const deltas: ModelDelta[] = [];
  const model = new ScriptedModel([turn]);
  await model.generate(requestAfter(0), contextWith({ onDelta: (delta) => deltas.push(delta) }));
  return deltas;
}

test('a request repeated after a crash gets the same answer from a new model', async () => {
  const script = [{ text: 'one' }, { text: 'two' }];
  for (const model of [new ScriptedModel(script), new ScriptedModel(script)]) {
    for (let i = 0; i < 2; i++) {
      const response = await model.generate(requestAfter(1), contextWith());
      assert.equal(contentText(response.content), 'two');
    }
  }
});

test('an answer has thinking, text and calls in that order, and the finish reason tool_calls', async () => {
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  const model = new ScriptedModel([
    {
      text: 'Deleting.',
      thinking: 'Hm.',
      thoughtSignature: 'sealed',
      toolCalls: [{ name: 'rm', args: { path: 'a' }, id: 'toolu_1' }, { name: 'ls' }],
      usage,
      providerMetadata: { region: 'eu' },
    },
  ]);
  assert.deepEqual(await model.generate(requestAfter(0), contextWith()), {
    content: {
      role: 'model',
      parts: [
        { text: 'Hm.', thought: true, thoughtSignature: 'sealed' },
        { text: 'Deleting.' },
        { functionCall: { id: 'toolu_1', name: 'rm', args: { path: 'a' } } },
        { functionCall: { id: '', name: 'ls', args: {} } },
      ],
    },
    finishReason: 'tool_calls',
    usage,
    providerMetadata: { region: 'eu' },
  });
});

test('malformed arguments are a call with an error, not an empty call', async () => {
  const model = new ScriptedModel([{ toolCalls: [{ name: 'rm', malformedArgs: '{"pa' }] }]);
  const { content } = await model.generate(requestAfter(0), contextWith());
  assert.deepEqual(content.parts, [
    {
      functionCall: {
        id: '',
        name: 'rm',
        args: {},
        argsError: { message: 'The arguments are not JSON.', raw: '{"pa' },
      },
    },
  ]);
});

test('text streams word by word, in a given number of pieces, or in given pieces', async () => {
  assert.deepEqual(
    (await collectDeltas({ text: 'To be, or not ' })).map(({ text }) => text),
    ['To', ' be,', ' or', ' not '],
  );
  assert.deepEqual(
    (await collectDeltas({ text: 'abcdef', deltas: 3 })).map(({ text }) => text),
    ['ab', 'cd', 'ef'],
  );
  assert.deepEqual(await collectDeltas({ thinking: 'Hm.', deltas: ['a', 'b'] }), [
    { kind: 'thinking', text: 'Hm.' },
    { kind: 'text', text: 'a' },
    { kind: 'text', text: 'b' },
  ]);
});

test('the streamed pieces always join to the text', async () => {
  const turn = fc.record(
    { text: fc.string(), deltas: fc.integer({ min: 1, max: 20 }) },
    { requiredKeys: ['text'] },
  );
  await fc.assert(
    fc.asyncProperty(turn, async (scripted) => {
      const deltas = await collectDeltas(scripted);
      assert.equal(deltas.map(({ text }) => text).join(''), scripted.text);
      assert.ok(deltas.every(({ text }) => text !== ''));
    }),
  );
});

test('a failure comes after the streamed text, with its kind and wait', async () => {
  const deltas: ModelDelta[] = [];
  const model = new ScriptedModel([
    { text: 'I thi', error: { kind: 'truncated' } },
    { error: { kind: 'rate_limit', retryAfterMs: 700, message: 'slow down' } },
  ]);
  await assert.rejects(
    model.generate(requestAfter(0), contextWith({ onDelta: (delta) => deltas.push(delta) })),
    (error) => error instanceof ModelError && error.kind === 'truncated' && error.retryable,
  );
  assert.equal(deltas.map(({ text }) => text).join(''), 'I thi');
  await assert.rejects(model.generate(requestAfter(1), contextWith()), {
    code: 'model_rate_limit',
    retryAfterMs: 700,
    message: 'Model "scripted": slow down',
  });
});

test('a failure of two attempts succeeds at the third', async () => {
  const model = new ScriptedModel([{ text: 'Hi', error: { kind: 'server', attempts: 2 } }]);
  await assert.rejects(model.generate(requestAfter(0), contextWith({ attempt: 1 })), ModelError);
  await assert.rejects(model.generate(requestAfter(0), contextWith({ attempt: 2 })), ModelError);
  const response = await model.generate(requestAfter(0), contextWith({ attempt: 3 }));
  assert.equal(contentText(response.content), 'Hi');
});

test('delays use the configured sleep function', async () => {
  const waits: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    waits.push(ms);
  };
  const turn = { deltas: ['a', 'b', 'c'], delayMs: 50, deltaDelayMs: 5 };
  const model = new ScriptedModel([turn, { toolCalls: [{ name: 'f' }], delayMs: 9 }], { sleep });
  await model.generate(requestAfter(0), contextWith());
  await model.generate(requestAfter(1), contextWith());
  assert.deepEqual(waits, [50, 5, 5, 9]);
});

test('an abort ends the call during a wait and before the start', async () => {
  const model = new ScriptedModel([{ text: 'never', delayMs: 3_600_000 }]);
  const controller = new AbortController();
  const answer = model.generate(requestAfter(0), contextWith({ signal: controller.signal }));
  await macrotask();
  controller.abort();
  await assert.rejects(answer, { code: 'model_aborted', retryable: false });
  const late = model.generate(requestAfter(0), contextWith({ signal: controller.signal }));
  await assert.rejects(late, { code: 'model_aborted' });
});

test('the error of an exhausted script has the number of its turns', async () => {
  const model = new ScriptedModel([{ text: 'one' }]);
  await assert.rejects(model.generate(requestAfter(1), contextWith()), (error) => {
    assert.ok(error instanceof ScriptExhaustedError);
    assert.match(error.message, /has 1 turns and the request needs turn 2: add a turn/);
    return true;
  });
});

test('a script can be a function of the request', async () => {
  const model = new ScriptedModel(({ contents }, turnIndex) => ({
    text: `${contents.length} messages, turn ${turnIndex}`,
  }));
  const response = await model.generate(requestAfter(2), contextWith());
  assert.equal(contentText(response.content), '3 messages, turn 2');
});

test('the model records every request', async () => {
  const model = new ScriptedModel([{ text: 'a' }], { name: 'fake' });
  await model.generate(requestAfter(0), contextWith());
  await assert.rejects(model.generate(requestAfter(1), contextWith()));
  assert.deepEqual(model.requests, [requestAfter(0), requestAfter(1)]);
  assert.equal(model.name, 'fake');
});

test('a fixture in JSON is a valid script', async () => {
  const model = ScriptedModel.fromFixture({
    turns: [
      { tool_calls: [{ name: 'deploy', input: { target: 'prod' }, id: 'ctu_deploy_001' }] },
      { text: 'Deployment completed' },
    ],
  });
  const first = await model.generate(requestAfter(0), contextWith());
  assert.deepEqual(first.content.parts, [
    { functionCall: { id: 'ctu_deploy_001', name: 'deploy', args: { target: 'prod' } } },
  ]);
  const second = await model.generate(requestAfter(1), contextWith());
  assert.deepEqual(
    [contentText(second.content), second.finishReason],
    ['Deployment completed', 'stop'],
  );
});

test('an invalid fixture is rejected, and the error names the path', () => {
  assert.throws(
    () => ScriptedModel.fromFixture({ turns: [{ tool_calls: [{ name: 'f', input: [] }] }] }),
    (error) =>
      error instanceof InvalidInputError &&
      error.field === 'scripted_model.turns.0.tool_calls.0.input',
  );
});

test('a script with an unknown field, or no script, is rejected', async () => {
  const create = (script: unknown): unknown => Reflect.construct(ScriptedModel, [script]);
  assert.throws(() => create(undefined), /script: must be a list of turns.*it is undefined/);
  assert.throws(() => create([undefined]), /script\[0\]: must be a turn/);
  assert.throws(() => create([{ txt: 'Hi' }]), /script\[0\]\.txt: is unknown.*`text`/);
  assert.throws(
    () => create([{ toolCalls: [{ name: 'rm', arg: {} }] }]),
    /script\[0\]\.toolCalls\[0\]\.arg: is unknown.*`args`/,
  );
  const turn: object = { txt: 'Hi' };
  const model = new ScriptedModel(() => turn);
  await assert.rejects(model.generate(requestAfter(0), contextWith()), InvalidInputError);
});
