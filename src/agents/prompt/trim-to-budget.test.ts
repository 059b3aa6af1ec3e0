import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import * as fc from 'fast-check';
import {
  getFunctionCalls,
  getFunctionResponses,
  InvalidInputError,
  contentText,
} from '../../core/index.ts';
import type { Content } from '../../core/index.ts';
import { BudgetTrimmer } from './budget-trimmer.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { trimToBudget } from './trim-to-budget.ts';
import type { TrimOptions } from './trim-options.ts';

const userMessage = (text: string): Content => ({ role: 'user', parts: [{ text }] });
const agentMessage = (text: string): Content => ({
  role: 'model',
  parts: [{ text, thoughtSignature: `seal of ${text}` }],
});
const calls = (...ids: readonly string[]): Content => ({
  role: 'model',
  parts: ids.map((id) => ({
    functionCall: { id, name: 'f', args: {} },
    thoughtSignature: `seal of ${id}`,
  })),
});
const results = (...ids: readonly string[]): Content => ({
  role: 'tool',
  parts: ids.map((id) => ({ functionResponse: { id, name: 'f', response: {} } })),
});

/** Counts one token per message. */
const each = (maxTokens: number, more: Partial<TrimOptions> = {}): TrimOptions => ({
  maxTokens,
  trimToTokens: maxTokens,
  countTokens: () => 1,
  ...more,
});

/** Turns as an agent makes them: any number of rounds of calls, and possibly an unfinished last turn. */
const wellFormed = fc
  .array(
    fc.record({
      said: fc.string({ maxLength: 60 }),
      rounds: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 5 }),
      ended: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((turns) =>
    turns.flatMap(({ said, rounds, ended }, turn) => [
      userMessage(said),
      ...rounds.flatMap((count, round) => {
        const ids = Array.from({ length: count }, (_, call) => `${turn}_${round}_${call}`);
        return [calls(...ids), results(...ids)];
      }),
      ...(ended ? [agentMessage(said)] : []),
    ]),
  );

/** Any sequence of messages: results apart, interleaved, repeated, before their calls or missing. */
const anything = fc.array(
  fc.oneof(
    fc.string({ maxLength: 40 }).map(userMessage),
    fc.string({ maxLength: 40 }).map(agentMessage),
    fc
      .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 })
      .map((ids) => calls(...ids)),
    fc
      .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 })
      .map((ids) => results(...ids)),
  ),
  { minLength: 1, maxLength: 30 },
);

const options = fc.record({
  maxTokens: fc.integer({ min: 1, max: 400 }),
  keepFirst: fc.boolean(),
  part: fc.double({ min: 0.1, max: 1, noNaN: true }),
});
const toTrimOptions = ({
  maxTokens,
  keepFirst,
  part,
}: {
  maxTokens: number;
  keepFirst: boolean;
  part: number;
}): TrimOptions => ({
  maxTokens,
  keepFirst,
  trimToTokens: maxTokens * part,
});
const cost = (contents: readonly Content[]): number =>
  contents.reduce((sum, content) => sum + estimateTokens(content), 0);

/** The ids of calls without a result and of results without a call in these messages. */
function listUnpairedCalls(contents: readonly Content[]): readonly string[] {
  const called = contents.flatMap((content) => getFunctionCalls({ content }).map(({ id }) => id));
  const answered = contents.flatMap((content) =>
    getFunctionResponses({ content }).map(({ id }) => id),
  );
  return [
    ...called.filter((id) => !answered.includes(id)),
    ...answered.filter((id) => !called.includes(id)),
  ];
}

/** The smallest possible result: the last round, the message of its turn, and the first message if it is kept. */
function smallestPossible(contents: readonly Content[], keepFirst: boolean): number {
  const lastUser = contents.findLastIndex(({ role }) => role === 'user');
  const lastModel = contents.findLastIndex(({ role }) => role === 'model');
  const from = Math.max(lastUser, lastModel);
  const kept = new Set([
    lastUser,
    ...(keepFirst ? [contents.findIndex(({ role }) => role === 'user')] : []),
  ]);
  return cost(contents.filter((_, index) => index >= from || kept.has(index)));
}

