import * as v from 'valibot';
import type { Json } from '../../core/index.ts';
import { HttpError } from '../http/http-error.ts';
import type { Wire } from '../wire/component.ts';
import { toWireTime } from '../wire/wire-schemas.ts';

/**
 * `queued`: waiting for an acknowledgement; `starting`: acknowledged by a worker; `active`: the worker sends
 * heartbeats; `stopping`: the worker was asked to stop; `stopped`: final.
 */
export type WorkState = 'queued' | 'starting' | 'active' | 'stopping' | 'stopped';

/**
 * The tools of one session, run by one worker at a time under a lease. A worker without a heartbeat until `leaseUntil`
 * has lost the item. Times are epoch milliseconds.
 */
export interface WorkItem {
  readonly id: string;
  readonly environmentId: string;
  readonly sessionId: string;
  readonly state: WorkState;
  readonly createdAt: number;
  /** When a worker last claimed it. Missing: not claimed. */
  readonly claimedAt?: number;
  readonly leaseUntil?: number;
  /** Id of the API key that the worker received for it. */
  readonly keyId?: string;
  readonly acknowledgedAt?: number;
  readonly startedAt?: number;
  readonly heartbeatAt?: number;
  /** Idempotency key of the last heartbeat, so that a repeated request does not count as another heartbeat. */
  readonly heartbeatAttempt?: string;
  readonly stopRequestedAt?: number;
  readonly stoppedAt?: number;
  readonly metadata: Readonly<Record<string, string>>;
}

const time = v.exactOptional(v.number());

const workItem: v.GenericSchema<unknown, WorkItem> = v.object({
  id: v.string(),
  environmentId: v.string(),
  sessionId: v.string(),
  state: v.picklist(['queued', 'starting', 'active', 'stopping', 'stopped']),
  createdAt: v.number(),
  claimedAt: time,
  leaseUntil: time,
  keyId: v.exactOptional(v.string()),
  acknowledgedAt: time,
  startedAt: time,
  heartbeatAt: time,
  heartbeatAttempt: v.exactOptional(v.string()),
  stopRequestedAt: time,
  stoppedAt: time,
  metadata: v.record(v.string(), v.string()),
});

/** Parses a stored work item. */
export function parseWorkItem(value: Json): WorkItem {
  return v.parse(workItem, value);
}

export function toWorkItemJson({ metadata, ...item }: WorkItem): Json {
  return { ...item, metadata: { ...metadata } };
}

/** Converts a work item to the format of the HTTP API. `secret` is included only in the response to the claim. */
export function toWireWork(item: WorkItem, secret?: string): Wire<'Work'> {
  const at = (ms: number | undefined): string | null => (ms === undefined ? null : toWireTime(ms));
  return {
    id: item.id,
    type: 'work',
    environment_id: item.environmentId,
    data: { type: 'session', id: item.sessionId },
    state: item.state,
    metadata: { ...item.metadata },
    secret: secret ?? null,
    created_at: toWireTime(item.createdAt),
    acknowledged_at: at(item.acknowledgedAt),
    started_at: at(item.startedAt),
    latest_heartbeat_at: at(item.heartbeatAt),
    stop_requested_at: at(item.stopRequestedAt),
    stopped_at: at(item.stoppedAt),
  };
}

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
