import { omitUndefined } from '../core/internal.ts';
import { ContractCheck } from './contracts/contract-check.ts';
import type { ContractResult } from './contracts/contract-check.ts';
import type { ComponentTree } from './contracts/contract.ts';
import type { Coverage } from './coverage.ts';
import type { ProofRun } from './progress.ts';
import { DEFAULT_SEARCH_TIMEOUT_MS, DEFAULT_STATES } from './properties/bounds.ts';
import type { Bounds } from './properties/bounds.ts';
import type { SearchedProperty } from './properties/property.ts';
import type { PropertyResult } from './report.ts';
import { boundSettling, isBelowLimit } from './settling-bound.ts';
import type { ExpandedNet } from './system/expand.ts';

/** What `decideByContracts` needs beside the net. */
export interface ContractQuestion {
  readonly components: ComponentTree;
  readonly properties: readonly SearchedProperty[];
  readonly bounds: Bounds;
  readonly signal: AbortSignal | undefined;
}

/** What follows from the contracts of a net's components. */
export interface ContractAnswer {
  readonly contracts: readonly ContractResult[];
  /** The results of the properties that are proved. */
  readonly proved: readonly (readonly [SearchedProperty, PropertyResult])[];
}

/**
 * Proves the contracts of a net's components, and the properties that follow from them. Nothing follows if a contract
 * is not proved.
 * @throws UnknownNameError if a component names a place or transition that the net does not have.
 */
export async function decideByContracts(
  net: ExpandedNet,
  { components, properties, bounds, signal }: ContractQuestion,
  run: ProofRun,
  coverage: Coverage,
): Promise<ContractAnswer> {
  const pause = run.onPause(properties);
  let startedAt = performance.now();
  const check = new ContractCheck(net, components, {
    states: Math.min(bounds.states ?? DEFAULT_STATES, DEFAULT_STATES),
    endsAt: startedAt + (bounds.searchTimeoutMs ?? DEFAULT_SEARCH_TIMEOUT_MS),
    ...omitUndefined({ signal }),
  });
  // A view does not count firings, so it does not see the limit of a settling.
  if (!isBelowLimit(boundSettling(net))) {
    const reason =
      'the arcs do not show that a settling ends before the executor refuses its firings';
    return {
      contracts: [{ component: net.net.name, verdict: 'unknown', states: 0, reason }],
      proved: [],
    };
  }
  const contracts: ContractResult[] = [];
  let states = 0;
  for (const result of check.prove()) {
    contracts.push(result);
    states += result.states;
    if ((await pause(states)) !== undefined) return { contracts, proved: [] };
  }
  const unreached = contracts.every(({ verdict }) => verdict === 'proved')
    ? coverage.addViews(check.unfired)
    : [];
  const proved: [SearchedProperty, PropertyResult][] = [];
  // The first property gets the states and the time of the contracts.
  for (const property of properties) {
    const decision = check.decide(property);
    const now = performance.now();
    if (decision.holds) {
      states += decision.states;
      const result: PropertyResult = {
        property,
        verdict: 'proved',
        by: 'contracts',
        over: net.statement,
        states,
        durationMs: now - startedAt,
        ...(unreached.length > 0 && { unreached }),
      };
      proved.push([property, result]);
      run.report(result);
      startedAt = now;
      states = 0;
    }
    if ((await pause(states)) !== undefined) break;
  }
  return { contracts, proved };
}
