/** Random nets of components that are equal but for details, and what follows from their contracts. */
import { compile } from '../../src/net/build/compile.ts';
import type { CompiledNet } from '../../src/net/build/compile.ts';
import { allOf, oneOf, optional } from '../../src/net/language/arcs.ts';
import { NetBuildError } from '../../src/net/language/net-errors.ts';
import { initialToken, net } from '../../src/net/language/net.ts';
import type { InitialToken } from '../../src/net/language/net.ts';
import { place } from '../../src/net/language/place.ts';
import type { TokenPlace } from '../../src/net/language/place.ts';
import { effect, pure } from '../../src/net/language/transition.ts';
import type { Transition } from '../../src/net/language/transition.ts';
import { ContractCheck } from '../../src/verify/contracts/contract-check.ts';
import type { ComponentTree, NetComponent } from '../../src/verify/contracts/contract.ts';
import type { Bounds } from '../../src/verify/properties/bounds.ts';
import {
  atMost,
  costAtMost,
  deadlockFree,
  mutualExclusion,
  neverFiresAfter,
  precedes,
  unreachable,
} from '../../src/verify/properties/create-property.ts';
import type { SearchedProperty } from '../../src/verify/properties/property.ts';
import { expand } from '../../src/verify/system/expand.ts';
import { countProperty } from './contract-tally.ts';
import type { ContractTally } from './contract-tally.ts';
import type { NaiveBounds } from './naive-search.ts';
import { Random } from './random.ts';
import type { ContractCases } from './random-contracts.ts';

/** Of the properties of a net that do not follow, the first is counted. */
export interface TwinTally extends ContractTally {
  /** Nets with a contract that was not proved. */
  broken: number;
}

type Signal = TokenPlace<null>;

const nothing = (): never => {
  throw new Error('never run');
};

interface TwinNet {
  readonly net: CompiledNet;
  readonly tree: ComponentTree;
  readonly bounds: Bounds & NaiveBounds;
  readonly properties: readonly SearchedProperty[];
}

/** Compares this number of nets, from the first seed on. */
export function compareTwinNets(
  nets: number,
  mostNaiveStates: number,
  { firstSeed, lastSeed = Number.POSITIVE_INFINITY, mostWithoutGroups }: ContractCases,
): TwinTally {
  const tally: TwinTally = { nets: 0, broken: 0, proved: 0, refuted: 0, open: 0, unsound: [] };
  for (let seed = firstSeed; tally.nets < nets && seed <= lastSeed; seed++) {
    const generated = twinNet(seed);
    if (generated === undefined) continue;
    const { net: compiled, tree, bounds, properties } = generated;
    const searched = { seed, net: compiled, bounds };
    const limits = { states: 5_000, endsAt: Number.POSITIVE_INFINITY };
    const check = new ContractCheck(expand(compiled, bounds), tree, limits, mostWithoutGroups);
    if ([...check.prove()].some(({ verdict }) => verdict !== 'proved')) {
      tally.broken++;
      continue;
    }
    tally.nets++;
    let isCompared = false;
    for (const property of properties) {
      const { holds } = check.decide(property);
      // What does not follow is compared once for each net.
      if (!holds && isCompared) continue;
      isCompared ||= !holds;
      countProperty(tally, searched, property, { holds, mostNaiveStates });
    }
  }
  return tally;
}

/** What one of the twins may have otherwise than the others. */
interface Detail {
  /** Whether its work uses up its tool, or only reads it. */
  readonly usesUpTool: boolean;
  readonly tools: number;
  readonly papers: number;
  /** Whose firings the event is that asks it. Only those of the environment set it to work. */
  readonly askedBy: 'environment' | undefined;
  readonly worksAgain: boolean;
}

