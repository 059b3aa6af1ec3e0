import type { CreationPosition, SessionRow } from '../../store/index.ts';

/** The cursor of a session in a list by creation. */
export function toListCursor({ createdAt, key: { userId, sessionId } }: SessionRow): string {
  return `${createdAt}/${encodeURIComponent(userId)}/${sessionId}`;
}

/** Undefined: the text is no such cursor. */
export function parseListCursor(cursor: string, appName: string): CreationPosition | undefined {
  const [, at, user, sessionId] = /^(\d{1,15})\/([^/]+)\/(.+)$/s.exec(cursor) ?? [];
  if (at === undefined || user === undefined || sessionId === undefined) return undefined;
  try {
    return {
      createdAt: Number(at),
      key: { appName, userId: decodeURIComponent(user), sessionId },
    };
  } catch {
    return undefined;
  }
}
