import { sha256Hex } from '../../core/index.ts';

/** The mapping of tool names to names that a provider accepts. */
export interface ToolNames {
  /**
   * The name to send. It works for any name, because a conversation may contain calls of removed
   * tools.
   */
  readonly toProvider: (name: string) => string;
  /** The original of a name that the provider sent. An unknown name is returned unchanged. */
  readonly fromProvider: (name: string) => string;
}

const MAX_LENGTH = 64;

/**
 * Maps each tool to a name that every provider accepts: a letter or `_`, then letters, digits, `_`
 * and `-`, at most 64 characters. A valid name is unchanged. An invalid one is sanitized and ends
 * in a hash of the original, so that two names never collide.
 */
export function toolNames(names: readonly string[]): ToolNames {
  const sent = new Map<string, string>();
  const originals = new Map<string, string>();
  // Valid names come first: a sanitized name must not take theirs.
  for (const name of names.toSorted((a, b) => Number(isValidName(b)) - Number(isValidName(a)))) {
    const safeName = unusedName(name, originals);
    sent.set(name, safeName);
    originals.set(safeName, name);
  }
  return {
    toProvider: (name) => sent.get(name) ?? unusedName(name, originals),
    fromProvider: (name) => originals.get(name) ?? name,
  };
}

function isValidName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name);
}

function unusedName(name: string, used: ReadonlyMap<string, string>): string {
  if (isValidName(name) && !used.has(name)) return name;
  const hash = sha256Hex(name);
  const legal = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').replace(/^(?=[^A-Za-z_])/, '_');
  for (let digits = 8; ; digits += 4) {
    const candidate = `${legal.slice(0, MAX_LENGTH - digits - 1)}_${hash.slice(0, digits)}`;
    if (!used.has(candidate)) return candidate;
  }
}
