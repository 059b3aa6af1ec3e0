import type { Json } from '../../core/index.ts';

/** An argument that a JSON Schema has judged to be a text. */
export function asText(argument: Json | undefined): string {
  return typeof argument === 'string' ? argument : '';
}
