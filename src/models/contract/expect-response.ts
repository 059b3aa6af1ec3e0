import assert from 'node:assert/strict';
import {
  deepFreeze,
  getFunctionCalls,
  parseContent,
  userContent,
  type Content,
} from '../../core/index.ts';
import { ModelError } from '../model/model-error.ts';
import type { Model, ModelDelta, ModelRequest, ModelResponse } from '../model/model.ts';
import type { ToolDeclaration } from '../model/tool-declaration.ts';
import { withCallIds } from '../model/with-call-ids.ts';

/** The response of a model, as stream deltas and complete. */
export interface ModelOutput {
  readonly response: ModelResponse;
  readonly deltas: readonly ModelDelta[];
}

export const weather: ToolDeclaration = {
  name: 'weather',
  description: 'Tells the weather of a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city'],
  },
};

export const clock: ToolDeclaration = {
  name: 'clock',
  description: 'Tells the time.',
  parameters: { type: 'object', properties: {} },
};

export const question: Content = userContent('What is the weather in Rome?');

/** Calls a model and checks the requirements of every response. */
export async function expectResponse(
  model: Model,
  request: Partial<ModelRequest> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelOutput> {
  const deltas: ModelDelta[] = [];
  // Frozen, so that a model that modifies its request throws.
  const fullRequest = deepFreeze({ contents: [question], tools: [weather, clock], ...request });
  const response = await model.generate(fullRequest, {
    signal,
    onDelta: (delta) => deltas.push(delta),
    firingId: 'firing-1',
    attempt: 1,
  });
  assert.equal(response.content.role, 'model');
  const journaled = withCallIds(response.content, 'e-1', 0);
  assert.deepEqual(parseContent(journaled), journaled, 'a response can be journaled');
  assert.deepEqual(structuredClone(response), JSON.parse(JSON.stringify(response)));
  const hasCalls = getFunctionCalls(response.content).length > 0;
  assert.equal(response.finishReason === 'tool_calls', hasCalls);
  for (const { text } of deltas) assert.notEqual(text, '', 'no delta is empty');
  return { response, deltas };
}

/** Calls a model that must fail, and returns its error. */
export async function expectFailure(
  model: Model,
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelError> {
  try {
    await expectResponse(model, {}, signal);
  } catch (error) {
    assert.ok(error instanceof ModelError, `a ModelError, not ${String(error)}`);
    assert.equal(error.model, model.name);
    assert.equal(error.code, `model_${error.kind}`);
    return error;
  }
  throw new assert.AssertionError({ message: 'expected a failure, got a response' });
}

/** The texts of the deltas of one kind, joined. */
export function joinDeltas(deltas: readonly ModelDelta[], kind: ModelDelta['kind']): string {
  return deltas.map((delta) => (delta.kind === kind ? delta.text : '')).join('');
}
