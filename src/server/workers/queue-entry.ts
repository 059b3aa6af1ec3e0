import { omitUndefined } from '../../core/internal.ts';
import { isJsonObject, type Json } from '../../core/index.ts';

/** Document kind of sessions with self-hosted tools that may need a worker because something was sent to them. */
export const QUEUE_ENTRY_KIND = 'work-wanted';
/** An entry is kept at least this long. By then, the session's log has what was sent, and shows whether a worker is needed. */
export const ENTRY_RETENTION_MS = 60_000;

export interface QueueEntry {
  /** When something was sent to the session last, epoch milliseconds. */
  readonly at: number;
  readonly workId: string | undefined;
}

export function parseQueueEntry(value: Json | undefined): QueueEntry {
  const { at, workId } = isJsonObject(value) ? value : {};
  return {
    at: typeof at === 'number' ? at : 0,
    workId: typeof workId === 'string' ? workId : undefined,
  };
}

export function toQueueEntryJson({ at, workId }: QueueEntry): Json {
  return { at, ...omitUndefined({ workId }) };
}
