import { HttpError } from '../http/http-error.ts';
import { toWireTime } from '../wire/wire-schemas.ts';
import type { WorkItem } from './work-item.ts';

/** The error of a heartbeat from a worker that no longer holds the session. */
export function leaseLost({ state, heartbeatAt }: WorkItem, ttlMs: number): HttpError {
  return new HttpError(412, 'Another worker now holds this session. Stop working on it.', {
    details: {
      /**
       * Another worker now holds the session that this worker works on.
       * @remedy Stop working on the session.
       */
      error_code: 'heartbeat_precondition_failed',
      current_state: {
        last_heartbeat: heartbeatAt === undefined ? null : toWireTime(heartbeatAt),
        lease_extended: false,
        state,
        ttl_seconds: ttlMs / 1000,
      },
    },
  });
}
