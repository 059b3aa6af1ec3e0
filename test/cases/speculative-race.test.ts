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
  it('when both branches are ready at the same moment, one commits, in 1,000 of 1,000 runs', async () => {
    for (let round = 0; round < 1_000; round++) {
      const [slow, fast] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
      const race = speculativeRace({
        slow: async () => slow.promise,
        fast: async () => fast.promise,
      });
      const simulation = new NetSimulation(
        round % 2 === 0 ? race : withCachedDefault(race, 'cached'),
      );
      await simulation.put(questionIn, 'q');
      // The deadline has passed in two of three rounds; in the third it passes at the same
      // moment.
      if (round % 3 !== 0) await simulation.pass(2_000);
      const order = [
        () => slow.resolve('s'),
        () => fast.resolve('f'),
        () => simulation.clock.advance(2_000),
      ];
      for (const index of [0, 1, 2]) order[(index + round) % 3]?.();
      await simulation.settle();
      assert.deepEqual(simulation.outputs(answerOut), [{ by: 'slow', text: 's' }]);
      assert.deepEqual([...simulation.marking.tokens.keys()], ['race.sent']);
    }
  });

  it('when an interrupt and a result arrive together, there is no answer and no token is left', async () => {
    for (const first of ['slow', 'fast'] as const) {
      const paths = {
        slow: Promise.withResolvers<string>(),
        fast: Promise.withResolvers<string>(),
      };
      const simulation = new NetSimulation(
        speculativeRace({
          slow: async () => paths.slow.promise,
          fast: async () => paths.fast.promise,
        }),
      );
      await simulation.put(questionIn, 'q');
      paths[first].resolve('late');
      await simulation.put(interruptIn, null);
      await simulation.pass(10_000);
      assert.deepEqual(simulation.outputs(answerOut), []);
      assert.deepEqual([...simulation.marking.tokens], []);
      assert.deepEqual(simulation.running, []);
    }
  });

  it('when an interrupt and the next question arrive together, the question is answered', async () => {
    const simulation = new NetSimulation(speculativeRace({ slow: async (q) => q, fast: never }));
    await simulation.put(questionIn, 'one');
    await simulation.putAll([
      [questionIn.name, 'two'],
      [interruptIn.name, null],
    ]);
    assert.deepEqual(
      simulation.outputs(answerOut).map(({ text }) => text),
      ['one', 'two'],
    );
  });

  it('a third tier adds one transition and changes no other', () => {
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
    const places = (net: typeof two): readonly string[] =>
      [...compile(net).places.keys()].toSorted();
    assert.deepEqual(
      places(three),
      places(two),
      'the third tier adds no place, so every reset covers it',
    );
  });

  it('the net does not build if its commits are effects, because both could start', () => {
    const toEffect = (name: string): ReturnType<typeof effect> => {
      const t = two.transitions.find((one) => one.name === name);
      assert.ok(t);
      return {
        ...effect(name, { take: t.take, give: t.give, failed: () => ({}), run: async () => ({}) }),
        unless: t.unless,
      };
    };
    const [slow, fast] = [toEffect('slow.commit'), toEffect('fast.commit')];
    const mutant = withChanged(
      withChanged(two, 'slow.commit', () => slow),
      'fast.commit',
      () => fast,
    );
    assert.throws(() => compile(mutant), NetBuildError);
  });
});
