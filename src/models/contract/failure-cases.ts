import assert from 'node:assert/strict';
import type { ModelErrorKind } from '../model/model-error.ts';
import { expectResponse, expectFailure } from './expect-response.ts';
import { modelContractCase, type ModelContractCase } from './model-contract-case.ts';

const retryable: Readonly<Partial<Record<ModelErrorKind, boolean>>> = {
  rate_limit: true,
  overloaded: true,
  server: true,
  network: true,
  truncated: true,
  auth: false,
  not_found: false,
  bad_request: false,
  protocol: false,
};

const kinds: readonly ModelErrorKind[] = [
  'rate_limit',
  'overloaded',
  'server',
  'network',
  'truncated',
  'auth',
  'not_found',
  'bad_request',
  'protocol',
];

export const failureCases: readonly ModelContractCase[] = [
  ...kinds.map((kind) =>
    modelContractCase(
      `a failure of kind ${kind} is reported with its kind and not retried`,
      [{ error: { kind } }],
      async (h) => {
        const error = await expectFailure(h.model);
        assert.deepEqual([error.kind, error.retryable], [kind, retryable[kind]]);
        assert.equal(h.requestCount(), 1);
      },
    ),
  ),

  modelContractCase(
    'retryAfterMs is the wait that the provider requested, in milliseconds',
    [{ error: { kind: 'rate_limit', retryAfterMs: 7000 } }],
    async (h) => {
      assert.equal((await expectFailure(h.model)).retryAfterMs, 7000);
    },
  ),

  modelContractCase(
    'a truncated stream is an error, not a shorter response',
    [{ text: 'Sunny, with', error: { kind: 'truncated' } }],
    async (h) => {
      const error = await expectFailure(h.model);
      assert.deepEqual([error.kind, error.retryable], ['truncated', true]);
    },
  ),

  modelContractCase(
    'a failure in the middle of a response is a failure',
    [{ text: 'Sunny, with', error: { kind: 'overloaded' } }],
    async (h) => {
      assert.equal((await expectFailure(h.model)).kind, 'overloaded');
    },
  ),

  modelContractCase(
    'a call that is aborted before it begins sends no request',
    [{ text: 'No.' }],
    async (h) => {
      assert.equal((await expectFailure(h.model, AbortSignal.abort())).kind, 'aborted');
      assert.equal(h.requestCount(), 0);
    },
  ),

  modelContractCase(
    'a waiting call ends soon after an abort',
    [{ text: 'Late.', delayMs: 100_000 }],
    async (h) => {
      const error = await expectFailure(h.model, AbortSignal.timeout(30));
      assert.deepEqual([error.kind, error.retryable], ['aborted', false]);
    },
  ),

  modelContractCase(
    'a streaming call ends soon after an abort',
    [{ deltas: ['one ', 'two'], deltaDelayMs: 100_000 }],
    async (h) => {
      const abort = new AbortController();
      const failing = h.model.generate(
        { contents: [{ role: 'user', parts: [{ text: 'Go on.' }] }], tools: [] },
        {
          signal: abort.signal,
          onDelta: () => abort.abort(),
          firingId: 'firing-1',
          attempt: 1,
        },
      );
      await assert.rejects(failing, { kind: 'aborted' });
    },
  ),

  modelContractCase('concurrent calls do not mix', [{ text: 'a b c d e f' }], async (h) => {
    const both = await Promise.all([expectResponse(h.model), expectResponse(h.model)]);
    for (const { response, deltas } of both) {
      assert.deepEqual(response.content.parts, [{ text: 'a b c d e f' }]);
      assert.equal(deltas.map(({ text }) => text).join(''), 'a b c d e f');
    }
  }),
];
