import assert from 'node:assert/strict';
import { compile, Driver, Executor, planUpgrade, SimulatedClock } from '../../src/net/index.ts';
import { renameMarking } from '../../src/net/internal.ts';
import type { CompiledNet, Marking, Net, Step, StepOutcome } from '../../src/net/index.ts';
import type { OutletValue } from '../../src/net/engine/check-outputs.ts';
import { pickSample } from '../sample-seed.ts';
import { Journal } from './journal.ts';
import { SideEffectWorld } from './side-effect-world.ts';
import type { EffectRunner } from './side-effect-world.ts';

/** A session to crash: a net, its inputs, and the result that it must have however often its owner dies. */
export interface CrashCase {
  readonly name: string;
  readonly net: (world: EffectRunner) => Net;
  readonly inputs: readonly {
    readonly at: number;
    readonly place: string;
    readonly value: unknown;
  }[];
  /** The part of the final marking and of the outlet values that no crash may change, and its expected value. */
  readonly outcome: (marking: Marking, outlets: readonly OutletValue[]) => unknown;
  readonly expected: unknown;
  /** Returns the decision, if one was made. A later decision must be equal. */
  readonly winner?: (marking: Marking) => unknown;
  /** How long the session has no owner after a crash, in milliseconds. */
  readonly downtimeMs?: number;
  /** The net of the first owner. The others continue under `net`. Default: `net`. */
  readonly firstNet?: (world: EffectRunner) => Net;
  /** True if nothing may run twice, not even an attempt that a crash interrupted. */
  readonly runsOnce?: true;
}

/**
 * The moment at which an owner dies, relative to its current commit.
 * - `before-commit`: nothing of the step is durable.
 * - `in-snapshot`: the step is durable, but its snapshot is not. The older snapshot stays.
 * - `after-commit`: the step is durable, but its owner does not learn that.
 * - `after-dispatch`: the effects of the step have begun.
 */
export const failpoints = [
  'before-commit',
  'in-snapshot',
  'after-commit',
  'after-dispatch',
] as const;
export type Failpoint = (typeof failpoints)[number];

/** Crashes by the number of the commit, counted over all owners. */
export type Crashes = ReadonlyMap<number, Failpoint>;

interface CaseResult {
  readonly commits: number;
  readonly outcome: unknown;
  readonly starts: ReadonlyMap<string, number>;
}

/** The net of a case, compiled once for all runs, and the world of the current run. */
class CompiledCase {
  readonly net: CompiledNet;
  readonly firstNet: CompiledNet;
  world: SideEffectWorld = new SideEffectWorld(new Journal());

  constructor({ net, firstNet }: CrashCase) {
    const world: EffectRunner = {
      runEffect: async (attempted, ms) => this.world.runEffect(attempted, ms),
      now: () => this.world.now(),
    };
    this.net = compile(net(world));
    this.firstNet = firstNet === undefined ? this.net : compile(firstNet(world));
  }
}

/** Runs a session to its end, through all its crashes. */
async function runCase(
  crashCase: CrashCase,
  compiled: CompiledCase,
  crashes: Crashes = new Map(),
): Promise<CaseResult> {
  const session = new CaseSession(crashCase, compiled, crashes);
  while (await session.runOwner()) {
    // Another owner takes over.
  }
  const marking = session.journal.hydrate();
  const { starts, completions } = session.world;
  for (const counts of [starts, completions]) {
    for (const [attempt, runs] of counts) assert.equal(runs, 1, `${attempt} ran ${runs} times`);
  }
  if (crashCase.runsOnce === true) {
    assert.deepEqual(
      [...starts.keys()].filter((key) => !key.endsWith(' attempt 1')),
      [],
    );
  }
  return {
    commits: session.commits,
    outcome: crashCase.outcome(marking, session.journal.outlets),
    starts,
  };
}

class CaseSession {
  readonly journal: Journal = new Journal();
  readonly world: SideEffectWorld;
  commits: number = 0;
  readonly #case: CrashCase;
  readonly #crashes: Crashes;
  readonly #net: CompiledNet;
  readonly #firstNet: CompiledNet;
  #now = 0;
  #owners = 0;
  #winner: unknown;

  constructor(crashCase: CrashCase, compiled: CompiledCase, crashes: Crashes) {
    this.#case = crashCase;
    this.#crashes = crashes;
    this.#net = compiled.net;
    this.world = new SideEffectWorld(this.journal);
    compiled.world = this.world;
    this.#firstNet = compiled.firstNet;
  }

  /** Runs one owner until nothing is left to do or it dies. @returns true if it died */
  async runOwner(): Promise<boolean> {
    const clock = new SimulatedClock(this.#now);
    const net = this.#owners++ === 0 ? this.#firstNet : this.#net;
    const owner = new Owner(net, clock, this.journal, async (step) => this.#commit(step, owner));
    this.world.startOwner(clock);
    this.#take(owner);
    // A new owner first journals its ownership, and recovers the firings that the previous owner left in flight.
    if (this.journal.steps.length > 0) {
      owner.driver.appendSystemRecord({ kind: 'owned', owner: 'next', epoch: this.commits });
      owner.driver.recover();
    } else owner.driver.schedule();
    for (;;) {
      await owner.rest();
      if (owner.isDead) break;
      const next = Math.min(clock.nextAt ?? Number.POSITIVE_INFINITY, this.#nextInput(owner));
      if (next === Number.POSITIVE_INFINITY) break;
      clock.advance(Math.max(0, next - clock.now()));
      this.#take(owner);
    }
    this.#now = clock.now() + (owner.isDead ? (this.#case.downtimeMs ?? 0) : 0);
    owner.kill();
    return owner.isDead;
  }

  /** Passes the inputs that have arrived to the owner, oldest first. */
  #take(owner: Owner): void {
    this.#case.inputs.forEach(({ at, place, value }, inputSeq) => {
      if (at > owner.clock.now() || this.journal.consumed.has(inputSeq) || owner.seen.has(inputSeq))
        return;
      owner.seen.add(inputSeq);
      owner.driver.inject({ place, value, inputSeq });
    });
  }

