import type { Property } from '../../src/verify/index.ts';

/**
 * Names two places or events where a property names one with `per` or `until`, in every third property. What is chosen
 * depends on the names alone, so that random nets stay the same.
 */
export function widenNames<P extends Property>(
  property: P,
  places: readonly string[],
  events: readonly string[] = places,
): P {
  return {
    ...property,
    ...('per' in property && { per: widen(property.per, places) }),
    ...('until' in property && { until: widen(property.until, events) }),
  };
}

function widen(name: unknown, names: readonly string[]): unknown {
  const at = names.findIndex((one) => one === name);
  const other = names[(at + 1) % names.length];
  return at < 0 || at % 3 !== 0 || other === name ? name : [name, other];
}
