import { checkChoice, describeValue, optionTable } from '../../core/internal.ts';
import type { OptionTable } from '../../core/internal.ts';
import { InvalidInputError, parseIdentity } from '../../core/index.ts';
import { checkSessionId } from '../../store/internal.ts';
import { createCalendar } from './calendar.ts';
import { MAX_DUE_RUNS } from './schedule-limits.ts';

/** What happens when a run is due while the run before it has not ended. */
export type ScheduleOverlap = 'skip' | 'queue' | 'replace';

/** Which due times that were missed are made up for. */
export type ScheduleBackfill = 'none' | 'last' | 'all';

/** When a session is started or gets a message. It has either `cron` or `everyMs`. */
export interface ScheduleDefinition {
  /** 1 to 64 letters, digits, `_` or `-`. Unique for its user. */
  readonly id: string;
  /** Five fields: minute, hour, day of month, month, day of week. Names such as `MON` and `@daily` are allowed. */
  readonly cron?: string | undefined;
  /** The IANA time zone of `cron`, such as `Europe/Berlin`. Default: `UTC`. */
  readonly timeZone?: string | undefined;
  /** The time between two runs, in milliseconds, from the creation of the schedule on: 1,000 at least. */
  readonly everyMs?: number | undefined;
  /** The agent of the sessions. Default: the only agent of the runtime. */
  readonly agent?: string | undefined;
  /** The message that each run sends. */
  readonly message: string;
  /** The session that gets the messages. Default: each run starts a session of its own. */
  readonly session?: string | undefined;
  /**
   * `skip`: the run is left out. `queue`: it begins when those before it have ended. `replace`: the turn of the run
   * before is interrupted. Default: `skip`.
   */
  readonly overlap?: ScheduleOverlap | undefined;
  /**
   * Delays each run by up to this many milliseconds. The delay follows from the id and the due time, so all processes
   * compute the same. Less than the time between two runs. Default: 0.
   */
  readonly jitterMs?: number | undefined;
  /**
   * What is done about due times that no process was there for, when they are more than one minute late: nothing, only
   * the last of them is run, or the last `maxBackfill` of them are. Default: `none`.
   */
  readonly backfill?: ScheduleBackfill | undefined;
  /** Only for the backfill `all`: 1 to 50. Default: 10. */
  readonly maxBackfill?: number | undefined;
}

/** A schedule as it is stored: checked, with its defaults. */
export interface StoredSchedule {
  readonly id: string;
  readonly cron?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly everyMs?: number | undefined;
  readonly agent: string;
  readonly message: string;
  readonly session?: string | undefined;
  readonly overlap: ScheduleOverlap;
  readonly jitterMs: number;
  readonly backfill: ScheduleBackfill;
  readonly maxBackfill: number;
}

/** The options of `runtime.schedules.create`. */
export const SCHEDULE_OPTIONS: OptionTable = optionTable<ScheduleDefinition>(
  'schedules.create',
  {
    id: true,
    cron: true,
    timeZone: true,
    everyMs: true,
    agent: true,
    message: true,
    session: true,
    overlap: true,
    jitterMs: true,
    backfill: true,
    maxBackfill: true,
  },
  {
    timezone: 'timeZone',
    tz: 'timeZone',
    every: 'everyMs',
    interval: 'everyMs',
    jitter: 'jitterMs',
    sessionId: 'session',
  },
);

const OVERLAPS: readonly ScheduleOverlap[] = ['skip', 'queue', 'replace'];
const BACKFILLS: readonly ScheduleBackfill[] = ['none', 'last', 'all'];
const MIN_EVERY_MS = 1_000;
const MAX_EVERY_MS = 366 * 86_400_000;
const DEFAULT_MAX_BACKFILL = 10;
/** The due times after the creation between which the jitter must fit. */
const CHECKED_DUE_TIMES = 20;

/**
 * Checks a definition and fills in its defaults.
 * @param now epoch ms: the schedule must have a due time after it
 * @throws InvalidInputError, UnknownFieldError
 */
