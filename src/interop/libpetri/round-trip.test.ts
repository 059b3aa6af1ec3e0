import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MarkingState, StateClassGraph } from 'libpetri/verification';
import * as lp from 'libpetri';
import * as fc from 'fast-check';
import { z } from 'zod';
import { shippedAgent } from '../../../scripts/shipped-nets.ts';
import { netPlan, toNet } from '../../../test/nets/random-net.ts';
import { speculativeRace } from '../../../test/nets/speculative-race.ts';
import {
  allOf,
  compile,
  effect,
  initialToken,
  instance,
  many,
  matching,
  net,
  oneOf,
  outlet,
  place,
  pure,
  toDot,
  upTo,
} from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { placeBound, prove } from '../../verify/index.ts';
import {
  fromLibpetri,
  LibpetriExportError,
  LibpetriImportError,
  toLibpetri,
  toLibpetriDot,
} from './index.ts';

/** A keyed join, an effect and several tokens at once. */
function shop(): Net {
  const answer = z.object({ order: z.string() });
  const ordered = place('order.in', z.string(), { environment: true });
  const asked = place('question.asked', answer);
  const answered = place('question.answered', answer);
  const price = place('price.known', answer);
  const offered = outlet('offer.out', z.string());
  return net('shop', {
    in: { ordered },
    out: { offered },
    initial: [initialToken(answered, { order: 'A' }), initialToken(place('shop.open'), null, 2)],
    transitions: [
      pure('order.split', {
        take: { order: ordered, open: place('shop.open') },
        give: allOf({ asked: upTo(2, asked) }),
        run: ({ order }) => ({ asked: [{ order }, { order }] }),
      }),
      effect('question.answer', {
        take: { question: asked },
        give: oneOf({ answered, both: allOf({ answered, price }) }),
        failed: (_, { question }) => ({ answered: question }),
        concurrency: 3,
        run: async ({ question }) => ({ answered: question }),
      }),
      pure('offer.make', {
        take: {
          answers: matching(many(2, answered), ({ order }) => order),
          price: matching(price, ({ order }) => order),
        },
        give: allOf({ offered }),
        run: ({ price: { order } }) => ({ offered: order }),
      }),
    ],
  });
}

const race: Net = speculativeRace({
  slow: async () => 'slow',
  fast: async () => 'fast',
  cached: 'c',
});

const shipped: Readonly<Record<string, Net>> = {
  'the agent': shippedAgent().net,
  'the race': race,
  'an instance of the race': instance('left', race),
  'a shop with a keyed join': shop(),
};

/** Exports a net and imports it again, with only the options that libpetri's own executor needs. */
async function roundTrip(of: Net): Promise<Net> {
  const exported = await toLibpetri(of);
  return fromLibpetri(exported.net, exported);
}

function assertEqualNets(actual: Net, expected: Net): void {
  const [a, b] = [compile(actual), compile(expected)];
  assert.equal(a.hash, b.hash);
  assert.deepEqual(actual.transitions, expected.transitions);
  assert.deepEqual(actual.initial, expected.initial);
  assert.deepEqual([actual.in, actual.out], [expected.in, expected.out]);
  assert.deepEqual([...a.places.keys()].toSorted(), [...b.places.keys()].toSorted());
}

for (const [name, of] of Object.entries(shipped)) {
  test(`${name} is unchanged after a round trip through libpetri`, async () => {
    const back = await roundTrip(of);
    assertEqualNets(back, of);
    assert.equal(toDot(compile({ ...back, clusters: of.clusters })), toDot(compile(of)));
  });
}

test('any net is unchanged after a round trip through libpetri', async () => {
  await fc.assert(
    fc.asyncProperty(netPlan, async (plan) => {
      const of = toNet(plan);
      assert.equal(compile(await roundTrip(of)).hash, compile(of).hash);
    }),
    { numRuns: 300 },
  );
});

test('an effect is exported as it runs: started, in flight, ended', async () => {
  const { net: exported } = await toLibpetri(race);
  const byName = new Map([...exported.transitions].map((t) => [t.name, t]));
  const started = byName.get('race.run-slow');
  const ended = byName.get('ended(race.run-slow)');
  assert.deepEqual(
    [...(started?.outputPlaces() ?? [])].map(({ name }) => name),
    ['running(race.run-slow)'],
  );
  assert.deepEqual(
    [...(ended?.inputPlaces() ?? [])].map(({ name }) => name),
    ['running(race.run-slow)'],
  );
  assert.equal(ended?.outputSpec?.type, 'xor');
  const resets = byName.get('race.stop')?.resets.map(({ place: { name } }) => name);
  assert.ok(resets?.includes('running(race.run-slow)'));
  assert.deepEqual(byName.get('race.expire')?.timing, { type: 'delayed', afterMs: 2_000 });
});

