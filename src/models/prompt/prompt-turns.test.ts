import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Content, Part } from '../../core/index.ts';
import { toPromptTurns } from './prompt-turns.ts';

function call(id: string): Part {
  return { functionCall: { id, name: 'f', args: {} } };
}

function response(id: string, found: number): Part {
  return { functionResponse: { id, name: 'f', response: { found } } };
}

test('results follow their calls directly, in the order of the calls, and once', () => {
  const turns = toPromptTurns([
    { role: 'user', parts: [{ text: 'Go.' }] },
    { role: 'model', parts: [{ text: 'I go.' }, call('a'), call('b')] },
    { role: 'user', parts: [{ text: 'Meanwhile' }, response('b', 1)] },
    { role: 'tool', parts: [response('a', 2), response('a', 3), response('lost', 4)] },
  ]);
  assert.deepEqual(
    turns.map((turn) =>
      turn.kind === 'results'
        ? turn.results.map(({ response: { id, response } }) => [id, response['found']])
        : [turn.kind, turn.parts],
    ),
    [
      ['user', [{ text: 'Go.' }]],
      ['model', [{ text: 'I go.' }, call('a'), call('b')]],
      [
        ['a', 2],
        ['b', 1],
      ],
      ['user', [{ text: 'Meanwhile' }]],
    ],
  );
});

test('an id that is reused, in one message or a later one, does not mix up the results', () => {
  const turns = toPromptTurns([
    { role: 'user', parts: [{ text: 'Go.' }] },
    { role: 'model', parts: [call('a'), call('a')] },
    { role: 'tool', parts: [response('a', 1), response('a', 2)] },
    { role: 'model', parts: [call('a')] },
    { role: 'tool', parts: [response('a', 3)] },
  ]);
  const found = turns.flatMap((turn) =>
    turn.kind === 'results' ? [turn.results.map(({ response: { response } }) => response)] : [],
  );
  assert.deepEqual(found, [[{ found: 1 }, { found: 2 }], [{ found: 3 }]]);
});

test('a result before its call belongs to that call', () => {
  const turns = toPromptTurns([
    { role: 'user', parts: [{ text: 'Go.' }, response('a', 1)] },
    { role: 'model', parts: [call('a')] },
  ]);
  const last = turns.at(-1);
  assert.deepEqual(last?.kind === 'results' && last.results[0]?.response.response, { found: 1 });
});

test('a call without a result gets an error result', () => {
  const turns = toPromptTurns([
    { role: 'user', parts: [{ text: 'Go.' }] },
    { role: 'model', parts: [call('a')] },
  ]);
  const last = turns.at(-1);
  assert.equal(last?.kind, 'results');
  assert.equal(last?.kind === 'results' && last.results[0]?.response.isError, true);
});

test('filtered parts leave a valid order of turns', () => {
  const secret = { text: 'secret', thoughtSignature: 's' };
  const turns = toPromptTurns(
    [
      { role: 'user', parts: [{ text: 'Hi.' }] },
      { role: 'model', parts: [secret] },
      { role: 'user', parts: [{ text: 'Well?' }] },
    ],
    (_role, part) => !('thoughtSignature' in part),
  );
  assert.deepEqual(turns, [{ kind: 'user', parts: [{ text: 'Hi.' }, { text: 'Well?' }] }]);
});

test('blank text is dropped, and an empty user message becomes a placeholder', () => {
  const turns = toPromptTurns([
    { role: 'user', parts: [{ text: ' ' }] },
    { role: 'model', parts: [{ text: '\n\n' }, call('a')] },
    { role: 'user', parts: [response('a', 1)] },
    { role: 'model', parts: [{ text: '\n' }] },
    { role: 'user', parts: [{ text: '' }] },
  ]);
  const nothing = { kind: 'user', parts: [{ text: '(An empty message.)' }] };
  assert.deepEqual(
    turns.map((turn) => (turn.kind === 'results' ? turn.kind : turn)),
    [nothing, { kind: 'model', parts: [call('a')] }, 'results', nothing],
  );
});

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.constantFrom('', ' \n', 'a', 'b').map((text) => ({ text })),
  fc.constantFrom('1', '2', '3', '4').map(call),
  fc.tuple(fc.constantFrom('1', '2', '3', '5'), fc.nat(9)).map(([id, n]) => response(id, n)),
);
const contents: fc.Arbitrary<Content[]> = fc.array(
  fc.record({
    role: fc.constantFrom('user' as const, 'model' as const, 'tool' as const),
    parts: fc.array(part, { maxLength: 4 }),
  }),
  { maxLength: 8 },
);

test('any history becomes turns in an order that every provider accepts', () => {
  fc.assert(
    fc.property(contents, (history) => {
      const turns = toPromptTurns(history);
      assert.ok(turns[0] === undefined || turns[0].kind === 'user');
      for (const [i, turn] of turns.entries()) {
        const before = turns[i - 1];
        const calls =
          before?.kind === 'model' ? before.parts.filter((one) => 'functionCall' in one) : [];
        if (turn.kind === 'results') {
          assert.deepEqual(
            turn.results.map(({ call }) => call),
            calls,
          );
          assert.ok(calls.length > 0);
          continue;
        }
        assert.equal(calls.length, 0, 'calls are answered at once');
        assert.notEqual(turn.kind, before?.kind, 'neighbours differ');
        assert.ok(turn.parts.length > 0);
        assert.ok(turn.parts.every((one) => !('text' in one) || one.text.trim() !== ''));
        assert.ok(turn.parts.every((one) => !('functionResponse' in one)));
      }
    }),
  );
});
