import {
  contentText,
  type Content,
  type LogEvent,
  type SessionKey,
  type Timestamp,
} from '../../core/index.ts';

/** One message as a memory service stores it. */
export interface MemoryEntry {
  /** Identifies the entry within its session. */
  readonly id: string;
  readonly author: string;
  readonly at: Timestamp;
  readonly content: Content;
}

/** Long-term memory: finds messages across all sessions of a user. */
export interface MemoryService {
  /** Adds messages of a session. An entry with the same session and id is replaced. */
  readonly add: (session: SessionKey, entries: readonly MemoryEntry[]) => Promise<void>;
  /**
   * Returns the entries that match a query, best first, from every session of this user in this
   * app. `limit` is the largest number of entries. Default: 10.
   */
  readonly search: (
    owner: Pick<SessionKey, 'appName' | 'userId'>,
    query: string,
    options?: { readonly limit?: number },
  ) => Promise<readonly MemoryEntry[]>;
}

/**
 * The messages of the user and the agents in a log, as memory entries. Messages without text are
 * skipped.
 */
export function toMemoryEntries(events: Iterable<LogEvent>): readonly MemoryEntry[] {
  const entries: MemoryEntry[] = [];
  for (const event of events) {
    if (event.type !== 'user.message' && event.type !== 'agent.message') continue;
    const { seq, author, at, content } = event;
    if (contentText(content).trim() !== '') entries.push({ id: String(seq), author, at, content });
  }
  return entries;
}
