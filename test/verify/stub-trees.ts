/**
 * Random trees of stub agents with the ports of an agent, some of them with defects, and what follows from their
 * contracts beside what a search of the whole net says.
 */
import { agentContract } from '../../src/agents/agent/agent-contract.ts';
import { compile } from '../../src/net/build/compile.ts';
import { all, allOf, oneOf, optional, upTo } from '../../src/net/language/arcs.ts';
import type { OutputSpec, Outputs } from '../../src/net/language/arcs.ts';
import { faultPlace } from '../../src/net/language/fault.ts';
import { NetBuildError } from '../../src/net/language/net-errors.ts';
import { initialToken, net } from '../../src/net/language/net.ts';
import type { Net } from '../../src/net/language/net.ts';
import { place } from '../../src/net/language/place.ts';
import type { AnyPlace, TokenPlace } from '../../src/net/language/place.ts';
import { effect, pure, running } from '../../src/net/language/transition.ts';
import type { Transition } from '../../src/net/language/transition.ts';
import { ContractCheck } from '../../src/verify/contracts/contract-check.ts';
import type { NetComponent, ComponentTree } from '../../src/verify/contracts/contract.ts';
import { prove } from '../../src/verify/prove.ts';
import type { Bounds } from '../../src/verify/properties/bounds.ts';
import {
  atMost,
  costAtMost,
  deadlockFree,
  mutualExclusion,
  neverFiresAfter,
  placeBound,
  precedes,
} from '../../src/verify/properties/create-property.ts';
import type { Property, QuiescentMarking } from '../../src/verify/properties/property.ts';
import { expand } from '../../src/verify/system/expand.ts';
import { Random } from './random.ts';
import type { ContractCases } from './random-contracts.ts';

export interface StubTree {
  readonly net: Net;
  readonly components: ComponentTree;
  readonly properties: readonly Property[];
  readonly bounds: Bounds;
  readonly agents: number;
}

export interface StubTally {
  trees: number;
  /** Trees with a defect somewhere. */
  changed: number;
  /** Properties that follow from the contracts. */
  proved: number;
  /** Properties that do not follow from them, and that a search of the whole net refutes. */
  refuted: number;
  /** Properties that do not follow from them, and that a search of the whole net proves. */
  missed: number;
  /** Properties of trees without a defect that do not follow from the contracts. */
  readonly weak: string[];
  /** Trees of which some view counts the tokens of several places together. */
  grouped: number;
  /** Properties that follow from the contracts, and that a search of the whole net refutes. */
  readonly unsound: string[];
}

type Signal = TokenPlace<null>;

const signal = (name: string, environment = false): Signal => place(name, { environment });
const userIn = signal('user.in', true);
const interruptIn = signal('interrupt.in', true);
const answerIn = signal('answer.in', true);
const permit = signal('turn.permit');
const current = signal('turn.current');
const waiting = signal('turn.waiting');
const ending = signal('turn.ending');
const stopping = signal('turn.stopping');
const stopRequested = signal('turn.stop-requested');

const start = (name: string): Signal => signal(`target/${name}`);
const done = (name: string): Signal => signal(`done/${name}`);
const nothing = (): never => {
  throw new Error('never run');
};

/** A part of a tree: its own transitions, all its places, and the component that it is. */
interface Part {
  readonly transitions: readonly Transition[];
  readonly places: readonly AnyPlace[];
  readonly component: NetComponent;
  readonly parked: readonly Signal[];
  readonly working: readonly AnyPlace[];
  readonly names: readonly string[];
}