describe('trimToBudget', () => {
  it('never exceeds the budget, except when the last round and its message alone exceed it', () => {
    fc.assert(
      fc.property(wellFormed, options, (contents, sample) => {
        const left = cost(trimToBudget(contents, toTrimOptions(sample)));
        assert.ok(
          left <= sample.maxTokens || left <= smallestPossible(contents, sample.keepFirst),
          `${left}`,
        );
      }),
    );
  });

  it('never keeps a call without its result, or a result without its call', () => {
    fc.assert(
      fc.property(wellFormed, options, (contents, sample) => {
        assert.deepEqual(listUnpairedCalls(trimToBudget(contents, toTrimOptions(sample))), []);
      }),
    );
  });

  it('never separates a call from its result, in any sequence of messages', () => {
    fc.assert(
      fc.property(anything, options, (contents, sample) => {
        // Only the first call with an id counts here, because results of a reused id belong to no single call.
        const seen = new Set<string>();
        const once = contents.filter((content) => {
          const ids = getFunctionCalls({ content }).map(({ id }) => id);
          if (ids.some((id) => seen.has(id))) return false;
          for (const id of ids) seen.add(id);
          return true;
        });
        const shown = trimToBudget(once, toTrimOptions(sample));
        for (const [at, content] of once.entries()) {
          for (const { id } of getFunctionCalls({ content })) {
            const after = once
              .slice(at)
              .filter((one) =>
                getFunctionResponses({ content: one }).some((response) => response.id === id),
              );
            for (const answer of after)
              assert.equal(shown.includes(answer), shown.includes(content), `${id} at ${at}`);
          }
        }
      }),
    );
  });

  it('returns messages of the input in their order, up to the last one', () => {
    fc.assert(
      fc.property(fc.oneof(wellFormed, anything), options, (contents, sample) => {
        const shown = trimToBudget(contents, toTrimOptions(sample));
        const places = shown.map((content) => contents.indexOf(content));
        assert.deepEqual(
          places,
          [...new Set(places)].toSorted((a, b) => a - b),
        );
        assert.equal(places.at(-1), contents.length - 1);
      }),
    );
  });

  it('returns a contiguous end of the input, and at most two earlier user messages', () => {
    fc.assert(
      fc.property(wellFormed, options, (contents, sample) => {
        const shown = trimToBudget(contents, toTrimOptions(sample));
        const apart = shown.filter(
          (content, i) => content !== contents[contents.length - shown.length + i],
        );
        assert.ok(apart.length <= 2);
        assert.ok(apart.every(({ role }) => role === 'user'));
      }),
    );
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.oneof(wellFormed, anything), options, (contents, sample) => {
        const once = trimToBudget(contents, toTrimOptions(sample));
        assert.deepEqual(trimToBudget(once, toTrimOptions(sample)), once);
      }),
    );
  });

  it('moves the cut only forward when messages are added', () => {
    fc.assert(
      fc.property(wellFormed, options, (contents, sample) => {
        const from = contents.map((_, i) => {
          const said = contents.slice(0, i + 1);
          return (
            said.length - trimToBudget(said, toTrimOptions({ ...sample, keepFirst: false })).length
          );
        });
        // A message that stays before the cut changes the index by at most one.
        for (const [i, start] of from.entries()) assert.ok(start >= (from[i - 1] ?? 0) - 1);
      }),
    );
  });

  it('returns all messages when they fit', () => {
    fc.assert(
      fc.property(fc.oneof(wellFormed, anything), (contents) => {
        assert.deepEqual(trimToBudget(contents, { maxTokens: cost(contents) }), contents);
      }),
    );
  });
});

test('the oldest turns are removed first, each as a whole', () => {
  const turns = [1, 2, 3].flatMap((n) => [
    userMessage(`q${n}`),
    calls(`c${n}`),
    results(`c${n}`),
    agentMessage(`a${n}`),
  ]);
  assert.deepEqual(trimToBudget(turns, each(11)), turns.slice(4));
  assert.deepEqual(trimToBudget(turns, each(4)), turns.slice(8));
});

test('a turn that is too long keeps its message and loses its oldest rounds with their results', () => {
  const rounds = [1, 2, 3, 4].flatMap((n) => [calls(`c${n}`), results(`c${n}`)]);
  const contents = [userMessage('old'), agentMessage('old'), userMessage('go'), ...rounds];
  assert.deepEqual(trimToBudget(contents, each(5)), [userMessage('go'), ...rounds.slice(4)]);
  // One round stays whatever it costs, because the model must answer it.
  assert.deepEqual(trimToBudget(contents, each(1)), [userMessage('go'), ...rounds.slice(6)]);
});

test('keepFirst keeps the first message, without its answer', () => {
  const contents = [
    userMessage('The task.'),
    agentMessage('ok'),
    userMessage('b'),
    agentMessage('b'),
    userMessage('c'),
    agentMessage('c'),
  ];
  const shown = trimToBudget(contents, each(3, { keepFirst: true }));
  assert.deepEqual(shown, [userMessage('The task.'), userMessage('c'), agentMessage('c')]);
});