test('features that libpetri does not have are listed by name, and rejected in exact mode', async () => {
  const { losses } = await toLibpetri(shop());
  assert.deepEqual(losses, [
    { where: 'order.split', what: 'gives upTo() to "question.asked": exported as one token' },
    { where: 'question.answer', what: 'has at most 3 firings in flight: exported without a limit' },
  ]);
  await assert.rejects(toLibpetri(shop(), { exact: true }), (error: unknown) => {
    assert.ok(error instanceof LibpetriExportError);
    assert.deepEqual(error.losses, losses);
    assert.match(error.message, /"order\.split" gives upTo\(\)/);
    return true;
  });
  assert.deepEqual((await toLibpetri(race, { exact: true })).losses, []);
});

test('a net that was changed in libpetri is not imported as the original', async () => {
  const exported = await toLibpetri(race);
  const rebuilt = (change: (t: lp.Transition) => lp.Transition | undefined): lp.PetriNet =>
    lp.PetriNet.builder('race')
      .transitions(...[...exported.net.transitions].flatMap((t) => change(t) ?? []))
      .build();
  const uninhibited = rebuilt((t) =>
    t.name !== 'race.commit-fast' || t.outputSpec === null
      ? t
      : lp.Transition.builder(t.name)
          .inputs(...t.inputSpecs)
          .outputs(t.outputSpec)
          .action(t.action)
          .build(),
  );
  const endless = rebuilt((t) => (t.name === 'ended(race.run-slow)' ? undefined : t));
  for (const [changed, name] of [
    [uninhibited, 'race.commit-fast'],
    [endless, 'race.run-slow'],
  ] as const) {
    await assert.rejects(fromLibpetri(changed, exported), (error: unknown) => {
      assert.ok(error instanceof LibpetriImportError);
      assert.deepEqual(
        error.refusals.map(({ transition, feature }) => [transition, feature]),
        [[name, 'changed']],
      );
      return true;
    });
  }
});

test('an exported transition throws an error when libpetri runs it', async () => {
  const { net: exported } = await toLibpetri(shop());
  const [first] = exported.transitions;
  const context = { transitionName: () => '' } as unknown as lp.TransitionContext;
  await assert.rejects(
    async () => first?.action(context),
    /"order\.split" was exported to be drawn/,
  );
});

test('libpetri draws an exported net', async () => {
  const dot = await toLibpetriDot(race);
  assert.match(dot, /^digraph /);
  for (const name of [
    'race.asked',
    'race.run-slow',
    'running(race.run-slow)',
    'ended(race.run-slow)',
    'race.sent',
  ])
    assert.ok(dot.includes(name), name);
});

/** The maximum number of tokens in `place` after one token in each environment place, by libpetri's timed analysis. */
async function maxTokensByStateClasses(of: Net, place: string): Promise<number> {
  const { net: exported, environment } = await toLibpetri(of, { exact: true });
  const initial = MarkingState.builder();
  for (const outside of environment) initial.tokens(outside.place, 1);
  const graph = StateClassGraph.build(exported, initial.build(), 20_000);
  assert.ok(graph.isComplete());
  const libpetriPlace = [...exported.places].find(({ name }) => name === place);
  assert.ok(libpetriPlace !== undefined);
  return Math.max(...graph.stateClasses().map((one) => one.marking.tokens(libpetriPlace)));
}

test('libpetri and our search agree on the race of timed commits', async () => {
  const withoutInhibitors: Net = {
    ...race,
    transitions: race.transitions.map((t) =>
      t.name.startsWith('race.commit') ? { ...t, unless: [] } : t,
    ),
  };
  const withoutStop = (of: Net): Net => ({
    ...of,
    transitions: of.transitions.filter(({ name }) => name !== 'race.stop'),
  });
  for (const [of, verdict] of [
    [withoutStop(race), 'proved'],
    [withoutStop(withoutInhibitors), 'refuted'],
    [race, 'proved'],
  ] as const) {
    const properties = [placeBound('race.sent', 1)];
    const report = await prove(compile(of), {
      properties,
      bounds: { faults: 0, shutdowns: false },
    });
    assert.equal(report.results[0]?.verdict, verdict);
    assert.equal((await maxTokensByStateClasses(of, 'race.sent')) > 1, verdict === 'refuted');
  }
});
