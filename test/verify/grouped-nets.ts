/** Random nets in which transitions test and empty whole classes of places, and what views with groups say of them. */
import { compile } from '../../src/net/build/compile.ts';
import type { CompiledNet } from '../../src/net/build/compile.ts';
import { all, allOf, many, oneOf, optional } from '../../src/net/language/arcs.ts';
import { NetBuildError } from '../../src/net/language/net-errors.ts';
import { initialToken, net } from '../../src/net/language/net.ts';
import { place } from '../../src/net/language/place.ts';
import type { AnyPlace, TokenPlace } from '../../src/net/language/place.ts';
import { effect, pure, running } from '../../src/net/language/transition.ts';
import type { Transition } from '../../src/net/language/transition.ts';
import { ContractCheck } from '../../src/verify/contracts/contract-check.ts';
import type { Bounds } from '../../src/verify/properties/bounds.ts';
import {
  deadlockFree,
  mutualExclusion,
  neverFiresAfter,
  neverTakes,
  unreachable,
} from '../../src/verify/properties/create-property.ts';
import type { SearchedProperty } from '../../src/verify/properties/property.ts';
import { expand } from '../../src/verify/system/expand.ts';
import { countProperty } from './contract-tally.ts';
import type { ContractTally } from './contract-tally.ts';
import type { NaiveBounds } from './naive-search.ts';
import { Random } from './random.ts';
import { randomTree } from './random-contracts.ts';
import type { ContractCases } from './random-contracts.ts';

type Signal = TokenPlace<null>;

const nothing = (): never => {
  throw new Error('never run');
};

interface GroupedNet {
  readonly net: CompiledNet;
  readonly bounds: Bounds & NaiveBounds;
  readonly properties: readonly SearchedProperty[];
}

/** Compares this number of nets of which some view counts several places together, from the first seed on. */
export function compareGroupedNets(
  nets: number,
  mostNaiveStates: number,
  { firstSeed, lastSeed = Number.POSITIVE_INFINITY }: ContractCases,
): ContractTally {
  const tally: ContractTally = { nets: 0, proved: 0, refuted: 0, open: 0, unsound: [] };
  for (let seed = firstSeed; tally.nets < nets && seed <= lastSeed; seed++) {
    const generated = groupedNet(seed);
    if (generated === undefined) continue;
    const { net: compiled, bounds, properties } = generated;
    const searched = { seed, net: compiled, bounds };
    const random = new Random(seed + 2_000_003);
    const tree = random.chance(0.7)
      ? { shared: [], ports: [], children: [] }
      : randomTree(random, compiled);
    const limits = { states: 5_000, endsAt: Number.POSITIVE_INFINITY };
    const check = new ContractCheck(expand(compiled, bounds), tree, limits, 0);
    if ([...check.prove()].some(({ verdict }) => verdict !== 'proved') || !check.hasGroups)
      continue;
    tally.nets++;
    for (const property of properties) {
      const { holds } = check.decide(property);
      countProperty(tally, searched, property, { holds, mostNaiveStates });
    }
  }
  return tally;
}

