/** Cuts random nets into components with random contracts, and compares what follows from them with a naive search. */
import type { CompiledNet } from '../../src/net/build/compile.ts';
import { ContractCheck } from '../../src/verify/contracts/contract-check.ts';
import type {
  NetComponent,
  ComponentTree,
  Contract,
  ContractEvent,
  StepPattern,
} from '../../src/verify/contracts/contract.ts';
import type { SearchedProperty } from '../../src/verify/properties/property.ts';
import {
  atMost,
  costAtMost,
  deadlockFree,
  mutualExclusion,
  neverFiresAfter,
  placeBound,
  precedes,
  unreachable,
} from '../../src/verify/properties/create-property.ts';
import { expand } from '../../src/verify/system/expand.ts';
import { naiveVerdict } from './naive-search.ts';
import { Random } from './random.ts';
import { randomNet } from './random-net.ts';
import type { Size } from './random-net.ts';
import { widenNames } from './widen-names.ts';

export interface ContractTally {
  /** Nets whose contracts were all proved. */
  kept: number;
  /** Nets with a contract that was not proved. */
  broken: number;
  /** Properties that follow from the contracts. */
  proved: number;
  /** Properties that do not. */
  unknown: number;
  /** Of those that do not: properties that the naive search refutes. */
  refuted: number;
  /** Nets of which some view counts the tokens of several places together. */
  grouped: number;
  /** Properties that follow from the contracts although the naive search refutes them. */
  readonly unsound: string[];
}

/** What `compareContracts` and `compareStubTrees` compare. */
export interface ContractCases {
  readonly firstSeed: number;
  /** The last seed of a range. Default: as many as are asked for. */
  readonly lastSeed?: number | undefined;
  /** Views with more states count the tokens of several places together. Default: as in a proof. */
  readonly mostWithoutGroups?: number | undefined;
}

/** Compares this number of nets, from the first seed on. */
export function compareContracts(
  nets: number,
  mostNaiveStates: number,
  size: Size,
  { firstSeed, lastSeed = Number.POSITIVE_INFINITY, mostWithoutGroups }: ContractCases,
): ContractTally {
  const tally: ContractTally = {
    kept: 0,
    broken: 0,
    proved: 0,
    unknown: 0,
    refuted: 0,
    grouped: 0,
    unsound: [],
  };
  for (let seed = firstSeed; tally.kept < nets && seed <= lastSeed; seed++) {
    // In every other net, inputs are refused: views leave them out.
    const generated = randomNet(seed, size, seed % 2 === 0);
    if (generated === undefined) continue;
    const { net, bounds } = generated;
    const random = new Random(seed + 1_000_003);
    const tree = randomTree(random, net);
    const limits = { states: 3_000, endsAt: Number.POSITIVE_INFINITY };
    const check = new ContractCheck(expand(net, bounds), tree, limits, mostWithoutGroups);
    if ([...check.prove()].some(({ verdict }) => verdict !== 'proved')) {
      tally.broken++;
      continue;
    }
    tally.kept++;
    if (check.hasGroups) tally.grouped++;
    for (const property of [generated.property, ...randomProperties(random, net)]) {
      const { holds } = check.decide(property);
      const { verdict } = naiveVerdict(net, property, bounds, mostNaiveStates);
      if (holds) tally.proved++;
      else tally.unknown++;
      if (verdict !== 'broken') continue;
      if (holds) tally.unsound.push(`seed ${seed}: ${property.name}`);
      else tally.refuted++;
    }
  }
  return tally;
}

export function randomTree(random: Random, net: CompiledNet): ComponentTree {
  const places = tokenPlaces(net);
  const transitions = net.transitions.map(({ name }) => name);
  const count = 1 + random.below(3);
  const component = (name: string, children: readonly NetComponent[]): NetComponent => {
    const inside = transitions.filter((_, index) => index % count === Number(name.slice(1)));
    const own = random.some(places, 1 + random.below(places.length));
    const returned = listReturned(net, inside).filter((place) => own.includes(place));
    return {
      name,
      places: own,
      transitions: inside,
      contract: randomContract(random, { places, own, returned }),
      children,
    };
  };
  const leaves = Array.from({ length: count - 1 }, (_, index) => component(`c${index}`, []));
  const last = random.chance(0.5);
  return {
    shared: random.chance(0.5) ? random.some(places, 1 + random.below(2)) : [],
    ports: random.some(places, random.below(3)),
    children: [component(`c${count - 1}`, last ? leaves : []), ...(last ? [] : leaves)],
  };
}

