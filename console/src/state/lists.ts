import { computed } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import { client } from './connection.ts';
import { followPending } from './pending-list.ts';
import type { PendingList } from './pending-list.ts';
import { followSessions } from './session-list.ts';
import type { SessionList } from './session-list.ts';

/** The lists that every screen can show. They are read once, and again when the server or the key changes. */
export interface Lists {
  readonly sessions: SessionList;
  readonly pending: PendingList;
}

let current = new AbortController();

export const lists: ReadonlySignal<Lists> = computed(() => {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  return {
    sessions: followSessions(client.value, signal),
    pending: followPending(client.value, signal),
  };
});
