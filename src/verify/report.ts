import type { Property } from './properties/property.ts';
import { drawTrace } from './trace/draw-trace.ts';
import { formatTrace } from './trace/trace.ts';
import type { Trace } from './trace/trace.ts';

/**
 * `proved`: it holds for everything the report names. `refuted`: there is a trace, replayed on the executor, that
 * breaks it. `unknown`: neither was shown, and the result says why.
 */
export type Verdict = 'proved' | 'refuted' | 'unknown';

/** What became of one property. */
export interface PropertyResult {
  readonly property: Property;
  readonly verdict: Verdict;
  /** What decided it: a search of all states, one that also keeps the ages of tokens, or a solver. */
  readonly by: string;
  /** What it holds for: the bounds of the search, or what the solver left unbounded. */
  readonly over: readonly string[];
  /** States seen; 0 for a solver. */
  readonly states: number;
  readonly durationMs: number;
  /** For a refutation: how the net comes there. It was replayed on the executor. */
  readonly trace?: Trace;
  /** Why nothing was decided. */
  readonly reason?: string;
}

/** What was proved of a net, over what, by what and in how long. */
export interface ProofReport {
  readonly net: string;
  readonly hash: string;
  readonly places: number;
  readonly transitions: number;
  readonly results: readonly PropertyResult[];
  readonly durationMs: number;
}

/** A report is read in a terminal, and a trace stands two characters in. */
const TRACE_WIDTH = 98;

/** True when every property was proved. */
export function isProved({ results }: ProofReport): boolean {
  return results.every(({ verdict }) => verdict === 'proved');
}

/** The report as a person reads it. */
export function formatReport(report: ProofReport): string {
  const { net, hash, places, transitions, results, durationMs } = report;
  const bounds = [...new Set(results.flatMap(({ over }) => over))];
  const shared = bounds.filter((bound) => results.every(({ over }) => over.includes(bound)));
  const counted = (['proved', 'refuted', 'unknown'] as const)
    .map((verdict) => [results.filter((one) => one.verdict === verdict).length, verdict] as const)
    .filter(([n]) => n > 0)
    .map(([n, verdict]) => `${n} ${verdict}`);
  return [
    `${net} (${hash}): ${places} places and ${transitions} transitions, expanded`,
    `for ${shared.length === 0 ? 'any number of tokens' : shared.join(', ')}`,
    '',
    ...results.flatMap((result) => formatResult(result, shared)),
    '',
    `${counted.join(', ') || 'nothing to prove'} in ${seconds(durationMs)}`,
    'Proved means: for every order of events, every declared outcome and every failure within these bounds; values and times are left out.',
  ].join('\n');
}

function formatResult(result: PropertyResult, shared: readonly string[]): readonly string[] {
  const { property, verdict, by, over, states, durationMs, trace, reason } = result;
  const mark = { proved: '✔', refuted: '✖', unknown: '?' }[verdict];
  const own = over.filter((bound) => !shared.includes(bound));
  const facts = [
    by,
    ...(states > 0 ? [`${states.toLocaleString('en')} states`] : []),
    seconds(durationMs),
    ...own,
  ];
  return [
    `${mark} ${property.name}: ${verdict} (${facts.join(', ')})`,
    ...(reason === undefined ? [] : [`  because ${reason}`]),
    ...(trace === undefined
      ? []
      : [formatTrace(trace), '', drawTrace(trace, { width: TRACE_WIDTH })]
          .join('\n')
          .split('\n')
          .map((line) => `  ${line}`.trimEnd())),
  ];
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
