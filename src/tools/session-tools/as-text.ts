import type { Json } from '../../core/index.ts';

/** Narrows an argument that a JSON Schema has already validated as a string. */
export function asText(argument: Json | undefined): string {
  return typeof argument === 'string' ? argument : '';
}
