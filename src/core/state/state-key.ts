import { PetrichorError } from '../errors/petrichor-error.ts';
import { describeValue } from '../validation/describe-value.ts';
import { hasControlCharacter, isLongerInUtf8 } from '../validation/text-checks.ts';

/** The maximum length of a state key with its prefix, in UTF-8 bytes. */
export const MAX_STATE_KEY_LENGTH = 256;

/** The scope of a state key: all sessions of the app, all sessions of the user, this invocation, or this session. */
export type StateScope = 'app' | 'user' | 'temp' | 'session';

/**
 * A state key is invalid. Nothing was written.
 * @remedy Use another key. The message has the rule that the key violates.
 */
export class InvalidStateKeyError extends PetrichorError {
  override readonly code = 'invalid_state_key' as const;
  readonly key: unknown;

  constructor(key: unknown, problem: string) {
    super(`${problem}; it is ${describeValue(key)}. Use another key.`);
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
 * Validates a state key. The rules, in this order: not empty; at most 256 UTF-8 bytes; no `/`, `\` or `..`; no NUL; no
 * other control character; well-formed Unicode. The prefix `session:` is optional and not stored, so the rest must be a
 * session key without a prefix: `session:user:name` is invalid.
 * @throws InvalidStateKeyError
 */
export function validateStateKey(key: string): void {
  const problem = findKeyProblem(key);
  if (problem !== undefined) throw new InvalidStateKeyError(key, problem);
}

/** True for a text that `validateStateKey` accepts. */
export function isStateKey(key: unknown): key is string {
  return findKeyProblem(key) === undefined;
}

/** Returns the scope of a key, by its prefix. `temp_x` has no prefix, so its scope is `session`. */
export function getStateScope(key: string): StateScope {
  return findScopePrefix(key)?.[1] ?? 'session';
}

/** True for a key with the prefix `user:` or `app:`. Its value is shared with other sessions, and the store owns it. */
export function isSharedKey(key: string): boolean {
  const scope = getStateScope(key);
  return scope === 'user' || scope === 'app';
}

/** True for a key with the prefix `temp:`. It is removed when the turn ends. */
export function isTempKey(key: string): boolean {
  return getStateScope(key) === 'temp';
}

/** Returns the normal form of a key: without the prefix `session:`. */
export function normalizeStateKey(key: string): string {
  return key.startsWith('session:') ? key.slice('session:'.length) : key;
}

/** A state key in the form that stores use: its scope, and its name without the prefix. */
export type ScopedStateKey = { readonly scope: StateScope; readonly name: string };

/** Splits a key into its scope and its name within that scope. */
export function parseStateKey(key: string): ScopedStateKey {
  const found = findScopePrefix(key);
  if (found === undefined) return { scope: 'session', name: key };
  return { scope: found[1], name: key.slice(found[0].length) };
}

/** Joins a scope and a name to a key in normal form. The inverse of `parseStateKey`. */
export function formatStateKey(scope: StateScope, name: string): string {
  return scope === 'session' ? name : `${scope}:${name}`;
}

function findKeyProblem(key: unknown): string | undefined {
  if (typeof key !== 'string') return 'state key must be a string';
  if (key === '') return 'state key must not be empty';
  if (isLongerInUtf8(key, MAX_STATE_KEY_LENGTH)) {
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
