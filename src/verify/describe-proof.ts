import type { CompiledNet } from '../net/index.ts';
import type { Bounds } from './properties/bounds.ts';
import type { ProofStart } from './report.ts';
import { Derivations } from './derivations.ts';
import type { Property } from './properties/property.ts';
import { createMonitor } from './search/property-monitor.ts';
import { expand } from './system/expand.ts';
import { TokenClasses } from './system/token-classes.ts';

/**
 * Describes a proof before it runs.
 * @throws UnknownNameError if a bound names a place that the net does not have.
 * @throws InvalidPropertyError if a bound is invalid.
 */
export function describeProof(net: CompiledNet, bounds: Bounds = {}): ProofStart {
  const { places, transitions, statement } = expand(net, bounds);
  const { name, hash } = net;
  return {
    net: name,
    hash,
    places: places.length,
    transitions: transitions.length,
    over: statement,
  };
}

/**
 * Checks the names of properties before a proof.
 * @throws UnknownNameError if a property names a place or transition that the net does not have.
 */
export function checkNames(net: CompiledNet, properties: readonly Property[]): void {
  const expanded = expand(net);
  const { searched } = new Derivations(net, { properties, reductions: { arcs: false } });
  for (const property of searched) createMonitor(expanded, new TokenClasses(), property);
}
