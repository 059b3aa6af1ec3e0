import { omitUndefined } from '../core/internal.ts';
import type { CompiledNet } from '../net/index.ts';
import { ContractCheck } from './contracts/contract-check.ts';
import type { ContractResult } from './contracts/contract-check.ts';
import type { ComponentTree } from './contracts/contract.ts';
import { findEndlessTransitions } from './contracts/settles.ts';
import { ProofRun } from './progress.ts';
import { DEFAULT_SEARCH_TIMEOUT_MS, DEFAULT_STATES } from './properties/bounds.ts';
import type { Property } from './properties/property.ts';
import { prove } from './prove.ts';
import type { ProveOptions } from './prove.ts';
import type { ProofReport, PropertyResult } from './report.ts';
import { expand } from './system/expand.ts';

/** The argument of `proveByContracts`. */
export interface ContractProveOptions extends ProveOptions {
  /** The components of the net and their contracts. */
  readonly components: ComponentTree;
}

/** The report of `proveByContracts`. */
export interface ContractProofReport extends ProofReport {
  /** The results of the contracts, in the order in which they were checked. Empty if none was needed. */
  readonly contracts: readonly ContractResult[];
}

/**
 * Proves properties of a net through the contracts of its components: each component is searched alone, against what its
 * neighbors promise. A property that does not follow from the contracts is decided by `prove` on the whole net, and so
 * are all properties if a contract does not hold. The verdicts have the same meaning and the same bounds.
 * @throws UnknownNameError if a property, a bound or a component names a place or transition that the net does not have.
 * @throws InvalidPropertyError if a bound is invalid.
 */
export async function proveByContracts(
  net: CompiledNet,
  options: ContractProveOptions,
): Promise<ContractProofReport> {
  const startedAt = performance.now();
  const { components, ...rest } = options;
  const { properties, bounds = {} } = rest;
  const expanded = expand(net, bounds);
  const run = new ProofRun(options);
  const check = new ContractCheck(expanded, components, {
    states: bounds.states ?? DEFAULT_STATES,
    endsAt: startedAt + (bounds.searchTimeoutMs ?? DEFAULT_SEARCH_TIMEOUT_MS),
    ...omitUndefined({ signal: options.signal }),
  });
  const endless = findEndlessTransitions(expanded);
  // A view does not count firings, so it does not see the limit of a settling.
  const contracts: readonly ContractResult[] =
    endless.length === 0
      ? check.prove()
      : [
          {
            component: net.name,
            verdict: 'unknown',
            states: 0,
            reason: `the arcs do not show that it settles: ${endless.join(', ')} may fire without end`,
          },
        ];
  const proved = new Map<Property, PropertyResult>();
  let before = startedAt;
  let states = contracts.reduce((all, one) => all + one.states, 0);
  for (const property of properties) {
    const decision = check.decide(property);
    const now = performance.now();
    if (!decision.holds) continue;
    const result: PropertyResult = {
      property,
      verdict: 'proved',
      by: 'contracts',
      over: expanded.statement,
      states: decision.states + states,
      durationMs: now - before,
    };
    before = now;
    states = 0;
    proved.set(property, result);
    run.report(result);
  }
  const open = properties.filter((property) => !proved.has(property));
  const whole = open.length === 0 ? undefined : await prove(net, { ...rest, properties: open });
  const results = [...proved.values(), ...(whole?.results ?? [])];
  return {
    net: net.name,
    hash: net.hash,
    places: expanded.places.length,
    transitions: expanded.transitions.length,
    results: properties.flatMap((property) => results.find((one) => one.property === property) ?? []),
    durationMs: performance.now() - startedAt,
    contracts,
  };
}
