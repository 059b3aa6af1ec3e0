import { Cron } from 'croner';
import { describeValue } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';

/** The due times of a schedule, in epoch milliseconds. */
export interface Calendar {
  /** The first due time after `after`. Undefined: there is none. */
  readonly next: (after: number) => number | undefined;
  /** The last `count` due times before `before`, oldest first. */
  readonly previous: (before: number, count: number) => readonly number[];
}

/** The most characters of a pattern. */
const MAX_PATTERN = 256;

/** What due times follow from: a pattern in a time zone, or an interval. */
export interface CalendarRule {
  readonly cron?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly everyMs?: number | undefined;
}

/**
 * Computes due times. A time of a pattern that the change to daylight saving time leaves out is due when the clocks have
 * changed; one that occurs twice is due the first time. A pattern with several hours or minutes follows elapsed time.
 * @param anchor where an interval begins, epoch ms
 * @throws InvalidInputError for a pattern or a time zone that does not exist
 */
export function createCalendar(rule: CalendarRule, anchor: number): Calendar {
  return rule.everyMs === undefined
    ? cronCalendar(rule.cron ?? '', rule.timeZone ?? 'UTC')
    : intervalCalendar(rule.everyMs, anchor);
}

function intervalCalendar(everyMs: number, anchor: number): Calendar {
  const toDue = (index: number): number => anchor + index * everyMs;
  return {
    next: (after) => toDue(Math.max(1, Math.floor((after - anchor) / everyMs) + 1)),
    previous: (before, count) => {
      const last = Math.ceil((before - anchor) / everyMs) - 1;
      const first = Math.max(1, last - count + 1);
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => toDue(first + i));
    },
  };
}

function cronCalendar(pattern: string, timeZone: string): Calendar {
  const cron = parseCron(pattern, checkTimeZone(timeZone));
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime(),
    previous: (before, count) =>
      cron
        .previousRuns(count, new Date(before))
        .map((due) => due.getTime())
        .toReversed(),
  };
}

function parseCron(pattern: string, timezone: string): Cron {
  try {
    checkForm(pattern);
    return new Cron(pattern, { timezone, mode: '5-part' });
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : '';
    throw new InvalidInputError(
      'cron',
      `must be five fields, minute, hour, day of month, month and day of week, such as "0 9 * * 1-5"; it is ${describeValue(pattern)} (${reason.slice(0, 200)}). Correct the pattern.`,
    );
  }
}

/** Croner takes times such as `2026-12-24T10:00:00`, too. */
function checkForm(pattern: unknown): void {
  if (typeof pattern !== 'string') throw new TypeError('it is no text');
  if (pattern.length > MAX_PATTERN) throw new RangeError(`more than ${MAX_PATTERN} characters`);
  if (pattern.includes(':')) throw new TypeError('a time has no fields');
}

function checkTimeZone(timeZone: unknown): string {
  try {
    if (typeof timeZone === 'string' && timeZone !== '') {
      // Throws for an unknown zone.
      Intl.DateTimeFormat('en', { timeZone });
      return timeZone;
    }
  } catch {
    // Throws below.
  }
  throw new InvalidInputError(
    'timeZone',
    `must be an IANA time zone such as "Europe/Berlin"; it is ${describeValue(timeZone)}. Correct the name.`,
  );
}
