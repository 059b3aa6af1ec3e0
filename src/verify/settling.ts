import { limitFirings } from '../net/internal.ts';
import type { ProofRun } from './progress.ts';
import { UNLIMITED } from './properties/bounds.ts';
import type { Bounds } from './properties/bounds.ts';
import type { SearchedProperty, Settles } from './properties/property.ts';
import { ReplayError } from './properties/verify-errors.ts';
import { replay } from './replay/replay.ts';
import type { PropertyResult } from './report.ts';
import { findLivelock } from './search/find-livelock.ts';
import { findOrderedPath } from './search/ordered-path.ts';
import { createMonitor, VIOLATED } from './search/property-monitor.ts';
import type { PropertyMonitor } from './search/property-monitor.ts';
import { search } from './search/search.ts';
import type { Path } from './search/search.ts';
import type { ExpandedNet } from './system/expand.ts';
import { boundSettling, isBelowLimit } from './settling-bound.ts';
import { SETTLING } from './system/state.ts';
import type { State } from './system/state.ts';
import { TokenClasses } from './system/token-classes.ts';
import { TransitionSystem } from './system/transition-system.ts';
import { toTrace } from './trace/trace.ts';

const MAYBE_TOO_LONG =
  'every settling ends, but the arcs do not show that it ends before the executor refuses its firings';

/** Whether every settling of a net ends below the limit. A livelock was replayed on the executor. */
type Livelock = { readonly states: number } & (
  | { readonly found: 'no' }
  | { readonly found: 'yes'; readonly path: Path; readonly system: TransitionSystem }
  | { readonly found: 'unknown'; readonly reason: string }
);

/**
 * The limit on the firings of one settling, as part of the model. A net whose settlings all end before it never
 * reaches it. In any other net the executor refuses firings, which are faults that no bound counts, so a proof must hold with them.
 */
export class Settling {
  readonly #net: ExpandedNet;
  readonly #bounds: Bounds;
  readonly #run: ProofRun;
  readonly #endsByStructure: boolean;
  readonly #isLong: boolean;
  #livelock: Promise<Livelock> | undefined;

  constructor(net: ExpandedNet, bounds: Bounds, run: ProofRun) {
    this.#net = net;
    this.#bounds = bounds;
    this.#run = run;
    const bound = boundSettling(net);
    this.#endsByStructure = isBelowLimit(bound);
    this.#isLong =
      bound !== undefined && bound.perToken > SEARCHED && Number.isFinite(bound.perToken);
  }