/** The net of a seed. Undefined if it does not build. */
export function groupedNet(seed: number): GroupedNet | undefined {
  const random = new Random(seed);
  const signal = (name: string, environment = false): Signal => place(name, { environment });
  const input = signal('in', true);
  const run = signal('run');
  const stop = signal('stop');
  const classes = Array.from({ length: 1 + random.below(2) }, (_, index) =>
    Array.from({ length: 2 + random.below(3) }, (__, at) => signal(`p${index}${at}`)),
  );
  const joins = Array.from({ length: 2 }, (_, at) => signal(`j${at}`));
  const singles = [run, stop, ...joins];
  const grouped = classes.flat();
  const places = [...grouped, ...singles];
  const arcs = (some: readonly AnyPlace[]): Readonly<Record<string, AnyPlace>> =>
    Object.fromEntries(some.map((one) => [one.name, one]));
  const outputs = (): unknown => {
    const some = (): unknown => {
      const given = random.some(places, random.below(3));
      return allOf(
        Object.fromEntries(
          given.map((one) => [one.name, random.chance(0.15) ? optional(one) : one]),
        ) as never,
      );
    };
    return random.chance(0.3) ? oneOf({ a: some(), b: some() } as never) : some();
  };
  const transitions: Transition[] = [];
  const add = (kind: 'pure' | 'effect', arcsOf: object): void => {
    const name = `t${transitions.length}`;
    const spec: unknown =
      kind === 'pure'
        ? pure(name, { ...arcsOf, run: nothing } as never)
        : effect(name, { ...arcsOf, failed: nothing, run: nothing } as never);
    transitions.push(spec as Transition);
  };
  add('pure', { take: { input }, give: allOf(arcs([run, ...random.some(grouped, 1)]) as never) });
  for (let count = 3 + random.below(4); count > 0; count--) {
    const taken = random.some(places, 1 + random.below(2));
    const take = Object.fromEntries(
      taken.map((one) => [one.name, random.chance(0.1) ? many(2, one) : one]),
    );
    const unless = random.chance(0.3) ? [stop] : [];
    const kind = random.chance(0.3) ? 'effect' : 'pure';
    add(kind, {
      take: { ...take, ...(random.chance(0.4) && { run }) },
      unless,
      priority: random.pick([0, 0, 0, 1, -1]),
      give: outputs(),
    });
  }
  add('pure', {
    take: { j0: joins[0], j1: joins[1] },
    unless: [stop],
    give: outputs(),
    priority: random.pick([0, 1]),
  });
  const effects = transitions.filter(({ kind }) => kind === 'effect');
  const flights = effects.map((t) => running(t as never) as AnyPlace);
  const testers = 1 + random.below(2);
  for (let index = 0; index < testers; index++) {
    // A transition that tests or empties all places of a class.
    const tested = random.pick(classes);
    const emptied = random.pick(classes);
    const mode = random.below(4);
    const unless = [
      ...(mode !== 1 ? tested : []),
      ...(random.chance(0.5) ? flights : []),
      ...(random.chance(0.4) ? [stop] : []),
    ];
    const isWhole = random.chance(0.8);
    const isLeft = (): boolean => isWhole || random.chance(0.7);
    const takesAll = mode === 2 ? emptied.filter(isLeft) : [];
    add('pure', {
      take: {
        ...(random.chance(0.7) ? { run } : { stop }),
        ...Object.fromEntries(
          [...takesAll, ...(random.chance(0.5) ? joins : [])]
            .filter((one) => !unless.includes(one))
            .map((one) => [one.name, all(one, { min: 0 })]),
        ),
      },
      unless,
      reset:
        mode === 3 || mode === 1 ? emptied.filter((one) => isLeft() && !unless.includes(one)) : [],
      priority: random.pick([-1, -1, 0, 2]),
      give: outputs(),
    });
  }
  const initial = random.some(places, random.below(3)).map((one) => initialToken(one, null));
  try {
    const compiled = compile(
      net(`grouped-${seed}`, { in: { input }, initial, transitions } as never),
    );
    const names = [
      ...places.map(({ name }) => name),
      ...effects.map(({ name }) => `running(${name})`),
    ];
    const known = names.filter((name) => compiled.places.has(name) || name.startsWith('running('));
    const fired = compiled.transitions.map(({ name }) => name);
    const last = fired.slice(-testers);
    return {
      net: compiled,
      bounds: {
        environment: { in: 1 + random.below(2) },
        upTo: 2,
        attempts: 1,
        faults: random.below(2),
        shutdowns: random.chance(0.2),
      },
      properties: [
        deadlockFree(random.some(known, random.below(known.length))),
        deadlockFree([
          { marked: random.some(known, 1), allowed: random.some(known, 4) },
          { marked: [], allowed: random.some(known, 5) },
        ]),
        deadlockFree(known.filter((name) => !name.startsWith('p') || random.chance(0.5))),
        neverTakes(last, { from: joins.map(({ name }) => name) }),
        neverTakes(random.some(fired, 1), { from: random.some(known, 1) }),
        unreachable(Object.fromEntries(random.some(known, 2).map((name) => [name, 1]))),
        mutualExclusion(...random.some(known, 2)),
        unreachable({ [random.pick(known)]: 1 }, random.some(known, 1)),
        neverFiresAfter(random.some(fired, 1), random.pick(fired), { until: random.pick(fired) }),
        neverFiresAfter(random.some(fired, 1), random.pick([...fired, ...known])),
      ],
    };
  } catch (error) {
    if (error instanceof NetBuildError) return undefined;
    throw error;
  }
}
