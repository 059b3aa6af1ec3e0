import type { ContractResult } from './contracts/contract-check.ts';
import type { Property } from './properties/property.ts';
import { drawTrace } from './trace/draw-trace.ts';
import { formatTrace } from './trace/trace.ts';
import type { Trace } from './trace/trace.ts';

/**
 * `proved`: the property holds for everything in `over`. `refuted`: `trace` violates the property, and was replayed on
 * the executor. `unknown`: neither was shown; `reason` explains why.
 */
export type Verdict = 'proved' | 'refuted' | 'unknown';

/** The result for one property. */
export interface PropertyResult {
  readonly property: Property;
  readonly verdict: Verdict;
  /** The method that decided it: a search, a search that also keeps the ages of tokens, or a solver. */
  readonly by: string;
  /** The bounds within which the verdict holds, such as `<= 1 in user.in`. */
  readonly over: readonly string[];
  /** The number of states visited; 0 for a solver. */
  readonly states: number;
  readonly durationMs: number;
  /** For `refuted`: the counterexample. It was replayed on the executor. */
  readonly trace?: Trace;
  /**
   * For `proved`: the transitions that the exploration behind the proof did not fire, although the arcs allow them within
   * the bounds. The property is then proved for the reached part of the net only. The exploration is the search, the
   * views of the contracts, or for a solver the states that were visited before. Not set if there are none.
   */
  readonly unreached?: readonly string[];
  /** For `unknown`: why the property was not decided. */
  readonly reason?: string;
}

/** The results of `prove` for one net. */
export interface ProofReport {
  readonly net: string;
  readonly hash: string;
  readonly places: number;
  readonly transitions: number;
  readonly results: readonly PropertyResult[];
  readonly durationMs: number;
  /**
   * The transitions that the exploration behind a proof did not fire, although the arcs allow them within the bounds. Not
   * set if no proof is based on an exploration.
   */
  readonly unfired?: readonly string[];
  /** The transitions that the bounds exclude by the arcs alone, such as those that take an input that does not come. */
  readonly excluded: readonly string[];
  /** What the proofs take for granted, one sentence each. */
  readonly assumptions: readonly string[];
  /** The results of the contracts of the net's components, if `components` were given and a property needed them. */
  readonly contracts?: readonly ContractResult[];
}

/** The width of a drawn trace: a terminal line of 100 characters minus the indentation. */
const TRACE_WIDTH = 98;

/**
 * True if every property was proved; false without any result. If `strict`, false if a property was proved only for the reached part of the net.
 * Default of `strict`: false.
 */
export function isProved(
  { results }: Pick<ProofReport, 'results'>,
  { strict = false }: { readonly strict?: boolean } = {},
): boolean {
  return (
    results.length > 0 &&
    results.every(
      ({ verdict, unreached }) => verdict === 'proved' && !(strict && unreached !== undefined),
    )
  );
}

/** Formats a report as text for a terminal. */
export function formatReport(report: ProofReport): string {
  const { results } = report;
  const bounds = [...new Set(results.flatMap(({ over }) => over))];
  const bounded = results.filter(({ over }) => over.length > 0);
  const shared = bounds.filter((bound) => bounded.every(({ over }) => over.includes(bound)));
  return [
    ...formatReportStart({ ...report, over: shared }),
    '',
    ...results.flatMap((result) => formatResult(result, shared)),
    '',
    ...formatReportEnd(report),
  ].join('\n');
}

/** What is known of a proof before it runs. */
export interface ProofStart extends Pick<ProofReport, 'net' | 'hash' | 'places' | 'transitions'> {
  /** The bounds of all its properties. */
  readonly over: readonly string[];
}

/** Formats the first lines of a report: the net and the bounds. */
export function formatReportStart(start: ProofStart): readonly string[] {
  const { net, hash, places, transitions, over } = start;
  return [
    `${net} (${hash}): ${places} places and ${transitions} transitions, expanded`,
    `for ${over.length === 0 ? 'any number of tokens' : over.join(', ')}`,
  ];
}

/** Formats the last lines of a report: the verdicts, and what they mean. */
export function formatReportEnd({
  results,
  durationMs,
  contracts = [],
  unfired = [],
  excluded,
  assumptions,
}: ProofReport): readonly string[] {
  const counted = (['proved', 'refuted', 'unknown'] as const)
    .map((verdict) => [results.filter((one) => one.verdict === verdict).length, verdict] as const)
    .filter(([n]) => n > 0)
    .map(([n, verdict]) => `${n} ${verdict}`);
  return [
    ...(contracts.length === 0 ? [] : ['Contracts of the components:']),
    ...contracts.map(formatContract),
    ...(contracts.length === 0 ? [] : ['']),
    `${counted.join(', ') || 'nothing to prove'} in ${seconds(durationMs)}`,
    ...(unfired.length === 0 ? [] : [`Warning: no explored run fires ${unfired.join(', ')}`]),
    ...(excluded.length === 0 ? [] : [`Excluded by the bounds: ${excluded.join(', ')}`]),
    'Proved means: for every order of events, every declared outcome and every failure, if:',
    ...assumptions.map((assumption) => `- ${assumption}`),
  ];
}

/** Formats a result. The bounds that all results share are left out. */
export function formatResult(result: PropertyResult, shared: readonly string[]): readonly string[] {
  const { property, verdict, by, over, states, durationMs, trace, reason, unreached } = result;
  const mark = { proved: '✔', refuted: '✖', unknown: '?' }[verdict];
  const own = over.filter((bound) => !shared.includes(bound));
  const facts = [
    by,
    ...(states > 0 ? [`${states.toLocaleString('en')} states`] : []),
    seconds(durationMs),
    ...own,
  ];
  // Such a run may need outcomes and times that the code never has.
  const isPossible = property.kind === 'canFire' && verdict === 'proved';
  const scope = [
    ...(isPossible ? [' for some declared outcomes and times'] : []),
    ...(unreached === undefined ? [] : [' for the reached part']),
  ].join(',');
  return [
    `${mark} ${property.name}: ${verdict}${scope} (${facts.join(', ')})`,
    ...(reason === undefined ? [] : [`  because ${reason}`]),
    ...(trace === undefined
      ? []
      : [formatTrace(trace), '', drawTrace(trace, { width: TRACE_WIDTH })]
          .join('\n')
          .split('\n')
          .map((line) => `  ${line}`.trimEnd())),
  ];
}

function formatContract(result: ContractResult): string {
  const { component, verdict, states, sameAs, reason } = result;
  const facts =
    sameAs === undefined ? `${states.toLocaleString('en')} states` : `same as ${sameAs}`;
  const because = reason === undefined ? '' : ` because ${reason}`;
  return `${verdict === 'proved' ? '✔' : '?'} ${component}: ${verdict} (${facts})${because}`;
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
