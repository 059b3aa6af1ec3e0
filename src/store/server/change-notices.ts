import type { SessionKey } from '../../core/index.ts';
import type { OwnerId } from '../store.ts';

/** What a commit tells the other processes. */
export interface ChangeNotice {
  /** The store object that committed. */
  readonly writer: string;
  /** `any`: unknown sessions. A process of an earlier release sends it. */
  readonly changed: 'any' | readonly ChangedSession[];
}

export interface ChangedSession {
  readonly key: SessionKey;
  /** For a session that got an input: its owner, null without one. Undefined for other changes. */
  readonly inputFor?: OwnerId | null | undefined;
}

/** PostgreSQL notifies with payloads of less than 8000 bytes. */
const MAX_BYTES = 7900;

type EncodedSession = readonly [app: string, user: string, session: string, owner?: string | null];

/**
 * Encodes the changes of one commit as few payloads of at most `maxBytes`. A process of an earlier release sees that each is
 * not its own name, and reads everything again.
 */
export function toNoticePayloads(
  writer: string,
  changed: readonly ChangedSession[],
  maxBytes: number = MAX_BYTES,
): readonly string[] {
  const payloads: string[] = [];
  let page: string[] = [];
  let bytes = 0;
  const encode = (sessions: readonly string[]): string =>
    `[${[JSON.stringify(writer), ...sessions].join()}]`;
  for (const { key, inputFor } of changed) {
    const encoded: EncodedSession = [key.appName, key.userId, key.sessionId];
    const session = JSON.stringify(inputFor === undefined ? encoded : [...encoded, inputFor]);
    const size = Buffer.byteLength(session) + 1;
    // An id that is longer than a payload is not named.
    if (size > maxBytes) return [encode([])];
    if (bytes + size > maxBytes) {
      payloads.push(encode(page));
      page = [];
      bytes = 0;
    }
    page.push(session);
    bytes += size;
  }
  return [...payloads, encode(page)];
}

export function parseNoticePayload(payload: string): ChangeNotice {
  // A process of an earlier release sends its name only.
  if (!payload.startsWith('[')) return { writer: payload, changed: 'any' };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `toNoticePayloads`
  const [writer, ...sessions] = JSON.parse(payload) as readonly [string, ...EncodedSession[]];
  if (sessions.length === 0) return { writer, changed: 'any' };
  return {
    writer,
    changed: sessions.map(([appName, userId, sessionId, inputFor]) => ({
      key: { appName, userId, sessionId },
      inputFor,
    })),
  };
}
