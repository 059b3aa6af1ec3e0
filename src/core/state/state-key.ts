import { PetrichorError } from '../errors/petrichor-error.ts';
import { hasControlCharacter, utf8Length } from '../validation/text-checks.ts';

/** In UTF-8 bytes, inclusive, prefix included. */
export const MAX_STATE_KEY_LENGTH = 256;

/** Who sees a state key: everybody of the app, one user, this invocation only, or this session. */
export type StateScope = 'app' | 'user' | 'temp' | 'session';

/** A key that state refuses. Nothing was written: use another key. */
export class InvalidStateKeyError extends PetrichorError {
  override readonly code = 'invalid_state_key' as const;
  readonly key: unknown;

  constructor(key: unknown, problem: string) {
    super(problem);
    this.key = key;
  }
}

const SCOPE_PREFIXES: readonly (readonly [prefix: string, scope: StateScope])[] = [
  ['app:', 'app'],
  ['user:', 'user'],
  ['temp:', 'temp'],
  ['session:', 'session'],
];

/**
 * Accepts a state key or throws. The rules, in this order: not empty; at most 256 bytes; no `/`, `\` or `..`;
 * no NUL; no other control character. `session:` is a way to write a session key and is stored without it, so what
 * follows it must be a session key by itself: `session:user:name` is refused.
 * @throws InvalidStateKeyError
 */
export function validateStateKey(key: string): void {
  const problem = findKeyProblem(key);
  if (problem !== undefined) throw new InvalidStateKeyError(key, problem);
}

/** The scope a key belongs to, by its prefix. `temp_x` has none: it is an ordinary session key. */
export function getStateScope(key: string): StateScope {
  return findScopePrefix(key)?.[1] ?? 'session';
}

/** The key as it is written everywhere after it came in: without an explicit `session:`. */
export function normalizeStateKey(key: string): string {
  return key.startsWith('session:') ? key.slice('session:'.length) : key;
}

/** A key as a store keeps it: its scope, and its name without the prefix. */
export type ScopedStateKey = { readonly scope: StateScope; readonly name: string };

/** Splits a key into its scope and the name kept in that scope. */
export function parseStateKey(key: string): ScopedStateKey {
  const found = findScopePrefix(key);
  if (found === undefined) return { scope: 'session', name: key };
  return { scope: found[1], name: key.slice(found[0].length) };
}

/** The inverse of `parseStateKey`, in normal form. */
export function formatStateKey(scope: StateScope, name: string): string {
  return scope === 'session' ? name : `${scope}:${name}`;
}

function findKeyProblem(key: unknown): string | undefined {
  if (typeof key !== 'string') return 'state key must be a string';
  if (key === '') return 'state key must not be empty';
  if (utf8Length(key) > MAX_STATE_KEY_LENGTH) {
    return `state key exceeds maximum length of ${MAX_STATE_KEY_LENGTH} bytes`;
  }
  if (/[/\\]|\.\./.test(key)) return "state key must not contain path separators or '..'";
  if (key.includes('\0')) return 'state key must not contain null bytes';
  if (hasControlCharacter(key)) return 'state key must not contain control characters';
  if (!key.isWellFormed()) return 'state key must be well-formed Unicode';
  return key.startsWith('session:') ? findSessionNameProblem(normalizeStateKey(key)) : undefined;
}

function findSessionNameProblem(name: string): string | undefined {
  if (name === '') return 'state key must not be empty after "session:"';
  if (findScopePrefix(name) !== undefined) return 'state key must have one scope prefix';
  return undefined;
}

function findScopePrefix(key: string): readonly [prefix: string, scope: StateScope] | undefined {
  return SCOPE_PREFIXES.find(([prefix]) => key.startsWith(prefix));
}
