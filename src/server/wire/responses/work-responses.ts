import * as v from 'valibot';
import { component, field } from '../component.ts';
import type { WireSchema } from '../component.ts';
import { count, page, pairs, time } from './response-parts.ts';

const state = component(
  'WorkState',
  '`queued`: waits for an acknowledgement; `starting`: acknowledged by a worker; `active`: the worker sends heartbeats; `stopping`: the worker was asked to stop; `stopped`: final.',
  v.picklist(['queued', 'starting', 'active', 'stopping', 'stopped']),
);

/** A work item. */
export const workResponse: WireSchema<'Work'> = component(
  'Work',
  'The tools of one session, run by one worker at a time under a lease.',
  v.object({
    id: v.string(),
    type: v.literal('work'),
    environment_id: v.string(),
    data: v.object({ type: v.literal('session'), id: v.string() }),
    state,
    metadata: pairs,
    secret: field(
      'The key of the worker for this session, in base64url. Null except in the response to the claim.',
      v.nullable(v.string()),
    ),
    created_at: time,
    acknowledged_at: v.nullable(time),
    started_at: v.nullable(time),
    latest_heartbeat_at: v.nullable(time),
    stop_requested_at: v.nullable(time),
    stopped_at: v.nullable(time),
  }),
);

/** A page of work items. */
export const workPage: WireSchema<'WorkPage'> = page('WorkPage', workResponse);

/** The response to a poll: a claimed work item, or null. */
export const workPollResponse: v.GenericSchema<unknown, v.InferOutput<typeof workResponse> | null> =
  v.nullable(workResponse);

/** Numbers of a work queue. */
export const workStats: WireSchema<'WorkQueueStats'> = component(
  'WorkQueueStats',
  'Numbers of the work queue of an environment.',
  v.object({
    type: v.literal('work_queue_stats'),
    depth: field('Sessions that wait for a worker.', count),
    pending: field('Claimed work items that are not acknowledged yet.', count),
    oldest_queued_at: v.nullable(time),
    workers_polling: v.null(),
  }),
);

/** The response to a heartbeat. */
export const workHeartbeat: WireSchema<'WorkHeartbeat'> = component(
  'WorkHeartbeat',
  'The response to a heartbeat.',
  v.object({
    type: v.literal('work_heartbeat'),
    last_heartbeat: field('Pass it as `expected_last_heartbeat` of the next heartbeat.', time),
    lease_extended: field('False: stop working on the session.', v.boolean()),
    state,
    ttl_seconds: field('How long the lease lasts, in seconds.', v.number()),
  }),
);
