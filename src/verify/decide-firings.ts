import type { Coverage } from './coverage.ts';
import type { ProofRun } from './progress.ts';
import { DEFAULT_SEARCH_TIMEOUT_MS, DEFAULT_STATES } from './properties/bounds.ts';
import type { Bounds } from './properties/bounds.ts';
import { atMost } from './properties/create-property.ts';
import type { CanFire } from './properties/property.ts';
import { ReplayError } from './properties/verify-errors.ts';
import { searchSlices } from './reduction/search-slices.ts';
import { listQuietNets } from './reduction/smaller-bounds.ts';
import { replay } from './replay/replay.ts';
import type { PropertyResult } from './report.ts';
import { findFirings } from './search/find-firings.ts';
import type { ExpandedNet } from './system/expand.ts';
import { TransitionSystem } from './system/transition-system.ts';

/** The runs of a net that are searched for one property visit at most this many states. */
const MAX_STATES = 20_000;

/** What `decideFirings` needs beside the net and the property. */
export interface FiringQuestion {
  readonly bounds: Bounds;
  /** Whether slices of the net may show that a transition never fires. */
  readonly slices: boolean;
}

/**
 * Decides a property that transitions can fire: by runs to their firings, each of which is replayed on the executor, or
 * by a slice of the net in which a transition never fires. Undefined if neither is found.
 */
export async function decideFirings(
  net: ExpandedNet,
  property: CanFire,
  { bounds, slices }: FiringQuestion,
  run: ProofRun,
  coverage: Coverage,
): Promise<PropertyResult | undefined> {
  const startedAt = performance.now();
  const { states: most = DEFAULT_STATES, searchTimeoutMs = DEFAULT_SEARCH_TIMEOUT_MS } = bounds;
  const limits = { states: Math.min(most, MAX_STATES), endsAt: startedAt + searchTimeoutMs };
  const onPause = run.onPause([property]);
  let states = 0;
  const toFacts = (by: string): Omit<PropertyResult, 'verdict'> => ({
    property,
    by,
    over: net.statement,
    states,
    durationMs: performance.now() - startedAt,
  });
  const missing = new Set(property.transitions);
  for (const smaller of [...listQuietNets(net, bounds), net]) {
    const system = new TransitionSystem(smaller, 'ordered');
    const wanted = new Set([...missing].map((name) => net.net.byName.get(name)?.index ?? -1));
    const found = await findFirings(system, wanted, limits, onPause);
    states += found.states;
    for (const { path, begun } of found.runs) {
      if (!isReplayed(system, path)) continue;
      coverage.addBegun(begun);
      for (const t of begun) missing.delete(net.transitions[t]?.name ?? '');
    }
    if (missing.size === 0) return { ...toFacts('search for runs'), verdict: 'proved' };
  }
  if (!slices) return undefined;
  const never: string[] = [];
  for (const name of missing) {
    const found = await searchSlices(net, atMost([name], 0), onPause, most);
    if (found === undefined) continue;
    states += found.states;
    never.push(name);
  }
  if (never.length === 0) return undefined;
  const reason = `never fires: ${never.join(', ')}`;
  return { ...toFacts('search of a slice'), verdict: 'refuted', reason };
}

function isReplayed(system: TransitionSystem, path: Parameters<typeof replay>[1]): boolean {
  try {
    replay(system, path);
    return true;
  } catch (error) {
    if (error instanceof ReplayError) return false;
    throw error;
  }
}
