import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { SessionId } from './ids.ts';
import { hasControlCharacter, isLongerInUtf8 } from '../validation/text-checks.ts';

/** The full key of a session. Sessions with equal ids of different users or apps are different sessions. */
export type SessionKey = {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: SessionId;
};

/** The maximum length of each part of a session key, in UTF-8 bytes. */
export const MAX_IDENTITY_LENGTH = 512;

/**
 * Validates a session key. Each part must be a well-formed string of 1 to 512 UTF-8 bytes without control characters.
 * @throws InvalidInputError with the name of the invalid part.
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
 * Validates one part of a session key, or another name with the same limits.
 * @param field the name of the part in the error.
 * @throws InvalidInputError
 */
export function parseIdentity(value: unknown, field: string): string {
  if (typeof value !== 'string') throw new InvalidInputError(field, 'must be a string.');
  if (value === '') throw new InvalidInputError(field, 'must not be empty.');
  if (isLongerInUtf8(value, MAX_IDENTITY_LENGTH)) {
    throw new InvalidInputError(field, `must be at most ${MAX_IDENTITY_LENGTH} bytes.`);
  }
  if (hasControlCharacter(value)) {
    throw new InvalidInputError(field, 'must not contain control characters.');
  }
  if (!value.isWellFormed()) throw new InvalidInputError(field, 'must be well-formed Unicode.');
  return value;
}

/** Formats a valid session key as one line of text. Different keys give different texts. */
export function formatSessionKey({ appName, userId, sessionId }: SessionKey): string {
  return `${encodePart(appName)}/${encodePart(userId)}/${encodePart(sessionId)}`;
}

/** Encoding takes ten times as long as this test, most ids need none, and a key is formatted many times in a turn. */
function encodePart(part: string): string {
  return /^[\w.-]*$/.test(part) ? part : encodeURIComponent(part);
}
