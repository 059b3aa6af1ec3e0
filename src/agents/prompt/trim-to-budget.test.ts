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

const user = (text: string): Content => ({ role: 'user', parts: [{ text }] });
const says = (text: string): Content => ({
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

/** Every message costs one. */
const each = (maxTokens: number, more: Partial<TrimOptions> = {}): TrimOptions => ({
  maxTokens,
  trimToTokens: maxTokens,
  countTokens: () => 1,
  ...more,
});

/** Turns as an agent makes them, calls in any number of rounds, the last turn perhaps under way. */
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
      user(said),
      ...rounds.flatMap((count, round) => {
        const ids = Array.from({ length: count }, (_, call) => `${turn}_${round}_${call}`);
        return [calls(...ids), results(...ids)];
      }),
      ...(ended ? [says(said)] : []),
    ]),
  );

/** Whatever somebody may put together: results apart, in between, twice, before their calls or never. */
const anything = fc.array(
  fc.oneof(
    fc.string({ maxLength: 40 }).map(user),
    fc.string({ maxLength: 40 }).map(says),
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

/** Of the calls and results among these messages, those without the other, by id. */
function dangling(contents: readonly Content[]): readonly string[] {
  const called = contents.flatMap((content) => getFunctionCalls({ content }).map(({ id }) => id));
  const answered = contents.flatMap((content) =>
    getFunctionResponses({ content }).map(({ id }) => id),
  );
  return [
    ...called.filter((id) => !answered.includes(id)),
    ...answered.filter((id) => !called.includes(id)),
  ];
}

/** What cannot be less: the last round, the message of its turn, and the first of all. */
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

describe('a conversation trimmed to a budget', () => {
  it('is never above it, unless its last round with its message alone is', () => {
    fc.assert(
      fc.property(wellFormed, options, (contents, given) => {
        const left = cost(trimToBudget(contents, toTrimOptions(given)));
        assert.ok(
          left <= given.maxTokens || left <= smallestPossible(contents, given.keepFirst),
          `${left}`,
        );
      }),
    );
  });

  it('never has a call without its result, or a result without its call', () => {
    fc.assert(
      fc.property(wellFormed, options, (contents, given) => {
        assert.deepEqual(dangling(trimToBudget(contents, toTrimOptions(given))), []);
      }),
    );
  });

  it('divides no pair that was whole, whatever it is given', () => {
    fc.assert(
      fc.property(anything, options, (contents, given) => {
        // Of each id only the first call and only its results count here: one id for many calls is nobody's pair.
        const seen = new Set<string>();
        const once = contents.filter((content) => {
          const ids = getFunctionCalls({ content }).map(({ id }) => id);
          if (ids.some((id) => seen.has(id))) return false;
          for (const id of ids) seen.add(id);
          return true;
        });
        const shown = trimToBudget(once, toTrimOptions(given));
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

  it('shows messages of those it was given, in their order, to the last', () => {
    fc.assert(
      fc.property(fc.oneof(wellFormed, anything), options, (contents, given) => {
        const shown = trimToBudget(contents, toTrimOptions(given));
        const places = shown.map((content) => contents.indexOf(content));
        assert.deepEqual(
          places,
          [...new Set(places)].toSorted((a, b) => a - b),
        );
        assert.equal(places.at(-1), contents.length - 1);
      }),
    );
  });

  it('leaves nothing out of the latest part, and of the rest shows at most two messages of the user', () => {
    fc.assert(
      fc.property(wellFormed, options, (contents, given) => {
        const shown = trimToBudget(contents, toTrimOptions(given));
        const apart = shown.filter(
          (content, i) => content !== contents[contents.length - shown.length + i],
        );
        assert.ok(apart.length <= 2);
        assert.ok(apart.every(({ role }) => role === 'user'));
      }),
    );
  });

  it('is the same when it is trimmed again', () => {
    fc.assert(
      fc.property(fc.oneof(wellFormed, anything), options, (contents, given) => {
        const once = trimToBudget(contents, toTrimOptions(given));
        assert.deepEqual(trimToBudget(once, toTrimOptions(given)), once);
      }),
    );
  });

  it('begins where it began, or later, when more is said', () => {
    fc.assert(
      fc.property(wellFormed, options, (contents, given) => {
        const from = contents.map((_, i) => {
          const said = contents.slice(0, i + 1);
          return (
            said.length - trimToBudget(said, toTrimOptions({ ...given, keepFirst: false })).length
          );
        });
        // A message that stays before the cut makes one of difference, at most.
        for (const [i, start] of from.entries()) assert.ok(start >= (from[i - 1] ?? 0) - 1);
      }),
    );
  });

  it('is whole when it fits', () => {
    fc.assert(
      fc.property(fc.oneof(wellFormed, anything), (contents) => {
        assert.deepEqual(trimToBudget(contents, { maxTokens: cost(contents) }), contents);
      }),
    );
  });
});

test('the oldest turns go first, each as a whole', () => {
  const turns = [1, 2, 3].flatMap((n) => [
    user(`q${n}`),
    calls(`c${n}`),
    results(`c${n}`),
    says(`a${n}`),
  ]);
  assert.deepEqual(trimToBudget(turns, each(11)), turns.slice(4));
  assert.deepEqual(trimToBudget(turns, each(4)), turns.slice(8));
});

test('of a turn that is too long its message stays, and its oldest rounds go with their results', () => {
  const rounds = [1, 2, 3, 4].flatMap((n) => [calls(`c${n}`), results(`c${n}`)]);
  const contents = [user('old'), says('old'), user('go'), ...rounds];
  assert.deepEqual(trimToBudget(contents, each(5)), [user('go'), ...rounds.slice(4)]);
  // One round stays whatever it costs: it is what the model is asked about.
  assert.deepEqual(trimToBudget(contents, each(1)), [user('go'), ...rounds.slice(6)]);
});

test('the first message stays if it is to, without what was answered', () => {
  const contents = [user('The task.'), says('ok'), user('b'), says('b'), user('c'), says('c')];
  const shown = trimToBudget(contents, each(3, { keepFirst: true }));
  assert.deepEqual(shown, [user('The task.'), user('c'), says('c')]);
});

test('signatures stay as they are', () => {
  const contents = [user('a'), says('a'), user('b'), calls('c'), results('c'), says('b')];
  const shown = trimToBudget(contents, each(4));
  assert.deepEqual(shown, contents.slice(2));
  assert.ok(
    shown.every((content) => contents.includes(content)),
    'the very same messages',
  );
});

test('the cut stays where it is for many messages, so that a cache of the prompt is of use', () => {
  const beginnings: string[] = [];
  const contents: Content[] = [];
  for (let n = 0; n < 200; n++) {
    contents.push(user(`q${n}`), says(`a${n}`));
    const [first] = trimToBudget(contents, { maxTokens: 100, countTokens: () => 1 });
    beginnings.push(contentText(first));
  }
  // A quarter of the budget goes at once: 12 or 13 turns of two messages.
  const cuts = new Set(beginnings).size - 1;
  assert.ok(cuts >= 200 / 13 - 50 / 13 - 1 && cuts <= 200 / 12, String(cuts));
});

test('an image costs the same whatever its size, and a long text more than a short one', () => {
  const image = (data: string): Content => ({
    role: 'user',
    parts: [{ inlineData: { mimeType: 'image/png', data } }],
  });
  assert.equal(estimateTokens(image('AAAA')), estimateTokens(image('AAAA'.repeat(1000))));
  assert.equal(estimateTokens(user('x'.repeat(400))), 104);
});

test('a budget of nothing is refused', () => {
  for (const wrong of [{ maxTokens: 0 }, { maxTokens: NaN }, { maxTokens: 9, trimToTokens: 10 }])
    assert.throws(() => trimToBudget([], wrong), InvalidInputError);
});

describe('a conversation that grows', () => {
  it('is cut as if it had been seen at once, whatever was shown of it before', () => {
    const growing = fc.oneof(wellFormed, anything.map(withEachCallOnce));
    fc.assert(
      fc.property(growing, options, fc.array(fc.nat()), (contents, given, steps) => {
        const trimmer = new BudgetTrimmer();
        const lengths = [...steps.map((step) => 1 + (step % contents.length)), contents.length];
        // Also back: a rewind makes it shorter.
        for (const length of lengths.slice(0, 8)) {
          const now = contents.slice(0, length);
          assert.deepEqual(
            trimmer.trim(now, toTrimOptions(given)),
            trimToBudget(now, toTrimOptions(given)),
          );
        }
      }),
    );
  });

  it('costs each message once, and each turn no more than the last', () => {
    let counted = 0;
    const countTokens = (): number => {
      counted++;
      return 1;
    };
    const trimmer = new BudgetTrimmer();
    const contents: Content[] = [];
    for (let turn = 0; turn < 1000; turn++) {
      contents.push(user(`${turn}`), calls(`${turn}`), results(`${turn}`), says(`${turn}`));
      counted = 0;
      const shown = trimmer.trim(contents, { maxTokens: 40, countTokens });
      assert.equal(counted, 4);
      assert.ok(shown.length <= 40);
    }
  });

  it('reads no more of it at each turn than the last turn and what is shown', () => {
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
      contents.push(...[user(`${turn}`), calls(`${turn}`), results(`${turn}`)].map(watched));
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
  return once.length === 0 ? [user('Hi')] : once;
}
