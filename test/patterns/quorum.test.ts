import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SimulatedClock } from 'petrichor/testing';
import { later, Rehearsal } from '../../examples/cases/stage/rehearsal.ts';
import { decisionOut, discarded, questionIn, quorum } from '../../examples/patterns/nets/quorum.ts';
import {
  deadlockFree,
  eventOutBounded,
  eventuallyAnswered,
  placeBound,
} from '../../src/verify/index.ts';
import { Random } from '../verify/random.ts';
import { withChanged, withoutInhibitor, withoutReset } from '../cases/mutant.ts';
import { assertProved, assertRefuted } from '../cases/proof.ts';

const never = async (): Promise<never> => new Promise(() => {});
const net = quorum(2, { a: never, b: never, c: never, d: never });
const bounds = { environment: { 'question.in': 2 } };
const one = { environment: { 'question.in': 1 }, faults: 0 };
const oneDecision = eventOutBounded(decisionOut.name, 1, { per: 'question.in' });
const decided = eventuallyAnswered('quorum.start', ['quorum.decide', 'quorum.fail']);
const places = ['vote.asked', 'running(vote.ask)', 'vote.cast', 'vote.failed', 'vote.discarded'];
/** No vote of one question is among those of the next. */
const ownVotes = placeBound(places, 4);

describe('pattern B, quorum', () => {
  it('is decided with the K-th fastest, for every K of N and any speeds', async () => {
    const random = new Random(3);
    for (let n = 1; n <= 6; n++) {
      for (let k = 1; k <= n; k++) {
        const speeds = random.some([100, 200, 300, 400, 500, 600, 700, 800], n);
        const clock = new SimulatedClock();
        const voters = Object.fromEntries(
          speeds.map((ms) => [`v${ms}`, async () => later(clock, ms, 'yes')]),
        );
        const stage = new Rehearsal(quorum(k, voters), clock);
        await stage.put(questionIn, 'q');
        const kth = speeds.toSorted((a, b) => a - b)[k - 1] ?? 0;
        await stage.pass(kth - 1);
        assert.equal(stage.heard(decisionOut).length, 0);
        await stage.pass(1);
        assert.equal(stage.heard(decisionOut)[0]?.length, k);
        await stage.pass(1_000);
        assert.equal(stage.heard(decisionOut).length, 1);
        assert.equal(stage.tokens(discarded).length, n - k);
      }
    }
  });

  it('is decided without a vote as soon as too many failed', async () => {
    const no = async (): Promise<string> => Promise.reject(new Error('down'));
    const stage = new Rehearsal(quorum(2, { a: no, b: never, c: no }));
    await stage.put(questionIn, 'q');
    assert.deepEqual(stage.heard(decisionOut), [[]]);
  });

  it('is proved: one decision, every question is decided, no vote counts for another question', async () => {
    await assertProved(net, [oneDecision, ownVotes, placeBound('quorum.open', 1)], bounds);
    const resting = deadlockFree(['vote.failed', 'vote.discarded']);
    await assertProved(net, [decided, resting], one);
  });

  it('is refuted when late votes are taken early, or the old question is forgotten in flight', async () => {
    await assertRefuted(withoutInhibitor(net, 'vote.discard', 'quorum.open'), decided, one);
    await assertRefuted(withoutReset(net, 'quorum.start', 'running(vote.ask)'), ownVotes, bounds);
  });

  it('is refuted when a decision does not close the vote', async () => {
    const mutant = withChanged(net, 'quorum.decide', ({ take, read }) => {
      const { open, ...rest } = take;
      assert.ok(open);
      return { take: rest, read: { ...read, open } };
    });
    await assertRefuted(mutant, oneDecision, bounds);
  });
});
