import { sha256Hex } from '../../core/index.ts';

/** The names of tools as a provider sees them. */
export interface ToolNames {
  /** What the provider is told. Any name may be asked for: a conversation may hold calls of tools that are gone. */
  readonly toProvider: (name: string) => string;
  /** What the provider meant. A name it made up comes back as it is. */
  readonly fromProvider: (name: string) => string;
}

const MAX_LENGTH = 64;

/**
 * Gives each tool a name that every provider accepts: a letter or `_`, then letters, digits, `_` and `-`, at most 64.
 * A name that is fine stays; any other is made fine and ends in a hash of itself, so that two never become one.
 */
export function toolNames(names: readonly string[]): ToolNames {
  const sent = new Map<string, string>();
  const originals = new Map<string, string>();
  // Names that need no change come first: they must not lose theirs to one that does.
  for (const name of names.toSorted((a, b) => Number(isFine(b)) - Number(isFine(a)))) {
    const fine = unusedName(name, originals);
    sent.set(name, fine);
    originals.set(fine, name);
  }
  return {
    toProvider: (name) => sent.get(name) ?? unusedName(name, originals),
    fromProvider: (name) => originals.get(name) ?? name,
  };
}

function isFine(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name);
}

function unusedName(name: string, used: ReadonlyMap<string, string>): string {
  if (isFine(name) && !used.has(name)) return name;
  const hash = sha256Hex(name);
  const legal = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').replace(/^(?=[^A-Za-z_])/, '_');
  for (let digits = 8; ; digits += 4) {
    const fine = `${legal.slice(0, MAX_LENGTH - digits - 1)}_${hash.slice(0, digits)}`;
    if (!used.has(fine)) return fine;
  }
}