class Builder {
  readonly #random: Random;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  get agents(): number {
    return this.#count;
  }

  tree(depth: number, end: Signal): Part {
    const kinds = ['sequence', 'parallel', 'loop'] as const;
    return depth === 0 || this.#random.chance(0.35)
      ? this.#leaf(end)
      : this.#composite(this.#random.pick(kinds), depth, end);
  }

  /** An agent that works in an effect, and may call again, park and ask to stop. At most 7 transitions. */
  #leaf(end: Signal): Part {
    const random = this.#random;
    const name = `a${this.#count++}`;
    const own = (what: string): Signal => signal(`${name}/${what}`);
    const ready = own('ready');
    const result = own('result');
    const parked = own('parked');
    const budget = own('budget');
    const parks = random.chance(0.4);
    const asksToStop = random.chance(0.3);
    const again = random.chance(0.5);
    const work = effect(`${name}/work`, {
      take: { ready },
      unless: [stopping],
      ...(random.chance(0.2) && { concurrency: 1 }),
      give: oneOf({
        ok: allOf({ result }),
        ...(parks && { park: allOf({ parked }) }),
        ...(asksToStop && { stop: allOf({ result, stop: stopRequested }) }),
      }),
      failed: nothing,
      run: nothing,
    } as never) as unknown as Transition;
    const transitions: Transition[] = [
      transition(`${name}/begin`, {
        take: { start: start(name) },
        unless: [stopping],
        reset: [budget],
        give: allOf({ ready, ...(again && { budget: upTo(2, budget) }) }),
      }),
      work,
      transition(`${name}/finish`, {
        take: { result },
        unless: [stopping],
        give: allOf({ end }),
      }),
    ];
    if (again)
      transitions.push(
        transition(`${name}/again`, {
          take: { result, budget },
          unless: [stopping],
          priority: random.chance(0.5) ? 1 : 0,
          give: oneOf({ ready, end }),
        }),
      );
    if (parks)
      transitions.push(
        transition(`${name}/answer`, {
          take: { parked, answerIn, waits: all(waiting, { min: 0 }) },
          unless: [stopping],
          give: oneOf({ result, ready }),
        }),
      );
    const component = {
      name,
      places: [
        ...[ready, result, parked, budget].map((one) => one.name),
        `running(${name}/work)`,
        start(name).name,
      ],
      transitions: [...transitions.map((t) => t.name), ...(parks ? [`${name}/wait`] : [])],
      contract: agentContract({ starts: [start(name).name], dones: [end.name] }),
      children: [],
    };
    return {
      transitions,
      places: [start(name), ready, result, parked, budget, running(work as never)],
      component,
      parked: parks ? [parked] : [],
      working: [ready, running(work as never)],
      names: [name],
    };
  }

  #composite(kind: 'sequence' | 'parallel' | 'loop', depth: number, end: Signal): Part {
    const name = `c${this.#count++}`;
    const count = 1 + this.#random.below(kind === 'parallel' ? 2 : 3);
    const last = count - 1;
    const children = Array.from({ length: count }, (_, index): readonly [Part, Signal] => {
      const isLast = kind === 'sequence' && index === last;
      const to = isLast ? end : done(`${name}-${index}`);
      return [this.tree(depth - 1, to), to];
    });
    const parts = children.map(([part]) => part);
    const ends = children.map(([, to]) => to);
    const starts = parts.map((part) => start(part.component.name));
    const rounds = signal(`${name}/rounds`);
    const transitions = [
      transition(`${name}/begin`, {
        take: { start: start(name) },
        unless: [stopping],
        reset: kind === 'loop' ? [rounds] : [],
        give: allOf(
          kind === 'parallel'
            ? byIndex(starts)
            : { first: starts[0] ?? end, ...(kind === 'loop' && { rounds: upTo(1, rounds) }) },
        ),
      }),
      ...(kind === 'parallel'
        ? [
            transition(`${name}/join`, {
              take: byIndex(ends),
              unless: [stopping],
              give: allOf({ end }),
            }),
          ]
        : starts.slice(1).map((next, index) =>
            transition(`${name}/next-${index}`, {
              take: { done: ends[index] ?? end },
              unless: [stopping],
              give: allOf({ next }),
            }),
          )),
      ...(kind === 'loop'
        ? [
            transition(`${name}/repeat`, {
              take: { done: ends[last] ?? end, rounds },
              unless: [stopping],
              give: oneOf({ next: starts[0] ?? end, exit: end }),
            }),
            transition(`${name}/exit`, {
              take: { done: ends[last] ?? end },
              unless: [rounds, stopping],
              priority: -1,
              give: allOf({ exit: end }),
            }),
          ]
        : []),
    ];
    const inner = ends.filter((one) => one !== end);
    const places = [start(name), ...inner, ...(kind === 'loop' ? [rounds] : [])];
    return {
      transitions: [...transitions, ...parts.flatMap((part) => part.transitions)],
      places: [...places, ...parts.flatMap((part) => part.places)],
      component: {
        name,
        places: [...places, ...starts].map((one) => one.name),
        transitions: transitions.map((t) => t.name),
        contract: agentContract({ starts: [start(name).name], dones: [end.name] }),
        children: parts.map((part) => part.component),
      },
      parked: parts.flatMap((part) => part.parked),
      working: parts.flatMap((part) => part.working),
      names: parts.flatMap((part) => part.names),
    };
  }
}

