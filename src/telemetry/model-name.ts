import { readOwn } from '../core/internal.ts';

/**
 * Reads provider and model from a model name such as "google/gemini-2.5-flash". The provider has the name that the
 * conventions use.
 */
export function parseModelName(name: string): {
  readonly provider: string;
  readonly model: string;
} {
  const slash = name.indexOf('/');
  const family = slash === -1 ? name : name.slice(0, slash);
  const known: Readonly<Record<string, string>> = { google: 'gcp.gemini', vertex: 'gcp.vertex_ai' };
  return { provider: readOwn(known, family) ?? family, model: name.slice(slash + 1) };
}
