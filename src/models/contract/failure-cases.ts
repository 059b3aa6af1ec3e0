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
      `a failure of kind ${kind} is told as such, and not retried`,
      [{ error: { kind } }],
      async (h) => {
        const error = await expectFailure(h.model);
        assert.deepEqual([error.kind, error.retryable], [kind, retryable[kind]]);
        assert.equal(h.requestCount(), 1);
      },
    ),
  ),

  modelContractCase(
    'the wait that a provider asks for is told in milliseconds',
    [{ error: { kind: 'rate_limit', retryAfterMs: 7000 } }],
    async (h) => {
      assert.equal((await expectFailure(h.model)).retryAfterMs, 7000);
    },
  ),

  modelContractCase(
    'an answer that breaks off is no shorter answer',
    [{ text: 'Sunny, with', error: { kind: 'truncated' } }],
    async (h) => {
      const error = await expectFailure(h.model);
      assert.deepEqual([error.kind, error.retryable], ['truncated', true]);
    },
  ),

  modelContractCase(
    'a failure in the middle of an answer is a failure',
    [{ text: 'Sunny, with', error: { kind: 'overloaded' } }],
    async (h) => {
      assert.equal((await expectFailure(h.model)).kind, 'overloaded');
    },
  ),

  modelContractCase(
    'a call that is aborted before it begins asks nothing',
    [{ text: 'No.' }],
    async (h) => {
      assert.equal((await expectFailure(h.model, AbortSignal.abort())).kind, 'aborted');
      assert.equal(h.requestCount(), 0);
    },
  ),

  modelContractCase(
    'a call that waits ends soon when it is aborted',
    [{ text: 'Late.', delayMs: 100_000 }],
    async (h) => {
      const error = await expectFailure(h.model, AbortSignal.timeout(30));
      assert.deepEqual([error.kind, error.retryable], ['aborted', false]);
    },
  ),

  modelContractCase(
    'a call that answers ends soon when it is aborted',
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

  modelContractCase('two calls at once do not mix', [{ text: 'a b c d e f' }], async (h) => {
    const both = await Promise.all([expectResponse(h.model), expectResponse(h.model)]);
    for (const { response, deltas } of both) {
      assert.deepEqual(response.content.parts, [{ text: 'a b c d e f' }]);
      assert.equal(deltas.map(({ text }) => text).join(''), 'a b c d e f');
    }
  }),
];