/** The tree of a seed. Undefined if its defect does not build. */
export function stubTree(seed: number, defects: boolean): StubTree | undefined {
  const random = new Random(seed);
  const builder = new Builder(random);
  const root = builder.tree(2, ending);
  const waits = root.parked.map((parked) => {
    const name = parked.name.slice(0, parked.name.indexOf('/'));
    return transition(`${name}/wait`, {
      take: { current },
      read: { parked: all(parked) },
      unless: [...root.working, waiting, stopping],
      priority: -1,
      give: allOf({ current, waiting }),
    });
  });
  const held = [...root.places, waiting, stopRequested];
  const flushed = { endings: all(ending, { min: 0 }) };
  const transitions: Transition[] = [
    transition('turn.start', {
      take: { userIn, permit },
      reset: [answerIn],
      give: allOf({ current, start: start(root.component.name) }),
    }),
    transition('turn.interrupt', {
      take: { interruptIn, current, ...flushed },
      reset: [...held, stopping],
      priority: 100,
      give: allOf({ current, ending }),
    }),
    transition('turn.halt', {
      take: { asked: all(stopRequested), current },
      unless: [stopping],
      priority: 100,
      give: allOf({ current, stopping }),
    }),
    transition('turn.stop', {
      take: { stops: all(stopping), current, ...flushed },
      reset: held,
      priority: 100,
      give: allOf({ current, ending }),
    }),
    transition('turn.abandon', {
      take: {
        fault: faultPlace,
        turns: all(current, { min: 0 }),
        permits: all(permit, { min: 0 }),
        ...flushed,
      },
      reset: [...held, stopping],
      priority: 101,
      give: allOf({ permit }),
    }),
    transition('turn.end', {
      take: { ending, current },
      reset: root.places.filter(({ name }) => /\/(?:budget|rounds)$/.test(name)),
      give: allOf({ permit }),
    }),
    transition('interrupt.discard', {
      take: { interruptIn },
      priority: -1,
      give: allOf({ left: optional(signal('interrupts.discarded')) }),
    }),
    ...root.transitions,
    ...waits,
  ];
  const changed = defects ? withDefects(random, transitions, held) : transitions;
  const ports = [
    userIn,
    interruptIn,
    answerIn,
    signal('interrupts.discarded'),
    permit,
    current,
    ending,
    stopping,
    ...held,
  ].filter(({ kind }) => kind !== 'running');
  const whole = net(`stub-${seed}`, {
    in: byIndex(ports),
    initial: [initialToken(permit, null)],
    transitions: changed,
  });
  try {
    compile(whole);
  } catch (error) {
    if (error instanceof NetBuildError) return undefined;
    throw error;
  }
  return {
    net: whole,
    components: {
      shared: [current, waiting, stopping, stopRequested, faultPlace].map(({ name }) => name),
      ports: [start(root.component.name).name],
      children: [root.component],
    },
    properties: listProperties(random, root),
    bounds: {
      environment: { 'user.in': 1, 'answer.in': 1, 'interrupt.in': random.below(2) },
      upTo: 2,
      faults: random.below(2),
      shutdowns: random.chance(0.2),
      searchTimeoutMs: 600_000,
    },
    agents: builder.agents,
  };
}

/** Compares this number of trees, from the first seed on. Trees whose search gives up are left out. */
export async function compareStubTrees(
  trees: number,
  mostStates: number,
  { firstSeed, lastSeed = Number.POSITIVE_INFINITY, mostWithoutGroups }: ContractCases,
): Promise<StubTally> {
  const tally: StubTally = {
    trees: 0,
    changed: 0,
    proved: 0,
    refuted: 0,
    missed: 0,
    grouped: 0,
    weak: [],
    unsound: [],
  };
  for (let seed = firstSeed; tally.trees < trees && seed <= lastSeed; seed++) {
    const defects = seed % 4 !== 0;
    const tree = stubTree(seed, defects);
    if (tree === undefined) continue;
    const compiled = compile(tree.net);
    const bounds = { ...tree.bounds, states: mostStates };
    const { results } = await prove(compiled, {
      properties: tree.properties,
      bounds,
      route: 'search',
    });
    if (results.some(({ verdict }) => verdict === 'unknown')) continue;
    tally.trees++;
    if (defects) tally.changed++;
    const limits = { states: 50_000, endsAt: Number.POSITIVE_INFINITY };
    const net = expand(compiled, bounds);
    const check = new ContractCheck(net, tree.components, limits, mostWithoutGroups);
    const contracts = [...check.prove()];
    if (check.hasGroups) tally.grouped++;
    for (const { property, verdict } of results) {
      const decision = check.decide(property);
      if (decision.holds) {
        tally.proved++;
        if (verdict !== 'proved')
          tally.unsound.push(`seed ${seed}: ${property.name} is ${verdict}`);
      } else if (verdict === 'proved') {
        tally.missed++;
        const broken = contracts.find((one) => one.verdict !== 'proved');
        const reason = broken === undefined ? decision.reason : broken.reason;
        if (!defects) tally.weak.push(`seed ${seed}: ${property.name}: ${reason}`);
      } else tally.refuted++;
    }
  }
  return tally;
}

