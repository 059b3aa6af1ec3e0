import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compile, effect, NetBuildError } from 'petrichor/net';
import {
  answerOut,
  interruptIn,
  questionIn,
  speculativeRace,
  withCachedDefault,
} from '../../examples/cases/nets/speculative-race.ts';
import { NetSimulation } from '../../examples/cases/simulation/net-simulation.ts';
import { withChanged } from './net-mutations.ts';

const never = async (): Promise<never> => new Promise(() => {});
const two = speculativeRace({ slow: never, fast: never });
const three = withCachedDefault(two, 'cached');

describe('case 3, speculative race', () => {
  it('two branches that are ready in one moment commit once: 1,000 of 1,000', async () => {
    for (let round = 0; round < 1_000; round++) {
      const [slow, fast] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
      const race = speculativeRace({
        slow: async () => slow.promise,
        fast: async () => fast.promise,
      });
      const stage = new NetSimulation(round % 2 === 0 ? race : withCachedDefault(race, 'cached'));
      await stage.put(questionIn, 'q');
      // The deadline is over in two of three rounds, and passes in the same moment in the third.
      if (round % 3 !== 0) await stage.pass(2_000);
      const order = [
        () => slow.resolve('s'),
        () => fast.resolve('f'),
        () => stage.clock.advance(2_000),
      ];
      for (const index of [0, 1, 2]) order[(index + round) % 3]?.();
      await stage.settle();
      assert.deepEqual(stage.outputs(answerOut), [{ by: 'slow', text: 's' }]);
      assert.deepEqual([...stage.marking.tokens.keys()], ['race.sent']);
    }
  });

  it('a barge-in and a result in one moment: nothing is said, and nothing is left', async () => {
    for (const first of ['slow', 'fast'] as const) {
      const paths = {
        slow: Promise.withResolvers<string>(),
        fast: Promise.withResolvers<string>(),
      };
      const stage = new NetSimulation(
        speculativeRace({
          slow: async () => paths.slow.promise,
          fast: async () => paths.fast.promise,
        }),
      );
      await stage.put(questionIn, 'q');
      paths[first].resolve('late');
      await stage.put(interruptIn, null);
      await stage.pass(10_000);
      assert.deepEqual(stage.outputs(answerOut), []);
      assert.deepEqual([...stage.marking.tokens], []);
      assert.deepEqual(stage.running, []);
    }
  });

  it('an interrupt and the next question in one moment: the question stands', async () => {
    const stage = new NetSimulation(speculativeRace({ slow: async (q) => q, fast: never }));
    await stage.put(questionIn, 'one');
    await stage.putAll([
      [questionIn.name, 'two'],
      [interruptIn.name, null],
    ]);
    assert.deepEqual(
      stage.outputs(answerOut).map(({ text }) => text),
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
