import type { SessionKey } from '../../core/index.ts';

/** A string that identifies a session, for use as a key of a Map. */
export function toMapKey({ appName, userId, sessionId }: SessionKey): string {
  return `${appName}\0${userId}\0${sessionId}`;
}
