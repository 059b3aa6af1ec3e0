import { SCHEDULES_SESSION } from '../../core/internal.ts';
import type { SessionKey } from '../../core/index.ts';
import type { Store } from '../../store/index.ts';
import { readStoredSchedule } from './read-stored-schedule.ts';

/** Lists the ids of the sessions to which schedules of a user send messages. */
export async function listScheduledSessions(
  store: Store,
  { appName, userId }: Pick<SessionKey, 'appName' | 'userId'>,
): Promise<ReadonlySet<string>> {
  const rows = await store.list({ appName, userId, parent: SCHEDULES_SESSION });
  const sessions = new Set<string>();
  for (const row of rows) {
    const session = (await readStoredSchedule(store, row))?.definition.session;
    if (session !== undefined) sessions.add(session);
  }
  return sessions;
}
