import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Rehearsal } from '../../examples/cases/stage/rehearsal.ts';
import { answerOut, firstWins, questionIn } from '../../examples/patterns/nets/speculative-race.ts';
import {
  atMostOnce,
  deadlockFree,
  eventOutBounded,
  eventuallyAnswered,
  mutualExclusion,
} from '../../src/verify/index.ts';
import { withoutInhibitor, withoutReset } from '../cases/mutant.ts';
import { assertProved, assertRefuted } from '../cases/proof.ts';

const never = async (): Promise<never> => new Promise(() => {});
const net = firstWins({ a: never, b: never, c: never });
const bounds = { environment: { 'question.in': 2 } };
const oneEvent = eventOutBounded(answerOut.name, 1, { per: 'question.in' });
const oneCommit = atMostOnce('race.commit', { per: 'question.in' });
const losersStop = mutualExclusion('race.won', 'running(branch.work)');

describe('pattern A, speculative race', () => {
  it('all branches ready in one moment: one answer, the first of them', async () => {
    for (let round = 0; round < 60; round++) {
      const names = ['a', 'b', 'c'];
      const ready = names.map(() => Promise.withResolvers<string>());
      const stage = new Rehearsal(
        firstWins(
          Object.fromEntries(
            names.map((name, index) => [name, async () => ready[index]?.promise ?? '']),
          ),
        ),
      );
      await stage.put(questionIn, 'q');
      for (const index of [0, 1, 2]) ready[(index + round) % 3]?.resolve('x');
      await stage.rest();
      assert.deepEqual(stage.heard(answerOut), [{ by: names[round % 3], text: 'x' }]);
      assert.deepEqual(stage.running, []);
    }
  });

  it('is proved: at most one event out per turn, losers stop, every question is answered', async () => {
    await assertProved(net, [oneEvent, oneCommit, losersStop], bounds);
    await assertProved(
      net,
      [
        eventuallyAnswered('race.start', ['race.commit', 'race.lose']),
        deadlockFree(['race.won', 'branch.answered', 'branch.failed']),
      ],
      { environment: { 'question.in': 1 }, faults: 0 },
    );
  });

  it('is refuted without the inhibitor, and without the reset of who still works', async () => {
    await assertRefuted(withoutInhibitor(net, 'race.commit', 'race.won'), oneCommit, bounds);
    await assertRefuted(
      withoutReset(net, 'race.commit', 'running(branch.work)'),
      losersStop,
      bounds,
    );
  });
});
