import assert from 'node:assert/strict';
import { compile, Driver, Executor, SimulatedClock } from '../../src/net/index.ts';
import type { CompiledNet, Marking, Net, Step, StepOutcome } from '../../src/net/index.ts';
import type { OutletValue } from '../../src/net/engine/check-outputs.ts';
import { Journal } from './journal.ts';
import { SideEffectWorld } from './world.ts';

/** A session to be cut: a net, what comes from outside, and what must come of it however often its owner dies. */
export interface CrashCase {
  readonly name: string;
  readonly net: (world: SideEffectWorld) => Net;
  readonly inputs: readonly {
    readonly at: number;
    readonly place: string;
    readonly value: unknown;
  }[];
  /** The part of the last marking, and of what left the net, that no cut may change; and what it is. */
  readonly outcome: (marking: Marking, left: readonly OutletValue[]) => unknown;
  readonly expected: unknown;
  /** What was decided, once it was: it may never be decided otherwise. */
  readonly winner?: (marking: Marking) => unknown;
  /** How long nobody owns the session after a cut, milliseconds. */
  readonly downtimeMs?: number;
  /** True when nothing may run twice, not even what a cut left unfinished. */
  readonly runsOnce?: true;
}

/**
 * When an owner dies, seen from the commit it is making.
 * - `before-commit`: nothing of it is durable, whatever its effects did.
 * - `in-snapshot`: the step is durable, its snapshot is not: the older one stays.
 * - `after-commit`: it is durable, and its owner never hears of it.
 * - `after-dispatch`: its effects have begun.
 */
export const failpoints = [
  'before-commit',
  'in-snapshot',
  'after-commit',
  'after-dispatch',
] as const;
export type Failpoint = (typeof failpoints)[number];

/** By number of the commit, counted over all owners. */
export type Crashes = ReadonlyMap<number, Failpoint>;

interface CaseResult {
  readonly commits: number;
  readonly outcome: unknown;
  readonly starts: ReadonlyMap<string, number>;
}

/** Lives a session to its end, through every cut. */
export async function runCase(of: CrashCase, cuts: Crashes = new Map()): Promise<CaseResult> {
  const session = new CaseSession(of, cuts);
  while (await session.runOwner()) {
    // Somebody else takes it over.
  }
  const marking = session.journal.hydrate();
  const { starts, completions } = session.world;
  for (const counts of [starts, completions]) {
    for (const [attempt, runs] of counts) assert.equal(runs, 1, `${attempt} ran ${runs} times`);
  }
  if (of.runsOnce === true) {
    assert.deepEqual(
      [...starts.keys()].filter((key) => !key.endsWith(' attempt 1')),
      [],
    );
  }
  return {
    commits: session.commits,
    outcome: of.outcome(marking, session.journal.outlets),
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
  #now = 0;
  #winner: unknown;

  constructor(of: CrashCase, cuts: Crashes) {
    this.#case = of;
    this.#crashes = cuts;
    this.world = new SideEffectWorld(this.journal);
    this.#net = compile(of.net(this.world));
  }

  /** One owner, until nothing is left to do or it dies. @returns true when it died */
  async runOwner(): Promise<boolean> {
    const clock = new SimulatedClock(this.#now);
    const owner = new Owner(this.#net, clock, this.journal, async (step) =>
      this.#commit(step, owner),
    );
    this.world.startOwner(clock);
    this.#take(owner);
    // As its first act it journals that it owns the session, and deals with what the former owner left in flight.
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

  /** Puts what is there by now before the owner, oldest first. */
  #take(owner: Owner): void {
    this.#case.inputs.forEach(({ at, place, value }, inputSeq) => {
      if (at > owner.clock.now() || this.journal.consumed.has(inputSeq) || owner.seen.has(inputSeq))
        return;
      owner.seen.add(inputSeq);
      owner.driver.inject({ place, value, inputSeq });
    });
  }

  #nextInput(owner: Owner): number {
    const left = this.#case.inputs.filter(
      (_, inputSeq) => !owner.seen.has(inputSeq) && !this.journal.consumed.has(inputSeq),
    );
    return Math.min(Number.POSITIVE_INFINITY, ...left.map(({ at }) => at));
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

/** One process's hold on the session. */
class Owner {
  readonly driver: Driver;
  readonly clock: SimulatedClock;
  /** Inputs this owner has taken. */
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
      onRefused: () => assert.fail('nobody refuses'),
      onFailed: (error) => {
        throw error;
      },
    });
  }

  /** Until nothing more happens without time passing, or death. */
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

/** What cutting a case everywhere showed. */
export interface CrashCoverage {
  readonly runs: number;
  readonly commits: number;
}

/** Cuts a session at every commit and failpoint, and, unless once is enough, each resumed one again at every one that follows. */
export async function crashEverywhere(
  of: CrashCase,
  { once = false }: { readonly once?: boolean } = {},
): Promise<CrashCoverage> {
  const uncut = await runCase(of);
  assert.deepEqual(uncut.outcome, of.expected, `${of.name}, uncut`);
  let runs = 1;
  const check = async (...cuts: readonly (readonly [number, Failpoint])[]): Promise<CaseResult> => {
    runs++;
    const cut = await runCase(of, new Map(cuts));
    const where = cuts.map(([commit, failpoint]) => `${failpoint} ${commit}`).join(', ');
    assert.deepEqual(cut.outcome, uncut.outcome, `${of.name}, cut ${where}`);
    return cut;
  };
  for (let first = 1; first <= uncut.commits; first++) {
    for (const failpoint of failpoints) {
      const { commits } = await check([first, failpoint]);
      if (once) continue;
      for (let second = first + 1; second <= commits; second++) {
        for (const again of failpoints) await check([first, failpoint], [second, again]);
      }
    }
  }
  return { runs, commits: uncut.commits };
}
