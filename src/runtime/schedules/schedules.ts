import { optionTable } from '../../core/internal.ts';
import type { OptionTable } from '../../core/internal.ts';
import type { ScheduleDefinition, StoredSchedule } from './schedule-definition.ts';
import type { ScheduledRun } from './schedule-places.ts';

/** `ended`: there is no due time any more. `failed`: the schedule has a defect and does nothing; delete it. */
export type ScheduleStatus = 'active' | 'paused' | 'ended' | 'failed';

/** A schedule. Times are epoch ms. */
export interface Schedule extends StoredSchedule {
  readonly user: string;
  readonly status: ScheduleStatus;
  readonly createdAt: number;
  /** The next due time. Null: there is none, or the schedule is paused. */
  readonly nextDueAt: number | null;
  /** When its run begins: the due time with the jitter. */
  readonly nextRunAt: number | null;
  /** The runs that wait for the run before them. */
  readonly waiting: number;
  /** The last run. Null: there was none. */
  readonly lastRun: ScheduledRun | null;
}

/** Chooses the user whose schedules are meant. */
export interface ScheduleUser {
  /** Default: `default`. */
  readonly user?: string | undefined;
}

/** The options of `runtime.schedules.list`. */
export interface ScheduleListOptions extends ScheduleUser {
  /** An integer of at least 1. Default: 100. */
  readonly limit?: number | undefined;
  /** Continues after the schedule with this id. */
  readonly after?: string | undefined;
}

/** The options of `runtime.schedules.history`. */
export interface ScheduleHistoryOptions extends ScheduleUser {
  /** An integer of at least 1. Default: 100, which is all that is kept. */
  readonly limit?: number | undefined;
}

/** The options of `runtime.schedules.run`. */
export interface ScheduleRunOptions extends ScheduleUser {
  /** A repeated request with the same key starts one run: 1 to 128 letters, digits, `_` or `-`. Default: a new one. */
  readonly key?: string | undefined;
}

export const SCHEDULE_USER: OptionTable = optionTable<ScheduleUser>(
  'schedules',
  { user: true },
  { userId: 'user' },
);
export const SCHEDULE_LIST_OPTIONS: OptionTable = optionTable<ScheduleListOptions>(
  'schedules.list',
  { user: true, limit: true, after: true },
  { userId: 'user' },
);
export const SCHEDULE_HISTORY_OPTIONS: OptionTable = optionTable<ScheduleHistoryOptions>(
  'schedules.history',
  { user: true, limit: true },
  { userId: 'user' },
);
export const SCHEDULE_RUN_OPTIONS: OptionTable = optionTable<ScheduleRunOptions>(
  'schedules.run',
  { user: true, key: true },
  { userId: 'user', dedupeKey: 'key' },
);

/**
 * Starts sessions, or sends messages to one, by a cron pattern or at an interval. A schedule is a session with a net of
 * its own: each due time makes one run, in whichever process, also after a crash. A runtime that has the agent must be
 * open for a schedule to run.
 */
export interface Schedules {
  /**
   * Creates a schedule. A repeated call with the same definition returns the schedule.
   * @throws InvalidInputError, UnknownFieldError for an invalid definition
   * @throws UnknownAgentError when the runtime does not have the agent
   * @throws ScheduleExistsError when the id has another definition
   */
  create(definition: ScheduleDefinition, options?: ScheduleUser): Promise<Schedule>;
  /** Undefined when there is no schedule with this id. */
  get(id: string, options?: ScheduleUser): Promise<Schedule | undefined>;
  /** Lists the schedules of a user, in order of creation. @throws InvalidInputError */
  list(options?: ScheduleListOptions): Promise<readonly Schedule[]>;
  /** Due times pass without a run until a resume. Runs that have begun or wait go on. @throws ScheduleNotFoundError */
  pause(id: string, options?: ScheduleUser): Promise<Schedule>;
  /** Continues with the next due time after now. @throws ScheduleNotFoundError */
  resume(id: string, options?: ScheduleUser): Promise<Schedule>;
  /** Starts a run now, also of a paused schedule. Its overlap policy applies. Returns the id of the run. @throws ScheduleNotFoundError */
  run(id: string, options?: ScheduleRunOptions): Promise<string>;
  /** Lists the last runs, the last due first. @throws ScheduleNotFoundError */
  history(id: string, options?: ScheduleHistoryOptions): Promise<readonly ScheduledRun[]>;
  /** Deletes the schedule and its history. Sessions that it started stay. Returns false when there was none. */
  delete(id: string, options?: ScheduleUser): Promise<boolean>;
}
