import type { LogEvent, SessionUid } from '../../core/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import { toMemoryEntries } from '../../tools/index.ts';
import type { MemoryService } from '../../tools/index.ts';

/** The kind of the documents in stored sessions. */
const KIND = 'adk.memory';

/** Deletes the memory cursor of a deleted session. Memory entries are kept. */
export async function deleteMemoryCursor(store: Store, uid: SessionUid): Promise<void> {
  const cursor = await store.document(KIND, uid);
  if (cursor !== undefined)
    await store.writeDocuments([{ kind: KIND, id: uid, version: cursor.version }]);
}

/**
 * Adds a session's new events to the memory. A cursor beside the session records the last ingested event. Events missed
 * because of a crash are added by the next call; an event that is added twice counts once.
 */
export async function ingestMemory(
  store: Store,
  memory: MemoryService,
  { key, uid }: SessionRow,
): Promise<void> {
  const cursor = await store.document(KIND, uid);
  const from = typeof cursor?.value === 'number' ? cursor.value : 0;
  const events: LogEvent[] = [];
  for await (const event of store.read(key, from)) events.push(event);
  const last = events.at(-1);
  if (last === undefined) return;
  await memory.add(key, toMemoryEntries(events));
  await store.writeDocuments([
    { kind: KIND, id: uid, version: cursor?.version ?? 0, value: last.seq },
  ]);
}
