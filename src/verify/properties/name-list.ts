/** The name of a place or an event, or the names of several, each of which counts. */
export type NameOrNames = string | readonly string[];

/** Lists the names; none if they are missing. */
export function listNames(names: NameOrNames | undefined): readonly string[] {
  if (names === undefined) return [];
  return typeof names === 'string' ? [names] : names;
}
