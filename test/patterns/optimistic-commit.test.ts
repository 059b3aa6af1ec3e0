import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allOf } from 'petrichor/net';
import { Rehearsal } from '../../examples/cases/stage/rehearsal.ts';
import {
  answerOut,
  optimisticCommit,
  questionIn,
} from '../../examples/patterns/nets/optimistic-commit.ts';
import {
  atMostOneCommits,
  deadlockFree,
  eventuallyAnswered,
  mutualExclusion,
  placeBound,
} from '../../src/verify/index.ts';
import { withChanged, withoutInhibitor } from '../cases/mutant.ts';
import { assertProved, assertRefuted } from '../cases/proof.ts';

const never = async (): Promise<never> => new Promise(() => {});
const net = optimisticCommit({ cheap: never, slow: never, isValid: () => true });
const bounds = { environment: { 'question.in': 2 } };
const one = { environment: { 'question.in': 1 }, faults: 0 };
const ways = ['cheap.commit', 'slow.commit', 'answer.give-up'];
const oneCommit = atMostOneCommits(ways, { per: 'question.in' });
const answered = eventuallyAnswered('question.start', ways);

describe('pattern C, optimistic commit', () => {
  it('both paths ready in one moment: one answer, and the loser of a valid one is stopped', async () => {
    for (const isValid of [true, false]) {
      for (const order of [
        ['cheap', 'slow'],
        ['slow', 'cheap'],
      ] as const) {
        const ready = {
          cheap: Promise.withResolvers<string>(),
          slow: Promise.withResolvers<string>(),
        };
        const stage = new Rehearsal(
          optimisticCommit({
            cheap: async () => ready.cheap.promise,
            slow: async () => ready.slow.promise,
            isValid: () => isValid,
          }),
        );
        await stage.put(questionIn, 'q');
        for (const name of order) ready[name].resolve(name);
        await stage.rest();
        assert.equal(stage.heard(answerOut).length, 1);
        if (!isValid) assert.equal(stage.heard(answerOut)[0]?.by, 'slow');
        assert.deepEqual(stage.running, []);
      }
    }
  });

  it('a validation that throws answers nothing by itself: the slow path still does', async () => {
    const stage = new Rehearsal(
      optimisticCommit({
        cheap: async () => 'x',
        slow: async () => new Promise((resolve) => setImmediate(() => resolve('y'))),
        isValid: () => {
          throw new Error('broken');
        },
      }),
    );
    await stage.put(questionIn, 'q');
    assert.deepEqual(stage.heard(answerOut), [{ by: 'slow', text: 'y' }]);
  });

  it('is proved: at most one commit a question, every question is answered, valid or rejected', async () => {
    await assertProved(
      net,
      [
        oneCommit,
        placeBound('answer.committed', 1),
        mutualExclusion('cheap.valid', 'cheap.rejected'),
      ],
      bounds,
    );
    const rest = ['answer.committed', 'cheap.valid', 'cheap.rejected', 'slow.done', 'slow.failed'];
    await assertProved(net, [answered, deadlockFree(rest)], one);
  });

  it('is refuted without the mutex, and without the fallback', async () => {
    const noMutex = withoutInhibitor(net, 'cheap.commit', 'answer.committed');
    const trace = await assertRefuted(noMutex, oneCommit, bounds);
    assert.match(trace, /slow\.commit[^]*cheap\.commit/);
    const noFallback = withChanged(net, 'slow.run', () => ({ give: allOf({}) }));
    await assertRefuted(noFallback, answered, one);
  });
});
