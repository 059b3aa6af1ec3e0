import type { JsonObject } from '../../core/index.ts';
import type { Session } from './session.ts';
import { SessionExistsError } from './session-errors.ts';
import type { SessionAddress, SessionService } from './session-service.ts';

/**
 * Reads the session without its events, or creates it when there is none. When several callers create it at once, one
 * does and all get that session; `state` counts for the one that creates it.
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
    return await service.createSession({ ...address, ...(state !== undefined && { state }) });
  } catch (error) {
    const created = error instanceof SessionExistsError ? await read() : undefined;
    if (created === undefined) throw error;
    return created;
  }
}
