import { omitUndefined } from '../core/internal.ts';
import type { Coverage } from './coverage.ts';
import type { ProofRun } from './progress.ts';
import { DEFAULT_STATES } from './properties/bounds.ts';
import type { Bounds } from './properties/bounds.ts';
import type { SearchedProperty } from './properties/property.ts';
import type { PropertyResult } from './report.ts';
import { search } from './search/search.ts';
import { encodeProperty } from './smt/encode.ts';
import { anySolver } from './smt/solver.ts';
import type { Solver, SolverLimits } from './smt/solver.ts';
import type { ExpandedNet } from './system/expand.ts';
import { TransitionSystem } from './system/transition-system.ts';

/** The number of states to visit for a proof that needs none, to see which transitions can fire. */
const STATES_FOR_COVERAGE = 5_000;

/** The solver to ask, and its limits. */
export interface SolverOptions {
  readonly bounds?: Bounds;
  readonly solver?: Solver;
  readonly solverLimits?: SolverLimits;
  readonly signal?: AbortSignal;
}

/**
 * Asks the solver about a property, first for any number of tokens from outside, then within the bounds if it is still
 * undecided. Returns its proof, or otherwise the result before.
 */
export async function decideBySolver(
  net: ExpandedNet,
  property: SearchedProperty,
  before: PropertyResult,
  options: SolverOptions,
  run: ProofRun,
  coverage: Coverage,
): Promise<PropertyResult> {
  const { solver = anySolver(), solverLimits = {}, signal, bounds = {} } = options;
  const startedAt = performance.now();
  const bounded = before.verdict === 'unknown' && net.environment.length > 0;
  const reasons: string[] = before.reason === undefined ? [] : [before.reason];
  /** Returns the transitions that no search fired. Without a search so far, the first states are visited for it. */
  const exploreBriefly = async (): Promise<readonly string[]> => {
    if (!coverage.isExplored) {
      const system = new TransitionSystem(net, 'unordered');
      const states = Math.min(bounds.states ?? DEFAULT_STATES, STATES_FOR_COVERAGE);
      coverage.add(await search(system, [], { ...bounds, states }, run.onPause([])));
    }
    return coverage.addWithoutSearch();
  };
  for (const boundedEnvironment of bounded ? [false, true] : [false]) {
    if (run.endReason !== undefined) break;
    const query = encodeProperty(net, property, boundedEnvironment);
    if ('reason' in query) {
      reasons.push(query.reason);
      break;
    }
    const solved = await solver.ask(query.text, omitUndefined({ signal, ...solverLimits }));
    const durationMs = before.durationMs + performance.now() - startedAt;
    if (solved.answer === 'sat') {
      const { by } = solved;
      const { over } = query;
      const { states } = before;
      // A proof beyond the bounds keeps what the search within them reached.
      const { unreached = before.verdict === 'proved' ? [] : await exploreBriefly() } = before;
      return {
        property,
        verdict: 'proved',
        by,
        over,
        states,
        durationMs,
        ...(unreached.length > 0 && { unreached }),
      };
    }
    reasons.push(
      solved.answer === 'unsat'
        ? 'the solver ignores keys, ages and phases and found a possible violation, which is inconclusive'
        : `${solved.by}: ${solved.reason}`,
    );
  }
  if (before.verdict !== 'unknown') return before;
  const durationMs = before.durationMs + performance.now() - startedAt;
  const reason = run.endReason ?? [...new Set(reasons)].join('; ');
  return { ...before, durationMs, reason };
}
