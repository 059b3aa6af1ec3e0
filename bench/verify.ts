import { performance } from 'node:perf_hooks';
import { allOf, compile, effect, initialToken, net, place, pure } from '../src/net/index.ts';
import type { CompiledNet, Effect, TokenPlace, Transition } from '../src/net/index.ts';
import { mutualExclusion, nativeZ3, npmZ3, placeBound, prove } from '../src/verify/index.ts';
import type { Property, Solver, Verdict } from '../src/verify/index.ts';

export interface Verification {
  readonly net: string;
  readonly by: string;
  readonly verdict: Verdict;
  /** Why it is unknown. */
  readonly reason?: string;
  readonly ms: number;
  /** 0 for a solver. */
  readonly states: number;
}

interface Question {
  readonly name: string;
  readonly net: CompiledNet;
  readonly property: Property;
}

const RINGS = [10, 30, 100];
const AGENTS = [3, 6];
const SOLVER_LIMITS = { timeoutMs: 20_000, memoryMb: 1_000 };

/** How long it takes to prove a net, and how many states there are: by search, by a native solver, by one in WebAssembly. */
export async function measureVerify({
  quick,
}: {
  readonly quick: boolean;
}): Promise<readonly Verification[]> {
  const questions = [
    ...(quick ? [10] : RINGS).map(ring),
    ...(quick ? [2] : AGENTS).map(agentsWithLock),
  ];
  const solvers = quick ? [] : [nativeZ3(), npmZ3()];
  const made: Verification[] = [];
  for (const question of questions) {
    made.push(await search(question));
    for (const solver of solvers) made.push(await solve(question, solver));
  }
  return made;
}

async function search({ name, net, property }: Question): Promise<Verification> {
  const bounds = { faults: 0, shutdowns: false, states: 1_000_000 };
  const startedAt = performance.now();
  const { results } = await prove(net, { properties: [property], bounds, route: 'search' });
  const ms = performance.now() - startedAt;
  const [result] = results;
  if (result === undefined) throw new Error(`Nothing was said of "${name}".`);
  const { verdict, states, reason } = result;
  return { net: name, by: 'search', verdict, ms, states, ...(reason !== undefined && { reason }) };
}

async function solve({ name, net, property }: Question, solver: Solver): Promise<Verification> {
  const bounds = { faults: 0, shutdowns: false };
  const startedAt = performance.now();
  const { results } = await prove(net, {
    properties: [property],
    bounds,
    route: 'solver',
    solver,
    solverLimits: SOLVER_LIMITS,
  });
  const ms = performance.now() - startedAt;
  const { verdict = 'unknown', reason } = results[0] ?? {};
  return {
    net: name,
    by: solver.name,
    verdict,
    ms,
    states: 0,
    ...(reason !== undefined && { reason }),
  };
}

/** One token that goes round, proved to stay one. */
function ring(size: number): Question {
  const places = Array.from({ length: size }, (_, index) => place(`ring.place-${index}`));
  const [first] = places;
  if (first === undefined) throw new RangeError('a ring has at least one place');
  const transitions = places.map((from, index) =>
    pure(`ring.step-${index}`, {
      take: { from },
      give: allOf({ to: places[(index + 1) % size] ?? first }),
      run: () => ({ to: null }),
    }),
  );
  return {
    name: `ring of ${size}`,
    net: compile(net('ring', { initial: [initialToken(first, null)], transitions })),
    property: placeBound(
      places.map(({ name }) => name),
      1,
    ),
  };
}

/** Agents that think, ask and write, each on its own but for one lock: no two write at once. */
function agentsWithLock(count: number): Question {
  const lock = place('write.lock');
  const agents = Array.from({ length: count }, (_, index) => agentWithLock(index, lock));
  const writing = agents.map(({ writes }) => `running(${writes.name})`);
  return {
    name: `${count} agents and a lock`,
    net: compile(
      net('agents', {
        initial: [initialToken(lock, null), ...agents.map(({ idle }) => initialToken(idle, null))],
        transitions: agents.flatMap(({ transitions }) => transitions),
      }),
    ),
    property: mutualExclusion(...writing),
  };
}

function agentWithLock(
  index: number,
  lock: TokenPlace<null>,
): {
  readonly idle: TokenPlace<null>;
  readonly writes: Effect;
  readonly transitions: readonly Transition[];
} {
  const at = (what: string): TokenPlace<null> => place(`agent-${index}.${what}`);
  const [idle, thought, asked, planned, locked, written] = [
    at('idle'),
    at('thought'),
    at('asked'),
    at('planned'),
    at('locked'),
    at('written'),
  ];
  const name = (verb: string): string => `agent-${index}.${verb}`;
  const step = (verb: string, from: TokenPlace<null>, to: TokenPlace<null>): Transition =>
    pure(name(verb), { take: { from }, give: allOf({ to }), run: () => ({ to: null }) });
  const work = (verb: string, from: TokenPlace<null>, to: TokenPlace<null>): Effect =>
    effect(name(verb), {
      take: { from },
      give: allOf({ to }),
      failed: () => ({ to: null }),
      run: async () => ({ to: null }),
    });
  const writes = work('write', locked, written);
  return {
    idle,
    writes,
    transitions: [
      work('think', idle, thought),
      step('decide', thought, asked),
      work('ask', asked, planned),
      pure(name('lock'), {
        take: { planned, lock },
        give: allOf({ locked }),
        run: () => ({ locked: null }),
      }),
      writes,
      pure(name('release'), {
        take: { written },
        give: allOf({ idle, lock }),
        run: () => ({ idle: null, lock: null }),
      }),
    ],
  };
}
