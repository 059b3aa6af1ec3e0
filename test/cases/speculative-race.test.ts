import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allOf, compile, effect, NetBuildError } from 'petrichor/net';
import {
  answerOut,
  interruptIn,
  questionIn,
  response,
  sent,
  speculativeRace,
  withCachedDefault,
} from '../../examples/cases/nets/speculative-race.ts';
import { Rehearsal } from '../../examples/cases/stage/rehearsal.ts';
import {
  atMostOneCommits,
  deadlockFree,
  eventOutBounded,
  eventuallyAnswered,
  neverFiresAfter,
  placeBound,
} from '../../src/verify/index.ts';
import { withChanged, withoutInhibitor, withoutReset } from './mutant.ts';
import { assertProved, assertRefuted } from './proof.ts';

const never = async (): Promise<never> => new Promise(() => {});
const two = speculativeRace({ slow: never, fast: never });
const three = withCachedDefault(two, 'cached');
const bounds = { environment: { 'question.in': 2, 'interrupt.in': 1 } };
const per = { per: 'question.in' };
const oneOfTwo = atMostOneCommits(['slow.commit', 'fast.commit'], per);
const commits = ['slow.commit', 'fast.commit', 'cached.commit'];
const noneAfterInterrupt = (of: readonly string[]) =>
  neverFiresAfter(of, 'interrupt.in', { until: 'race.begin' });

describe('case 3, speculative race', () => {
  it('two branches that are ready in one moment commit once: 1,000 of 1,000', async () => {
    for (let round = 0; round < 1_000; round++) {
      const [slow, fast] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
      const race = speculativeRace({
        slow: async () => slow.promise,
        fast: async () => fast.promise,
      });
      const stage = new Rehearsal(round % 2 === 0 ? race : withCachedDefault(race, 'cached'));
      await stage.put(questionIn, 'q');
      // The deadline is over in two of three rounds, and passes in the same moment in the third.
      if (round % 3 !== 0) await stage.pass(2_000);
      const order = [
        () => slow.resolve('s'),
        () => fast.resolve('f'),
        () => stage.clock.advance(2_000),
      ];
      for (const index of [0, 1, 2]) order[(index + round) % 3]?.();
      await stage.rest();
      assert.deepEqual(stage.heard(answerOut), [{ by: 'slow', text: 's' }]);
      assert.deepEqual([...stage.marking.tokens.keys()], ['race.sent']);
    }
  });

  it('a barge-in and a result in one moment: nothing is said, and nothing is left', async () => {
    for (const first of ['slow', 'fast'] as const) {
      const paths = {
        slow: Promise.withResolvers<string>(),
        fast: Promise.withResolvers<string>(),
      };
      const stage = new Rehearsal(
        speculativeRace({
          slow: async () => paths.slow.promise,
          fast: async () => paths.fast.promise,
        }),
      );
      await stage.put(questionIn, 'q');
      paths[first].resolve('late');
      await stage.put(interruptIn, null);
      await stage.pass(10_000);
      assert.deepEqual(stage.heard(answerOut), []);
      assert.deepEqual([...stage.marking.tokens], []);
      assert.deepEqual(stage.running, []);
    }
  });

  it('an interrupt and the next question in one moment: the question stands', async () => {
    const stage = new Rehearsal(speculativeRace({ slow: async (q) => q, fast: never }));
    await stage.put(questionIn, 'one');
    await stage.putAll([
      [questionIn.name, 'two'],
      [interruptIn.name, null],
    ]);
    assert.deepEqual(
      stage.heard(answerOut).map(({ text }) => text),
      ['one', 'two'],
    );
  });

  it('the third tier is one transition more, and changes none', () => {
    const added = three.transitions.filter(
      (t) => !two.transitions.some(({ name }) => name === t.name),
    );
    assert.deepEqual(
      added.map(({ name }) => name),
      ['cached.commit'],
    );
    for (const t of two.transitions) {
      const same = three.transitions.find(({ name }) => name === t.name);
      assert.ok(same);
      const arcs = ({ take, read, unless, reset, give, after }: typeof t): unknown => ({
        take,
        read,
        unless,
        reset,
        give,
        after,
      });
      assert.deepEqual(arcs(same), arcs(t));
    }
    const places = (of: typeof two): readonly string[] => [...compile(of).places.keys()].toSorted();
    assert.deepEqual(
      places(three),
      places(two),
      'no place more: whatever empties the race empties it',
    );
  });

  it('is proved with two tiers: at most one commits, and none after an interrupt', async () => {
    await assertProved(
      two,
      [
        oneOfTwo,
        placeBound(response.name, 1),
        placeBound(sent.name, 1),
        eventOutBounded(answerOut.name, 1, per),
      ],
      bounds,
    );
    await assertProved(
      two,
      [
        noneAfterInterrupt(['slow.commit', 'fast.commit']),
        // When both paths fail, a race of two stays silent.
        deadlockFree(['race.sent', 'timer.expired']),
      ],
      { ...bounds, faults: 0 },
    );
  });

  it('is proved with three tiers: the same, and every question is answered or interrupted', async () => {
    await assertProved(
      three,
      [
        atMostOneCommits(commits, per),
        placeBound(response.name, 1),
        placeBound(sent.name, 1),
        eventOutBounded(answerOut.name, 1, per),
      ],
      bounds,
    );
    await assertProved(three, [noneAfterInterrupt(commits)], { ...bounds, faults: 0 });
    const answered = eventuallyAnswered('race.begin', ['response.deliver', 'race.interrupt']);
    const one = { environment: { 'question.in': 1, 'interrupt.in': 1 }, faults: 0 };
    await assertProved(three, [answered, deadlockFree(['race.sent'])], one);
    const silent = eventuallyAnswered('race.begin', ['response.deliver', 'race.interrupt']);
    await assertRefuted(two, silent, one);
  });

  it('is refuted without the inhibitor of one commit', async () => {
    const hasty = withoutInhibitor(two, 'fast.commit', 'race.sent');
    assert.match(await assertRefuted(hasty, oneOfTwo, bounds), /slow\.commit[^]*fast\.commit/);
    // This one is needed only where the delivery itself fails: nothing stops the slow path then.
    const late = withoutInhibitor(two, 'slow.commit', 'race.sent');
    assert.match(await assertRefuted(late, oneOfTwo, bounds), /faulted response\.deliver/);
  });

  it('is refuted when a commit does not leave the lock', async () => {
    const mutant = withChanged(two, 'slow.commit', () => ({ give: allOf({ response }) }));
    await assertRefuted(mutant, oneOfTwo, bounds);
  });

  it('is refuted when the barge-in forgets a path in flight', async () => {
    const mutant = withoutReset(two, 'race.interrupt', 'running(slow.compute)');
    const trace = await assertRefuted(mutant, noneAfterInterrupt(['slow.commit']), bounds);
    assert.match(trace, /race\.interrupt[^]*slow\.commit/);
  });

  it('does not build when its commits are effects: they would both start before either ends', () => {
    const slowly = (name: string): ReturnType<typeof effect> => {
      const t = two.transitions.find((one) => one.name === name);
      assert.ok(t);
      return {
        ...effect(name, { take: t.take, give: t.give, failed: () => ({}), run: async () => ({}) }),
        unless: t.unless,
      };
    };
    const [slow, fast] = [slowly('slow.commit'), slowly('fast.commit')];
    const mutant = withChanged(
      withChanged(two, 'slow.commit', () => slow),
      'fast.commit',
      () => fast,
    );
    assert.throws(() => compile(mutant), NetBuildError);
  });
});
