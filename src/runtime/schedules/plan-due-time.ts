import { sha256Hex } from '../../core/index.ts';
import { createCalendar } from './calendar.ts';
import type { StoredSchedule } from './schedule-definition.ts';

/** A run that is later than this, in milliseconds, was missed. */
const MISSED_AFTER_MS = 60_000;

/** The next run of a schedule. */
export interface PlannedRun {
  /** Epoch ms. */
  readonly dueAt: number;
  /** When it begins: `dueAt` and the jitter, epoch ms. */
  readonly fireAt: number;
  /** Whether it was missed and is made up for. */
  readonly isBackfill: boolean;
}

/** The due times from the first to the last that are left out because they were missed, epoch ms. */
export interface MissedRange {
  readonly from: number;
  readonly to: number;
}

/** What a schedule does next. */
export interface Plan {
  /** Undefined: there is no due time any more. */
  readonly next: PlannedRun | undefined;
  readonly missed: MissedRange | undefined;
}

/** A schedule with the time of its definition, where its interval begins. */
export interface AnchoredSchedule extends StoredSchedule {
  /** Epoch ms. */
  readonly anchor: number;
}

/**
 * Plans the next run.
 * @param from the first due time that was not decided about: the plan is for it or for a later one. Undefined: there is
 *   none
 * @param at the present, epoch ms
 */
export function planRun(schedule: AnchoredSchedule, from: number | undefined, at: number): Plan {
  if (from === undefined) return { next: undefined, missed: undefined };
  if (!isMissed(schedule, from, at))
    return { next: toPlannedRun(schedule, from, false), missed: undefined };
  const calendar = createCalendar(schedule, schedule.anchor);
  let onTime = calendar.next(Math.max(from, at - MISSED_AFTER_MS - schedule.jitterMs - 1));
  while (onTime !== undefined && isMissed(schedule, onTime, at)) onTime = calendar.next(onTime);
  const firstKept = findFirstKept(schedule, from, onTime ?? at + 1);
  const due = firstKept ?? onTime;
  const [lastDropped] = due === from ? [] : calendar.previous(due ?? at + 1, 1);
  return {
    next: due === undefined ? undefined : toPlannedRun(schedule, due, due === firstKept),
    missed: lastDropped === undefined ? undefined : { from, to: lastDropped },
  };
}

/** The first due time after a time. Undefined: there is none. */
export function findNextDue(schedule: AnchoredSchedule, after: number): number | undefined {
  return createCalendar(schedule, schedule.anchor).next(after);
}

/** Whether it is too late for the run of a due time. */
export function isMissed(schedule: StoredSchedule, dueAt: number, at: number): boolean {
  return fireTime(schedule, dueAt) + MISSED_AFTER_MS < at;
}

/** The oldest of the missed due times that are made up for. */
function findFirstKept(
  schedule: AnchoredSchedule,
  from: number,
  before: number,
): number | undefined {
  const { backfill, maxBackfill } = schedule;
  if (backfill === 'none') return undefined;
  const count = backfill === 'last' ? 1 : maxBackfill;
  const calendar = createCalendar(schedule, schedule.anchor);
  return calendar.previous(before, count).find((due) => due >= from);
}

function toPlannedRun(schedule: AnchoredSchedule, dueAt: number, isBackfill: boolean): PlannedRun {
  return { dueAt, fireAt: fireTime(schedule, dueAt), isBackfill };
}

/** The due time with its jitter: a part of `jitterMs` that follows from the id and the due time. */
function fireTime({ id, jitterMs }: StoredSchedule, dueAt: number): number {
  if (jitterMs === 0) return dueAt;
  const part = Number.parseInt(sha256Hex(`${id}:${dueAt}`).slice(0, 8), 16) / 2 ** 32;
  return dueAt + Math.floor(part * jitterMs);
}
