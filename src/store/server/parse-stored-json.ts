import type { Json } from '../../core/index.ts';

/** Parses JSON text that the store wrote. */
export function parseStoredJson(text: string): Json {
  const value: Json = JSON.parse(text);
  return value;
}
