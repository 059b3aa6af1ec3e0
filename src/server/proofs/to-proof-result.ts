import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';
import type { Wire } from '../wire/component.ts';

/** The result in a line of `petrichor prove --json` that has the type `property`. */
export function toProofResult(line: JsonObject): Wire<'ProofResult'> {
  const { verdict, trace, reason, test } = line;
  return {
    name: toText(line['name']),
    kind: toText(line['kind']),
    text: toText(line['text']),
    verdict: verdict === 'proved' || verdict === 'refuted' ? verdict : 'unknown',
    by: toText(line['by']),
    over: toTexts(line['over']),
    states: Number(line['states']),
    duration_ms: Number(line['durationMs']),
    unreached: toTexts(line['unreached']),
    reason: typeof reason === 'string' ? reason : null,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the trace of this package's own prover
    trace: isJsonObject(trace) ? (trace as unknown as Wire<'ProofTrace'>) : null,
    ...(typeof test === 'string' && { test }),
  };
}

/** The report in the lines of the types `rules` and `report`, which comes last. */
export function toProofReport(
  line: JsonObject,
  before: Wire<'Proof'>['report'],
): NonNullable<Wire<'Proof'>['report']> {
  const isReport = line['type'] === 'report';
  return {
    net_hash: toText(line['hash']),
    places: Number(line['places'] ?? 0),
    transitions: Number(line['transitions'] ?? 0),
    duration_ms: Number(line['durationMs'] ?? 0),
    excluded: toTexts(line['excluded']),
    unfired: toTexts(line['unfired']),
    assumptions: toTexts(line['assumptions']),
    broken_rules: isReport ? (before?.broken_rules ?? []) : toTexts(line['problems']),
  };
}

function toTexts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(toText) : [];
}

export function toText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