/** The places that the contract of a component may name. */
interface PlaceNames {
  readonly places: readonly string[];
  /** Those of the component itself. */
  readonly own: readonly string[];
  /** Those of its own to which some firing of its transitions may give back what it takes. */
  readonly returned: readonly string[];
}

/** A contract with few states. Half of them allow every event, so that they hold. */
function randomContract(random: Random, { places, own, returned }: PlaceNames): Contract {
  const states = ['s0', 's1', 's2'].slice(0, 1 + random.below(3));
  const total = random.chance(0.4);
  const pattern = (): StepPattern => ({
    ...(random.chance(0.6) && { gives: random.some(places, 1 + random.below(2)) }),
    ...(random.chance(0.3) && { takes: random.some(places, 1) }),
    ...(random.chance(0.2) && { empties: random.some(places, 1) }),
    ...(random.chance(0.1) && { faults: true as const }),
    ...(random.chance(0.7) && { by: random.pick(['component', 'environment'] as const) }),
  });
  const side = (): 'component' | 'environment' => random.pick(['component', 'environment']);
  const events: ContractEvent[] = Array.from({ length: random.below(4) }, (_, index) => ({
    name: `e${index}`,
    promisedBy: side(),
    on: pattern(),
  }));
  // A firing that gives back what it takes is no such event, also for a view that sees neither.
  if (returned.length > 0 && random.chance(0.7))
    events.push({
      name: 'keeps',
      promisedBy: 'component',
      on: { takes: [random.pick(returned)], ...(random.chance(0.8) && { by: 'component' }) },
    });
  // With its activations, what the steps inside a component cost is paid.
  if (random.chance(0.6))
    events.push({
      name: 'activated',
      promisedBy: 'environment',
      on: { gives: [random.pick(own)], by: 'environment' },
    });
  return {
    initial: 's0',
    events,
    steps: Object.fromEntries(
      states.map((state) => [
        state,
        Object.fromEntries(
          events.flatMap(({ name }) =>
            random.chance(name === 'keeps' ? 0.2 : total ? 1 : 0.75)
              ? [[name, random.pick(states)]]
              : [],
          ),
        ),
      ]),
    ),
  };
}

export function randomProperties(random: Random, net: CompiledNet): readonly SearchedProperty[] {
  const places = tokenPlaces(net);
  const transitions = net.transitions.map(({ name }) => name);
  const some = <T>(from: readonly T[], least: number): T[] =>
    random.some(from, least + random.below(2));
  const properties: readonly SearchedProperty[] = [
    deadlockFree(random.some(places, random.below(places.length + 1))),
    deadlockFree([
      { marked: some(places, 1), allowed: some(places, 2) },
      { marked: [], allowed: some(places, 3) },
    ]),
    placeBound(some(places, 1), 1 + random.below(3)),
    mutualExclusion(...some(places, 2)),
    unreachable(
      Object.fromEntries(some(places, 1).map((place) => [place, 1 + random.below(2)])),
      some(places, 0),
    ),
    atMost(some(transitions, 1), 1 + random.below(2), {
      ...(random.chance(0.6) && { per: random.pick(places) }),
    }),
    neverFiresAfter(some(transitions, 1), random.pick([...places, ...transitions]), {
      ...(random.chance(0.6) && { until: random.pick([...places, ...transitions]) }),
    }),
    ...[true, false].map((each) =>
      precedes(random.pick([...places, ...transitions]), some(transitions, 1), {
        each,
        ...(random.chance(0.5) && { per: random.pick(places) }),
      }),
    ),
    costAtMost(
      Object.fromEntries(some(transitions, 2).map((name) => [name, 1 + random.below(2)])),
      1 + random.below(6),
      { ...(random.chance(0.6) && { per: random.pick(places) }) },
    ),
    {
      kind: 'neverStale',
      name: 'never stale',
      commits: some(transitions, 1),
      renewals: some(transitions, 1),
      work: some(places, 1),
    },
  ];
  return properties.map((one) => widenNames(one, places, [...places, ...transitions]));
}

function listReturned(net: CompiledNet, inside: readonly string[]): readonly string[] {
  return net.transitions.flatMap(({ name, takes, alternatives }) =>
    inside.includes(name)
      ? takes.flatMap(({ place }) =>
          [...alternatives.values()].some(({ outputs }) =>
            outputs.some(({ output }) => output.place.name === place),
          )
            ? [place]
            : [],
        )
      : [],
  );
}

function tokenPlaces({ places, transitions }: CompiledNet): readonly string[] {
  return [
    ...[...places.values()].flatMap(({ name, kind }) => (kind === 'tokens' ? [name] : [])),
    ...transitions.flatMap(({ spec, running }) => (spec.kind === 'effect' ? [running] : [])),
  ];
}
