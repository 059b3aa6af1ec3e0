import * as v from 'valibot';
import type { Json, JsonObject } from '../../core/index.ts';
import { toWireTime } from '../wire/wire-schemas.ts';

/** `queued` until a worker says that it has it, `active` while it says that it is alive, `stopped` for ever. */
export type WorkState = 'queued' | 'starting' | 'active' | 'stopping' | 'stopped';

/**
 * The tools of one session, to be run by one worker at a time. Times are epoch milliseconds. Whose it is, is a lease: a
 * worker that has not been heard of until `leaseUntil` has lost it.
 */
export interface WorkItem {
  readonly id: string;
  readonly environmentId: string;
  readonly sessionId: string;
  readonly state: WorkState;
  readonly createdAt: number;
  /** When it was last given to a worker; missing while nobody has it. */
  readonly claimedAt?: number;
  readonly leaseUntil?: number;
  /** The key that the worker was given for it. */
  readonly keyId?: string;
  readonly acknowledgedAt?: number;
  readonly startedAt?: number;
  readonly heartbeatAt?: number;
  /** The request that the last heartbeat came with: a repetition of it is not another one. */
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

/** As it is kept. */
export function parseWorkItem(value: Json): WorkItem {
  return v.parse(workItem, value);
}

export function toWorkItemJson({ metadata, ...item }: WorkItem): Json {
  return { ...item, metadata: { ...metadata } };
}

/** As clients read it. `secret` is shown to the worker that it is given to, once. */
export function toWireWork(item: WorkItem, secret?: string): JsonObject {
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
