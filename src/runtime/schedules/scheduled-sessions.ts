import { SCHEDULES_SESSION } from '../../core/internal.ts';
import type { SessionKey } from '../../core/index.ts';
import { valuesIn } from '../../net/index.ts';
import { SessionNotFoundError } from '../../store/internal.ts';
import type { Store } from '../../store/index.ts';
import { hydrate } from '../journal/hydrate.ts';
import { scheduleDefinition } from './schedule-places.ts';

/** Lists the ids of the sessions to which schedules of a user send messages. */
export async function listScheduledSessions(
  store: Store,
  { appName, userId }: Pick<SessionKey, 'appName' | 'userId'>,
): Promise<ReadonlySet<string>> {
  const rows = await store.list({ appName, userId, parent: SCHEDULES_SESSION });
  const sessions = new Set<string>();
  for (const { key } of rows) {
    try {
      const [definition] = valuesIn(await hydrate(store, key), scheduleDefinition);
      if (definition?.session !== undefined) sessions.add(definition.session);
    } catch (error) {
      // The schedule was deleted in the meantime.
      if (!(error instanceof SessionNotFoundError)) throw error;
    }
  }
  return sessions;
}