/** The net of a seed. Undefined if it does not build. */
function twinNet(seed: number): TwinNet | undefined {
  const random = new Random(seed);
  const names = ['a', 'b', 'c'].slice(0, random.chance(0.9) ? 2 : 3);
  const isEffect = random.chance(0.2);
  const mayFork = random.chance(0.15);
  const isFor = random.chance(0.5) ? ('both' as const) : random.pick(['often', 'once'] as const);
  const details = new Map(
    names.map((name, index): [string, Detail] => {
      // Work whose cost is the same at each activation, or in total.
      const isOnce = isFor === 'both' ? index % 2 === 1 : isFor === 'once';
      const isUsual = (): boolean => random.chance(0.85);
      return [
        name,
        {
          usesUpTool: isUsual() ? isOnce : !isOnce,
          tools: isUsual() ? 1 : 2,
          papers: random.pick([1, 2, 2]),
          askedBy: isOnce === isUsual() ? undefined : 'environment',
          worksAgain: random.chance(0.1),
        },
      ];
    }),
  );
  const transitions: Transition[] = [];
  const add = (name: string, arcs: object): void => {
    const isWork = isEffect && name.endsWith('/work');
    const spec: unknown = isWork
      ? effect(name, { ...arcs, failed: nothing, run: nothing } as never)
      : pure(name, { ...arcs, run: nothing } as never);
    transitions.push(spec as Transition);
  };
  const signal = (name: string): Signal => place(name);
  const ask = (name: string): Signal => signal(`${name}.ask`);
  const answer = (name: string): Signal => signal(`${name}.answer`);
  const initial: InitialToken[] = [];
  for (const [name, { usesUpTool, tools, worksAgain }] of details) {
    const tool = signal(`${name}.tool`);
    const paper = place(`${name}.paper`, { environment: true });
    initial.push(initialToken(tool, null, tools));
    const result = mayFork
      ? oneOf({ answer: answer(name), again: ask(name) })
      : allOf({ answer: answer(name) });
    add(`${name}/work`, {
      take: { ask: ask(name), paper, ...(usesUpTool && { tool }) },
      ...(!usesUpTool && { read: { tool } }),
      give: result,
    });
    if (worksAgain)
      add(`${name}/again`, {
        take: { paper, tool },
        unless: [ask(name)],
        priority: random.pick([-1, 0]),
        give: allOf({ ask: ask(name) }),
      });
  }
  const order = signal('order');
  const rounds = signal('rounds');
  const orders = place('orders', { environment: true });
  initial.push(initialToken(order, null));
  initial.push(initialToken(rounds, null, 1 + random.below(2)));
  const opened = random.chance(0.6) ? names : random.some(names, 1);
  add('open', {
    take: random.chance(0.5) ? { order } : { order, orders },
    give: allOf(
      Object.fromEntries(
        opened.map((name) => [name, random.chance(0.1) ? optional(ask(name)) : ask(name)]),
      ) as never,
    ),
  });
  // A clerk who treats all alike, or each in a way of its own.
  const treatment = () => ({
    asksAgain: random.chance(0.8),
    isCounted: random.chance(0.8),
    looksAt: random.pick(['nothing', 'ask', 'ask', 'answer']),
    asksOther: random.chance(0.3),
    closes: random.chance(0.3),
    priority: random.pick([0, 0, 1]),
  });
  const alike = random.chance(0.6) ? treatment() : undefined;
  for (const [index, name] of names.entries()) {
    const other = names[(index + 1) % names.length] ?? name;
    const { asksAgain, isCounted, looksAt, asksOther, closes, priority } = alike ?? treatment();
    if (asksAgain)
      add(`next.${name}`, {
        take: { answer: answer(name), ...(isCounted && { rounds }) },
        ...(looksAt !== 'nothing' && { read: { other: signal(`${other}.${looksAt}`) } }),
        priority,
        give: allOf({ ask: ask(asksOther ? other : name) }),
      });
    if (closes)
      add(`close.${name}`, {
        take: { answer: answer(name) },
        priority: -1,
        give: allOf({ order }),
      });
  }
  const isStrict = random.chance(0.4);
  const component = (name: string): NetComponent => ({
    name,
    places: [
      ...['ask', 'paper', 'tool'].map((own) => `${name}.${own}`),
      ...(isEffect ? [`running(${name}/work)`] : []),
    ],
    transitions: transitions.map((t) => t.name).filter((own) => own.startsWith(`${name}/`)),
    contract: {
      initial: 'free',
      events: [
        {
          name: 'asked',
          promisedBy: 'environment',
          on: {
            gives: [ask(name).name],
            ...(details.get(name)?.askedBy === 'environment' && { by: 'environment' }),
          },
        },
        {
          name: 'answers',
          promisedBy: 'component',
          on: { gives: [answer(name).name], by: 'component' },
        },
      ],
      steps: {
        busy: { answers: 'free', ...(!isStrict && { asked: 'busy' }) },
        free: { asked: 'busy', ...(!isStrict && { answers: 'free' }) },
      },
    },
    children: [],
  });
  try {
    const compiled = compile(
      net(`twins-${seed}`, { in: { orders }, initial, transitions } as never),
    );
    const known = [...compiled.places.keys()];
    const environment = Object.fromEntries(
      [
        ['orders', 1 + random.below(2)] as const,
        ...[...details].map(([name, { papers }]) => [`${name}.paper`, papers] as const),
      ].filter(([name]) => compiled.places.has(name)),
    );
    const works = names.map((name) => `${name}/work`);
    const fired = compiled.transitions.map(({ name }) => name);
    const per = (): { readonly per?: string } =>
      random.chance(0.4) ? { per: random.pick(known) } : {};
    return {
      net: compiled,
      tree: {
        shared: [],
        ports: names.flatMap((name) => [ask(name).name, answer(name).name]),
        children: names.map(component),
      },
      bounds: {
        environment,
        upTo: 2,
        attempts: 1,
        faults: random.chance(0.15) ? 1 : 0,
        shutdowns: false,
      },
      properties: [
        ...[1, 2, 3, 4, 5].map((max) => atMost(works, max)),
        atMost(random.some(works, 2), 1 + random.below(3), per()),
        costAtMost(
          Object.fromEntries(works.map((name, index) => [name, 1 + index])),
          2 + random.below(6),
          per(),
        ),
        precedes(random.pick(fired), random.some(works, 1), {
          each: random.chance(0.5),
          ...per(),
        }),
        neverFiresAfter(random.some(works, 1), random.pick(fired), { until: random.pick(fired) }),
        mutualExclusion(...random.some(known, 2)),
        unreachable({ [random.pick(known)]: 1 + random.below(2) }),
        deadlockFree(random.some(known, random.below(known.length))),
      ],
    };
  } catch (error) {
    if (error instanceof NetBuildError) return undefined;
    throw error;
  }
}