  /** Decides whether every settling ends. */
  async decide(property: Settles): Promise<PropertyResult> {
    const startedAt = performance.now();
    if (this.#endsByStructure)
      return {
        property,
        verdict: 'proved',
        by: 'structure',
        over: this.#net.statement,
        states: 0,
        durationMs: 0,
      };
    const livelock = await this.#find(property);
    const facts = {
      property,
      by: 'search for livelocks',
      over: this.#net.statement,
      states: livelock.states,
      durationMs: performance.now() - startedAt,
    };
    if (livelock.found === 'no') return { ...facts, verdict: 'proved' };
    return livelock.found === 'yes'
      ? { ...facts, verdict: 'refuted', trace: toTrace(livelock.system, livelock.path) }
      : { ...facts, verdict: 'unknown', reason: livelock.reason };
  }

  /** Checks a proof again with refused firings, if the net may reach the limit. */
  async recheck(property: SearchedProperty, result: PropertyResult): Promise<PropertyResult> {
    // With any number of faults, the search has refused every firing already.
    const isCovered = this.#net.faults === UNLIMITED || this.#endsByStructure;
    if (result.verdict !== 'proved' || isCovered) return result;
    // What can happen can also happen without refused firings.
    if (property.kind === 'settles' || property.kind === 'canFire') return result;
    const startedAt = performance.now();
    const livelock = await this.#find(property);
    if (livelock.found === 'no') return result;
    const tokenClasses = new TokenClasses();
    const monitor = createMonitor(this.#net, tokenClasses, property);
    const { outlets, needsOrder } = monitor;
    const ordering = needsOrder ? 'ordered' : 'unordered';
    const refusing = { refuses: true };
    const system = new TransitionSystem(this.#net, ordering, outlets, tokenClasses, refusing);
    const onPause = this.#run.onPause([property]);
    const { findings, states } = await search(system, [monitor], this.#bounds, onPause);
    const durationMs = result.durationMs + performance.now() - startedAt;
    const facts = { ...result, by: 'search with refused firings', states, durationMs };
    if (findings[0]?.verdict === 'holds') return facts;
    const refused = livelock.found === 'yes' ? refuseFiring(livelock) : undefined;
    if (refused !== undefined) {
      const own = createMonitor(this.#net, refused.system.tokenClasses, property);
      if (own.outlets.size === 0 && isBrokenBy(own, refused) && isReplayed(refused))
        return { ...facts, verdict: 'refuted', trace: toTrace(refused.system, refused.path) };
    }
    const reason =
      'the executor refuses firings after too many in one settling, which this net may reach, and the property may not hold then: prove settles() first';
    return { ...facts, verdict: 'unknown', reason };
  }

  #find(property: SearchedProperty): Promise<Livelock> {
    this.#livelock ??= this.#search(property);
    return this.#livelock;
  }

  async #search(property: SearchedProperty): Promise<Livelock> {
    // The settling ends, and a search of so many firings takes too long.
    if (this.#isLong) return { found: 'unknown', states: 0, reason: MAYBE_TOO_LONG };
    const onPause = this.#run.onPause([property]);
    const tokenClasses = new TokenClasses();
    const unordered = new TransitionSystem(this.#net, 'unordered', new Set(), tokenClasses);
    const ordered = new TransitionSystem(this.#net, 'ordered', new Set(), tokenClasses);
    const first = await findLivelock(unordered, this.#bounds, onPause);
    const { states } = first;
    if (first.found === 'ends') return { found: 'no', states };
    const path = first.found === 'loops' && findOrderedPath(unordered, ordered, first.path);
    if (path !== false && path !== undefined) {
      const livelock = { path, system: ordered };
      if (!isShuffled(path) && isReplayed(livelock)) return { found: 'yes', states, ...livelock };
    }
    const second = await findLivelock(ordered, this.#bounds, onPause);
    if (second.found === 'ends') return { found: 'no', states: second.states };
    if (second.found === 'unknown')
      return { found: 'unknown', states: second.states, reason: second.reason };
    const livelock = { path: second.path, system: ordered };
    const reason = 'a possible livelock does not replay on the executor';
    return isReplayed(livelock)
      ? { found: 'yes', states: second.states, ...livelock }
      : { found: 'unknown', states: second.states, reason };
  }
}

/** A settling that the arcs bound by more firings for each token than this is not searched: it takes too long. */
const SEARCHED = 2_000;

interface SystemPath {
  readonly system: TransitionSystem;
  readonly path: Path;
}

function isReplayed({ system, path }: SystemPath): boolean {
  try {
    replay(system, path);
    return true;
  } catch (error) {
    if (error instanceof ReplayError) return false;
    throw error;
  }
}

function toText({ faults, environment, tokens }: State): string {
  return `${faults}|${environment.join()}|${tokens.join()}`;
}

/** True if the cycle ends with its first state. False if it ends with more tokens. */
function isExact({ states, cycleFrom = 0 }: Path): boolean {
  const [from, to] = [states[cycleFrom], states.at(-1)];
  return from !== undefined && to !== undefined && toText(from) === toText(to);
}

/** True if the cycle ends with the tokens of its first state in another order of age. */
function isShuffled(path: Path): boolean {
  return (
    path.states[path.cycleFrom ?? 0]?.tokens.length === path.states.at(-1)?.tokens.length &&
    !isExact(path)
  );
}

/** Returns the livelock followed by the firing that the executor refuses. Undefined if its tokens are not the same in each lap. */
function refuseFiring({ system, path }: SystemPath): SystemPath | undefined {
  const { states, moves, cycleFrom = 0 } = path;
  if (!isExact(path)) return undefined;
  const lap = moves.length - cycleFrom;
  const at = cycleFrom + (countLeft(system, path) % lap);
  const from = states[at];
  if (from === undefined) return undefined;
  const { net, tokenClasses } = system;
  const refusing = new TransitionSystem(net, 'ordered', new Set(), tokenClasses, {
    refuses: true,
  });
  const refused = refusing
    .successors(from)
    .moves.find(({ kind, t }) => kind === 'faulted' && t === moves[at]?.t);
  if (refused === undefined) return undefined;
  return {
    system,
    path: {
      states: [...states, ...states.slice(cycleFrom + 1, at + 1), refusing.apply(from, refused)],
      moves: [...moves, ...moves.slice(cycleFrom, at), refused],
      cycleFrom,
      cycleTo: moves.length,
      isLivelock: true,
    },
  };
}

/** Returns the number of firings from the beginning of the cycle to the first one that the executor refuses. */
function countLeft(system: TransitionSystem, path: Path): number {
  const { states, cycleFrom = 0 } = path;
  const before = countBefore(system, path);
  return limitFirings(states[cycleFrom - before]?.tokens.length ?? 0) - before;
}

/** Returns the number of firings of the settling before its cycle. */
function countBefore({ net }: TransitionSystem, { moves, cycleFrom = 0 }: Path): number {
  const isTimed = (index: number): boolean =>
    net.transitions[moves[index]?.t ?? -1]?.timed !== 'no' && (moves[index]?.t ?? -1) >= 0;
  if (isTimed(cycleFrom)) return 0;
  let count = 0;
  for (let index = cycleFrom - 1; index >= 0; index--) {
    const isRestart = moves[index]?.kind === 'restarted';
    if (!isRestart && ((moves[index]?.phase ?? 0) & SETTLING) === 0) break;
    count++;
    // The executor settles again when a timer expires or a retry is due.
    if (isRestart || isTimed(index)) break;
  }
  return count;
}

/** True if a livelock with its refused firing violates a property. */
function isBrokenBy(monitor: PropertyMonitor, { system, path }: SystemPath): boolean {
  const { states, moves, cycleFrom = 0, cycleTo = moves.length } = path;
  let memory = monitor.initial;
  const remember = (index: number): boolean => {
    const [state, move] = [states[index], moves[index]];
    if (monitor.next !== undefined && state !== undefined && move !== undefined)
      memory = monitor.next(memory, state, move);
    return memory === VIOLATED;
  };
  for (let index = 0; index < cycleTo; index++) if (remember(index)) return true;
  const lap = cycleTo - cycleFrom;
  const laps = Math.floor(countLeft(system, { states, moves, cycleFrom }) / lap);
  for (let firing = lap; firing < laps * lap; firing++)
    if (remember(cycleFrom + (firing % lap))) return true;
  for (let index = cycleTo; index < moves.length; index++) if (remember(index)) return true;
  const end = states.at(-1);
  if (end === undefined) return false;
  const { view, isStuck } = system.successors(end);
  return monitor.isViolated(view, memory, isStuck);
}
