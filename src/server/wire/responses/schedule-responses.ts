import * as v from 'valibot';
import { component, field } from '../component.ts';
import type { WireSchema } from '../component.ts';
import { count, deletion, page, time } from './response-parts.ts';

const optionalTime = v.nullable(time);

/** A run of a schedule. */
export const scheduleRunResponse: WireSchema<'ScheduleRun'> = component(
  'ScheduleRun',
  'A run of a schedule, or the due times that were missed.',
  v.object({
    id: field(
      'The due time of the run; of a run that a request started, another text.',
      v.string(),
    ),
    type: v.literal('schedule_run'),
    kind: field(
      '`backfill`: its due time was missed. `manual`: a request started it.',
      v.picklist(['scheduled', 'backfill', 'manual']),
    ),
    status: field(
      '`missed`: no process was there at the due times from `due_at` to `missed_to`.',
      v.picklist(['running', 'ended', 'failed', 'skipped', 'replaced', 'missed']),
    ),
    due_at: time,
    missed_to: optionalTime,
    session_id: field('The session that got the message.', v.nullable(v.string())),
    started_at: optionalTime,
    ended_at: field('When its end was noticed.', optionalTime),
    reason: field('Why it ended, was skipped or failed.', v.nullable(v.string())),
  }),
);

/** A page of runs. */
export const scheduleRunPage: WireSchema<'ScheduleRunPage'> = page(
  'ScheduleRunPage',
  scheduleRunResponse,
);

/** A run that was requested. */
export const scheduleRunRequested: WireSchema<'ScheduleRunRequested'> = component(
  'ScheduleRunRequested',
  'The run is due. The list of runs shows what became of it.',
  v.object({ id: v.string(), type: v.literal('schedule_run_requested') }),
);

/** A schedule. */
export const scheduleResponse: WireSchema<'Schedule'> = component(
  'Schedule',
  'Starts sessions, or sends messages to one, by a cron pattern or at an interval.',
  v.object({
    id: v.string(),
    type: v.literal('schedule'),
    cron: v.nullable(v.string()),
    time_zone: field('The IANA time zone of `cron`.', v.nullable(v.string())),
    every_ms: field('The time between two runs, in milliseconds.', v.nullable(count)),
    agent_id: v.string(),
    agent_version: field('Null: the version that the program has.', v.nullable(count)),
    message: v.string(),
    session_id: field(
      'The session that gets the messages. Null: each run starts a session.',
      v.nullable(v.string()),
    ),
    overlap: v.picklist(['skip', 'queue', 'replace']),
    jitter_ms: count,
    backfill: v.picklist(['none', 'last', 'all']),
    max_backfill: count,
    status: field(
      '`ended`: there is no due time any more. `failed`: it has a defect; delete it.',
      v.picklist(['active', 'paused', 'ended', 'failed']),
    ),
    created_at: time,
    next_due_at: optionalTime,
    next_run_at: field('The next due time with its jitter.', optionalTime),
    waiting_runs: field('Runs that wait for the run before them.', count),
    last_run: v.nullable(scheduleRunResponse),
  }),
);

/** A page of schedules. */
export const schedulePage: WireSchema<'SchedulePage'> = page('SchedulePage', scheduleResponse);

/** The response to the deletion of a schedule. */
export const scheduleDeleted: WireSchema<'ScheduleDeleted'> = deletion(
  'ScheduleDeleted',
  'schedule_deleted',
);
