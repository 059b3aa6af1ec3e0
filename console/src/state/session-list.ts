import { signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { ConsoleClient } from '../api/console-client.ts';
import type { SessionRow } from '../api/types.ts';
import { untilReached } from '../api/until-reached.ts';
import { batched } from './batched.ts';

/** All sessions of the workspace, kept current by one stream. */
export interface SessionList {
  readonly rows: ReadonlySignal<readonly SessionRow[]>;
  readonly loaded: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<Error | undefined>;
}

/** Sessions per page: the most that the server sends. */
const PAGE = 1000;

/** Reads the list, and then its changes, until the signal aborts. */
export function followSessions(client: ConsoleClient, aborted: AbortSignal): SessionList {
  const byId = new Map<string, SessionRow>();
  const rows = signal<readonly SessionRow[]>([]);
  const loaded = signal(false);
  const error = signal<Error | undefined>(undefined);
  const publish = batched(() => {
    rows.value = [...byId.values()].toSorted((a, b) => b.updated_at.localeCompare(a.updated_at));
  });
  const list = async (): Promise<void> => {
    for await (const session of client.sessions.list({ limit: PAGE, include_archived: true })) {
      // A change that arrived before its row is listed may be newer than the row.
      if ((byId.get(session.id)?.updated_at ?? '') <= session.updated_at)
        byId.set(session.id, session);
      publish();
      // The first rows are shown while the rest is read.
      loaded.value = true;
      if (aborted.aborted) return;
    }
    loaded.value = true;
  };
  const follow = async (): Promise<void> => {
    const changes = client.sessions.changes({ signal: aborted, reconnects: Infinity });
    for await (const { change } of changes) {
      if (change.type === 'sessions.changed') byId.set(change.session.id, change.session);
      else if (change.type === 'sessions.deleted') byId.delete(change.id);
      publish();
    }
  };
  Promise.all([untilReached(list, aborted), follow()]).catch((cause: unknown) => {
    error.value = cause instanceof Error ? cause : new Error(String(cause));
  });
  return { rows, loaded, error };
}
