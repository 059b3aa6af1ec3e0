import { isJsonObject } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import type { ManagedSession } from '../../managed/index.ts';
import { toSessionRef } from '../events/session-log.ts';
import type { ServerContext } from '../routing/server-context.ts';

/** The place of the session state in every net of agents. */
const STATE_PLACE = 'state';

/** The state of a session as it is now, without what is kept for one turn. */
export async function readState(
  { runtime }: ServerContext,
  session: ManagedSession,
): Promise<JsonObject> {
  const inspection = await runtime.inspect(toSessionRef(session));
  const place = (await inspection.markingAt()).places[STATE_PLACE];
  const entries = place?.kind === 'map' ? place.entries : undefined;
  if (!isJsonObject(entries)) return {};
  return Object.fromEntries(Object.entries(entries).filter(([key]) => !key.startsWith('temp:')));
}
