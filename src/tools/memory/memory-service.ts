import {
  contentText,
  type Content,
  type LogEvent,
  type SessionKey,
  type Timestamp,
} from '../../core/index.ts';

/** Something that was said, as it is remembered. */
export interface MemoryEntry {
  /** Names the entry within its session. */
  readonly id: string;
  readonly author: string;
  readonly at: Timestamp;
  readonly content: Content;
}

/** What is found again across the sessions of a user. */
export interface MemoryService {
  /** Adds what was said in a session. An entry it has already, by session and id, is replaced and not there twice. */
  readonly add: (session: SessionKey, entries: readonly MemoryEntry[]) => Promise<void>;
  /** What fits a query, best first, at most `limit` (10 unless said), from every session of this user in this app. */
  readonly search: (
    owner: Pick<SessionKey, 'appName' | 'userId'>,
    query: string,
    options?: { readonly limit?: number },
  ) => Promise<readonly MemoryEntry[]>;
}

/** What a log holds that is worth remembering: the words of the user and of the agents. */
export function toMemoryEntries(events: Iterable<LogEvent>): readonly MemoryEntry[] {
  const entries: MemoryEntry[] = [];
  for (const event of events) {
    if (event.type !== 'user.message' && event.type !== 'agent.message') continue;
    const { seq, author, at, content } = event;
    if (contentText(content).trim() !== '') entries.push({ id: String(seq), author, at, content });
  }
  return entries;
}