test('trimming does not change signatures', () => {
  const contents = [
    userMessage('a'),
    agentMessage('a'),
    userMessage('b'),
    calls('c'),
    results('c'),
    agentMessage('b'),
  ];
  const shown = trimToBudget(contents, each(4));
  assert.deepEqual(shown, contents.slice(2));
  assert.ok(
    shown.every((content) => contents.includes(content)),
    'the very same messages',
  );
});

test('the cut stays in place for many messages, so that prompt caching works', () => {
  const beginnings: string[] = [];
  const contents: Content[] = [];
  for (let n = 0; n < 200; n++) {
    contents.push(userMessage(`q${n}`), agentMessage(`a${n}`));
    const [first] = trimToBudget(contents, { maxTokens: 100, countTokens: () => 1 });
    beginnings.push(contentText(first));
  }
  // A quarter of the budget is removed at once: 12 or 13 turns of two messages.
  const cuts = new Set(beginnings).size - 1;
  assert.ok(cuts >= 200 / 13 - 50 / 13 - 1 && cuts <= 200 / 12, String(cuts));
});

test('the estimate for an image does not depend on its size, and the estimate for text does', () => {
  const image = (data: string): Content => ({
    role: 'user',
    parts: [{ inlineData: { mimeType: 'image/png', data } }],
  });
  assert.equal(estimateTokens(image('AAAA')), estimateTokens(image('AAAA'.repeat(1000))));
  assert.equal(estimateTokens(userMessage('x'.repeat(400))), 104);
});

test('a budget of zero, of NaN or below trimToTokens is rejected', () => {
  for (const wrong of [{ maxTokens: 0 }, { maxTokens: NaN }, { maxTokens: 9, trimToTokens: 10 }])
    assert.throws(() => trimToBudget([], wrong), InvalidInputError);
});

describe('BudgetTrimmer', () => {
  it('trims a growing conversation like trimToBudget trims the whole conversation', () => {
    const growing = fc.oneof(wellFormed, anything.map(withEachCallOnce));
    fc.assert(
      fc.property(growing, options, fc.array(fc.nat()), (contents, sample, steps) => {
        const trimmer = new BudgetTrimmer();
        const lengths = [...steps.map((step) => 1 + (step % contents.length)), contents.length];
        // Lengths can also decrease, because a rewind shortens the conversation.
        for (const length of lengths.slice(0, 8)) {
          const now = contents.slice(0, length);
          assert.deepEqual(
            trimmer.trim(now, toTrimOptions(sample)),
            trimToBudget(now, toTrimOptions(sample)),
          );
        }
      }),
    );
  });

  it('counts each message once, and does constant work per turn', () => {
    let counted = 0;
    const countTokens = (): number => {
      counted++;
      return 1;
    };
    const trimmer = new BudgetTrimmer();
    const contents: Content[] = [];
    for (let turn = 0; turn < 1000; turn++) {
      contents.push(
        userMessage(`${turn}`),
        calls(`${turn}`),
        results(`${turn}`),
        agentMessage(`${turn}`),
      );
      counted = 0;
      const shown = trimmer.trim(contents, { maxTokens: 40, countTokens });
      assert.equal(counted, 4);
      assert.ok(shown.length <= 40);
    }
  });

  it('reads only the last turn and the messages it returns', () => {
    let read = 0;
    const watched = (content: Content): Content =>
      new Proxy(content, {
        get: (target, key): unknown => {
          read++;
          return Reflect.get(target, key);
        },
      });
    const trimmer = new BudgetTrimmer();
    const contents: Content[] = [];
    const reads: number[] = [];
    for (let turn = 0; turn < 500; turn++) {
      contents.push(...[userMessage(`${turn}`), calls(`${turn}`), results(`${turn}`)].map(watched));
      read = 0;
      trimmer.trim(contents, { maxTokens: 40, countTokens: () => 1 });
      reads.push(read);
    }
    assert.ok(Math.max(...reads.slice(1)) <= 2 * (reads[1] ?? 0), `${Math.max(...reads)} reads`);
  });
});

function withEachCallOnce(contents: readonly Content[]): readonly Content[] {
  const seen = new Set<string>();
  const once = contents.filter((content) => {
    const ids = getFunctionCalls({ content }).map(({ id }) => id);
    if (ids.some((id) => seen.has(id))) return false;
    for (const id of ids) seen.add(id);
    return true;
  });
  return once.length === 0 ? [userMessage('Hi')] : once;
}