export function parseScheduleDefinition(
  definition: ScheduleDefinition,
  { agent, now }: { readonly agent: string; readonly now: number },
): StoredSchedule {
  const { cron, timeZone, everyMs, message, session, overlap = 'skip' } = definition;
  const { backfill = 'none', maxBackfill, jitterMs = 0 } = definition;
  const id = parseScheduleId(definition.id);
  if ((cron === undefined) === (everyMs === undefined))
    throw new InvalidInputError(
      'cron',
      `or everyMs is required, and not both; ${cron === undefined ? 'both are missing' : 'both are set'}. Pass one of them, for example cron: '0 9 * * 1-5' or everyMs: 900_000.`,
    );
  if (timeZone !== undefined && cron === undefined)
    throw new InvalidInputError(
      'timeZone',
      `is only for cron; it is ${describeValue(timeZone)} with everyMs. Leave it out.`,
    );
  if (everyMs !== undefined) checkInteger('everyMs', everyMs, MIN_EVERY_MS, MAX_EVERY_MS);
  if (typeof message !== 'string' || message.trim() === '')
    throw new InvalidInputError(
      'message',
      `must be the text that each run sends; it is ${describeValue(message)}. Pass a text that is not empty.`,
    );
  if (session !== undefined) checkTargetSession(session);
  checkChoice('overlap', overlap, OVERLAPS);
  checkChoice('backfill', backfill, BACKFILLS);
  if (maxBackfill !== undefined && backfill !== 'all')
    throw new InvalidInputError(
      'maxBackfill',
      `is only for the backfill "all"; it is ${describeValue(maxBackfill)} with the backfill "${backfill}". Leave it out.`,
    );
  checkInteger('maxBackfill', maxBackfill ?? DEFAULT_MAX_BACKFILL, 1, MAX_DUE_RUNS);
  checkInteger('jitterMs', jitterMs, 0, MAX_EVERY_MS);
  const stored: StoredSchedule = {
    id,
    ...(cron === undefined ? { everyMs } : { cron, timeZone: timeZone ?? 'UTC' }),
    agent,
    message,
    ...(session === undefined ? {} : { session }),
    overlap,
    jitterMs,
    backfill,
    maxBackfill: maxBackfill ?? DEFAULT_MAX_BACKFILL,
  };
  checkDueTimes(stored, now);
  return stored;
}

/** @throws InvalidInputError */
export function parseScheduleId(id: unknown): string {
  if (typeof id === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(id)) return id;
  throw new InvalidInputError(
    'id',
    `of a schedule must be 1 to 64 letters, digits, _ or -; it is ${describeValue(id)}. Choose another id.`,
  );
}

/** @throws InvalidInputError */
function checkTargetSession(session: string): void {
  try {
    checkSessionId(parseIdentity(session, 'session'));
  } catch (error) {
    throw new InvalidInputError(
      'session',
      `must be the id of a session; it is ${describeValue(session)}. Pass another id, or leave it out to start a session for each run.`,
      { cause: error },
    );
  }
}

/** Checks the pattern and the time zone, that there is a due time, and that the jitter fits between two of them. */
function checkDueTimes(schedule: StoredSchedule, now: number): void {
  const calendar = createCalendar(schedule, now);
  let due = calendar.next(now);
  if (due === undefined)
    throw new InvalidInputError(
      'cron',
      `is never due; it is ${describeValue(schedule.cron)}. Check day of month and month.`,
    );
  for (let n = 0; n < CHECKED_DUE_TIMES && schedule.jitterMs > 0; n++) {
    const next = calendar.next(due);
    if (next === undefined) return;
    if (next - due <= schedule.jitterMs)
      throw new InvalidInputError(
        'jitterMs',
        `must be less than the time between two runs, ${next - due} ms; it is ${schedule.jitterMs}. Pass a smaller one.`,
      );
    due = next;
  }
}

function checkInteger(field: string, value: unknown, min: number, max: number): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max)
    return;
  throw new InvalidInputError(
    field,
    `must be an integer from ${min} to ${max}; it is ${describeValue(value)}. Pass a number in this range.`,
  );
}
