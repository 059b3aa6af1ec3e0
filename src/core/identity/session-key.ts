import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { SessionId } from './ids.ts';
import { hasControlCharacter, utf8Length } from '../validation/text-checks.ts';

/** What names a session. Equal ids of different users or apps never meet. */
export type SessionKey = {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: SessionId;
};

/** In UTF-8 bytes, inclusive, for each of the three parts. */
export const MAX_IDENTITY_LENGTH = 512;

/**
 * Reads a session key: each part is a well-formed string, not empty, at most 512 bytes, without control characters.
 * @throws InvalidInputError naming the part.
 */
export function parseSessionKey(value: unknown): SessionKey {
  if (typeof value !== 'object' || value === null) {
    throw new InvalidInputError('sessionKey', 'must be { appName, userId, sessionId }.');
  }
  const key = value as Partial<Record<keyof SessionKey, unknown>>;
  return {
    appName: parseIdentity(key.appName, 'appName'),
    userId: parseIdentity(key.userId, 'userId'),
    sessionId: parseIdentity(key.sessionId, 'sessionId'),
  };
}

/**
 * Reads one part of a session key, or any other name held to the same limits.
 * @param field names the part in the error.
 * @throws InvalidInputError
 */
export function parseIdentity(value: unknown, field: string): string {
  if (typeof value !== 'string') throw new InvalidInputError(field, 'must be a string.');
  if (value === '') throw new InvalidInputError(field, 'must not be empty.');
  if (utf8Length(value) > MAX_IDENTITY_LENGTH) {
    throw new InvalidInputError(field, `must be at most ${MAX_IDENTITY_LENGTH} bytes.`);
  }
  if (hasControlCharacter(value)) {
    throw new InvalidInputError(field, 'must not contain control characters.');
  }
  if (!value.isWellFormed()) throw new InvalidInputError(field, 'must be well-formed Unicode.');
  return value;
}

/** One line of text for a key that `parseSessionKey` accepted: different keys give different text. */
export function formatSessionKey({ appName, userId, sessionId }: SessionKey): string {
  return `${encodeURIComponent(appName)}/${encodeURIComponent(userId)}/${encodeURIComponent(sessionId)}`;
}
