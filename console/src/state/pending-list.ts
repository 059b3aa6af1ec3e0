import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { ConsoleClient } from '../api/console-client.ts';
import type { PendingCall } from '../api/types.ts';
import { batched } from './batched.ts';

/** The calls that wait for a person, of all sessions, the longest waiting first. */
export interface PendingList {
  readonly calls: ReadonlySignal<readonly PendingCall[]>;
  readonly loaded: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<Error | undefined>;
}

/** Follows the calls that wait, until the signal aborts. */
export function followPending(client: ConsoleClient, aborted: AbortSignal): PendingList {
  const byKey = new Map<string, PendingCall>();
  const calls = signal<readonly PendingCall[]>([]);
  const loaded = signal(false);
  const error = signal<Error | undefined>(undefined);
  const publish = batched(() => {
    calls.value = [...byKey.values()].toSorted((a, b) =>
      a.waiting_since.localeCompare(b.waiting_since),
    );
  });
  const follow = async (): Promise<void> => {
    for await (const change of client.pending.watch({ signal: aborted, reconnects: Infinity })) {
      switch (change.type) {
        case 'pending.reset':
          byKey.clear();
          // The calls come again at once: showing an empty list in between would only flicker.
          continue;
        case 'pending.added':
        case 'pending.changed':
          byKey.set(toKey(change.call.session_id, change.call.id), change.call);
          break;
        case 'pending.removed':
          byKey.delete(toKey(change.session_id, change.id));
          break;
        case 'pending.current':
          loaded.value = true;
          break;
      }
      publish();
    }
  };
  follow().catch((cause: unknown) => {
    error.value = cause instanceof Error ? cause : new Error(String(cause));
  });
  return { calls, loaded, error };
}

function toKey(sessionId: string, callId: string): string {
  return `${sessionId} ${callId}`;
}
