import { formatProperty, propertyToJson } from '../../verify/index.ts';
import type { Property, PropertyResult } from '../../verify/index.ts';
import { propertyForms } from '../../verify/internal.ts';

/** Explains a property: its text, what it states, and its parameters with their values. */
export function explainProperty(property: Property): readonly string[] {
  const { property: name, ...args } = propertyToJson(property);
  const states = propertyForms.find((form) => form.name === name)?.states ?? '';
  return [
    property.name,
    `  text: ${formatProperty(property)}`,
    `  states: ${states}`,
    ...Object.entries(args).map(([key, value]) => `  ${key}: ${showValue(value)}`),
    '',
  ];
}

function showValue(value: unknown): string {
  const isListOfNames = Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (isListOfNames) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Explains why a property has its verdict. */
export function explainVerdict({ verdict, by, states, trace }: PropertyResult): string {
  if (verdict === 'unknown') return 'It is open: neither a proof nor a counterexample was found.';
  if (verdict === 'refuted')
    return trace === undefined
      ? 'It fails: every state within the bounds was visited, and something that it requires never happens.'
      : `It fails: the executor follows the ${trace.steps.length} steps above, which are a shortest path that the search found.`;
  if (by === 'contracts')
    return 'It holds by contracts: each component was searched alone, against what its neighbors promise.';
  if (states > 0)
    return `It holds: all ${states.toLocaleString('en')} states that the bounds allow were visited, and none violates it.`;
  return `It holds by ${by}: no state needed to be visited.`;
}
