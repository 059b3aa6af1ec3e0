import { isChildSessionId, rootSessionId } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { Store } from '../../store/index.ts';

/** How much of a store a session takes, with the sessions of the agents that it called. */
export interface SessionSize {
  readonly key: SessionKey;
  readonly agent: string;
  readonly steps: number;
  /** Bytes of its records as JSON. */
  readonly journalBytes: number;
  /** Bytes of its events as JSON. */
  readonly logBytes: number;
  /** Bytes of its snapshot, its inputs and its row as JSON. */
  readonly otherBytes: number;
  /** The sum of the bytes. */
  readonly bytes: number;
}

type Counting = { -readonly [Name in keyof SessionSize]: SessionSize[Name] };

/**
 * Measures the sessions of a store, the largest first. Reads everything once, as of one moment. The bytes are those of a
 * backup before compression: a database takes less where it compresses or shares long strings, and more for indexes.
 */
export async function measureSessions(store: Store): Promise<readonly SessionSize[]> {
  const sizes = new Map<string, Counting>();
  let current: Counting | undefined;
  const add = (part: 'journalBytes' | 'logBytes' | 'otherBytes', value: unknown): void => {
    if (current === undefined) return;
    const bytes = Buffer.byteLength(JSON.stringify(value));
    current[part] += bytes;
    current.bytes += bytes;
  };
  for await (const item of store.exportItems()) {
    if (item.type === 'session') {
      current = findSize(sizes, item.key);
      if (!isChildSessionId(item.key.sessionId)) current.agent = item.agent;
      add('otherBytes', item);
    } else if (item.type === 'step') {
      if (current !== undefined) current.steps++;
      add('journalBytes', item.records);
      add('logBytes', item.events);
    } else if (item.type === 'snapshot' || item.type === 'input') add('otherBytes', item);
    else current = undefined;
  }
  return [...sizes.values()].toSorted((one, other) => other.bytes - one.bytes);
}

function findSize(sizes: Map<string, Counting>, key: SessionKey): Counting {
  const root = { ...key, sessionId: rootSessionId(key.sessionId) };
  const name = JSON.stringify([root.appName, root.userId, root.sessionId]);
  const empty = { steps: 0, journalBytes: 0, logBytes: 0, otherBytes: 0, bytes: 0 };
  const size = sizes.get(name) ?? { key: root, agent: '', ...empty };
  sizes.set(name, size);
  return size;
}