function listProperties(random: Random, { names, parked, places }: Part): readonly Property[] {
  const held = places.filter(({ kind }) => kind !== 'running').map(({ name }) => name);
  const resting: QuiescentMarking[] = [
    { marked: [permit.name], allowed: [answerIn.name, 'interrupts.discarded'] },
    ...parked.map(({ name }) => ({
      marked: [current.name, waiting.name, name],
      allowed: [
        ...held.filter((one) => /\/(?:budget|rounds|parked)$|^done/.test(one)),
        userIn.name,
        answerIn.name,
        'interrupts.discarded',
      ],
    })),
  ];
  const works = names.map((name) => `${name}/work`);
  const one = random.pick(names);
  return [
    deadlockFree(resting),
    placeBound([permit.name, current.name], 1),
    neverFiresAfter(works, stopping.name, { until: permit.name }),
    atMost([`${one}/work`], 3, { per: `target/${one}` }),
    mutualExclusion(`running(${one}/work)`, `target/${one}`),
    ...(works.length > 1
      ? [mutualExclusion(...random.some(works, 2).map((name) => `running(${name})`))]
      : []),
    ...listOrders(random, names, works),
  ];
}

/** Properties of the steps of several agents: their order, and what they cost together. */
function listOrders(
  random: Random,
  names: readonly string[],
  works: readonly string[],
): readonly Property[] {
  const [first, then] = [random.pick(works), random.pick(works)];
  const per = { per: userIn.name };
  return [
    precedes(`target/${random.pick(names)}`, [random.pick(works)]),
    precedes(`${random.pick(names)}/begin`, [then], per),
    precedes('turn.start', [random.pick(works)], { each: random.chance(0.5), ...per }),
    ...(first === then ? [] : [precedes(first, [then], per)]),
    neverFiresAfter([then], `target/${random.pick(names)}`, { until: permit.name }),
    atMost(works, works.length * (1 + random.below(3)), per),
    costAtMost(
      Object.fromEntries(random.some(works, 2).map((name) => [name, 1 + random.below(2)])),
      2 + random.below(8),
      per,
    ),
    atMost([random.pick(works)], 1 + random.below(3), per),
  ];
}

/** Changes one or two transitions: removes or adds an arc, or changes a priority. */
function withDefects(
  random: Random,
  transitions: readonly Transition[],
  places: readonly AnyPlace[],
): readonly Transition[] {
  const changed = [...transitions];
  for (let count = 1 + random.below(2); count > 0; count--) {
    const index = random.below(changed.length);
    const t = changed[index];
    if (t !== undefined) changed[index] = withDefect(random, t, places);
  }
  return changed;
}

function withDefect(random: Random, t: Transition, places: readonly AnyPlace[]): Transition {
  const tokens = places.filter((one): one is Signal => one.kind === 'tokens');
  switch (random.below(6)) {
    case 0:
      return { ...t, unless: t.unless.filter(() => random.chance(0.5)) };
    case 1:
      return { ...t, reset: t.reset.filter(() => random.chance(0.8)) };
    case 2: {
      const taken = Object.entries(t.take);
      const without = random.below(taken.length);
      return taken.length < 2
        ? t
        : { ...t, take: Object.fromEntries(taken.filter((_, at) => at !== without)) };
    }
    case 3:
      return { ...t, give: withoutOutput(random, t.give) };
    case 4:
      return { ...t, give: withOutput(t.give, random.pick(tokens)) };
    default:
      return { ...t, priority: random.pick([-2, -1, 0, 1, 2, 101]) };
  }
}

function withoutOutput(random: Random, give: OutputSpec): OutputSpec {
  if (give.give !== 'allOf') return give;
  const outputs = Object.entries(give.outputs);
  const without = random.below(Math.max(1, outputs.length));
  return allOf(Object.fromEntries(outputs.filter((_, at) => at !== without)));
}

function withOutput(give: OutputSpec, more: Signal): OutputSpec {
  const outputs = (of: Outputs): Outputs => ({ ...of, more });
  if (give.give === 'allOf') return allOf(outputs(give.outputs));
  return oneOf(
    Object.fromEntries(
      Object.entries(give.alternatives).map(([name, one]) => [
        name,
        'give' in one ? allOf(outputs(one.outputs)) : one,
      ]),
    ),
  );
}

function transition(name: string, arcs: object): Transition {
  const candidate: unknown = pure(name, { ...arcs, run: nothing } as never);
  return candidate as Transition;
}

function byIndex<P extends AnyPlace>(places: readonly P[]): Readonly<Record<string, P>> {
  return Object.fromEntries(places.map((one) => [one.name, one]));
}
