import { omitUndefined } from '../../core/internal.ts';
import type { JsonObject } from '../../core/index.ts';
import type { Session } from './session.ts';
import { SessionExistsError } from './session-errors.ts';
import type { SessionAddress, SessionService } from './session-service.ts';

/**
 * Returns the session without its events, and creates it if it does not exist. When several callers create it at the
 * same time, all get the same session, with the `state` of the caller that created it.
 */
export async function ensureSession(
  service: SessionService,
  address: SessionAddress,
  state?: JsonObject,
): Promise<Session> {
  const read = async (): Promise<Session | undefined> =>
    service.getSession({ ...address, config: { numRecentEvents: 0 } });
  const found = await read();
  if (found !== undefined) return found;
  try {
    return await service.createSession({ ...address, ...omitUndefined({ state }) });
  } catch (error) {
    const created = error instanceof SessionExistsError ? await read() : undefined;
    if (created === undefined) throw error;
    return created;
  }
}