  #nextInput(owner: Owner): number {
    const remainingInputs = this.#case.inputs.filter(
      (_, inputSeq) => !owner.seen.has(inputSeq) && !this.journal.consumed.has(inputSeq),
    );
    return Math.min(Number.POSITIVE_INFINITY, ...remainingInputs.map(({ at }) => at));
  }

  async #commit(step: Step, owner: Owner): Promise<StepOutcome> {
    const failpoint = this.#crashes.get(++this.commits);
    if (failpoint === 'before-commit') return this.#die(owner);
    const { marking } = owner.driver.executor;
    this.journal.append(step, failpoint === 'in-snapshot' ? undefined : marking);
    this.#checkWinner(marking);
    if (failpoint === 'in-snapshot' || failpoint === 'after-commit') return this.#die(owner);
    if (failpoint === 'after-dispatch') setImmediate(() => this.#kill(owner));
    return 'committed';
  }

  #checkWinner(marking: Marking): void {
    const winner = this.#case.winner?.(marking);
    if (this.#winner !== undefined) assert.deepEqual(winner, this.#winner, 'the winner changed');
    this.#winner = winner;
  }

  async #die(owner: Owner): Promise<never> {
    this.#kill(owner);
    return new Promise(() => {});
  }

  #kill(owner: Owner): void {
    owner.isDead = true;
    owner.kill();
    this.world.stopOwner();
  }
}

/** One owner of the session. */
class Owner {
  readonly driver: Driver;
  readonly clock: SimulatedClock;
  /** The inputs that this owner has taken. */
  readonly seen: Set<number> = new Set();
  isDead: boolean = false;

  constructor(
    net: CompiledNet,
    clock: SimulatedClock,
    journal: Journal,
    commit: (step: Step) => Promise<StepOutcome>,
  ) {
    this.clock = clock;
    const marking = journal.hydrate();
    const upgrade = marking.seq > 0 ? planUpgrade(marking, net) : undefined;
    renameMarking(marking, net);
    this.driver = new Driver({
      clock,
      commit,
      executor: (onAbort) => {
        const executor = new Executor(net, marking, { toFiringId: String, onAbort });
        if (marking.seq === 0) executor.begin(clock.now());
        return executor;
      },
      reload: async () => assert.fail('there is no conflict'),
      onCommitted: () => {},
      onProgress: () => {},
      onRefused: () => assert.fail('no commit is refused'),
      onFailed: (error) => {
        throw error;
      },
    });
    if (upgrade !== undefined) this.driver.appendSystemRecord(upgrade);
  }

  /** Waits until nothing happens without time passing, or until the owner dies. */
  async rest(): Promise<void> {
    for (let turns = 0; turns < 3; turns++) {
      await new Promise((resolve) => setImmediate(resolve));
      await this.driver.whenIdle();
    }
  }

  kill(): void {
    this.driver.stop();
  }
}

/** The result of crashing a case at every point. */
export interface CrashCoverage {
  readonly runs: number;
  readonly commits: number;
}

/**
 * Crashes a session at every commit and failpoint, and crashes each resumed session again.
 * @param options `every`: only at one of so many failpoints of a commit, which changes from commit to commit and from run
 * to run. Default: 1, all. `again`: at every later commit and failpoint (`all`), at every later commit at one failpoint, which
 * changes from pair to pair (`one`), or not at all (`none`). Default: `all`.
 */
export async function crashEverywhere(
  crashCase: CrashCase,
  {
    again = 'all',
    every = 1,
  }: { readonly again?: 'all' | 'one' | 'none'; readonly every?: 1 | 2 } = {},
): Promise<CrashCoverage> {
  const compiled = new CompiledCase(crashCase);
  const uncut = await runCase(crashCase, compiled);
  assert.deepEqual(uncut.outcome, crashCase.expected, `${crashCase.name}, uncut`);
  let runs = 1;
  const check = async (
    ...crashes: readonly (readonly [number, Failpoint])[]
  ): Promise<CaseResult> => {
    runs++;
    const cut = await runCase(crashCase, compiled, new Map(crashes));
    const where = crashes.map(([commit, failpoint]) => `${failpoint} ${commit}`).join(', ');
    assert.deepEqual(cut.outcome, uncut.outcome, `${crashCase.name}, cut ${where}`);
    return cut;
  };
  const offset = pickSample(every, crashCase.name);
  for (let first = 1; first <= uncut.commits; first++) {
    for (const [index, failpoint] of failpoints.entries()) {
      if ((first + index + offset) % every !== 0) continue;
      const { commits } = await check([first, failpoint]);
      if (again === 'none') continue;
      for (let second = first + 1; second <= commits; second++) {
        for (const [later, laterFailpoint] of failpoints.entries())
          if (again === 'all' || later === (index + second) % failpoints.length)
            await check([first, failpoint], [second, laterFailpoint]);
      }
    }
  }
  return { runs, commits: uncut.commits };
}
