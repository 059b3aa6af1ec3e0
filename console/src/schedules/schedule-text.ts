import type { Schedule, ScheduleRun } from '../api/types.ts';
import type { Tone } from '../ui/badge.tsx';
import { formatDuration, formatFullTime, formatTime } from '../ui/format.ts';

export const STATUS_TONES: Readonly<Record<Schedule['status'], Tone>> = {
  active: 'good',
  paused: 'info',
  ended: 'quiet',
  failed: 'bad',
};

export const RUN_TONES: Readonly<Record<ScheduleRun['status'], Tone>> = {
  running: 'busy',
  ended: 'good',
  failed: 'bad',
  skipped: 'quiet',
  replaced: 'wait',
  missed: 'wait',
};

/** When a schedule is due: `0 9 * * 1-5, Europe/Berlin`, `every 15 min`. */
export function describeTimes({ cron, time_zone: zone, every_ms: every }: Schedule): string {
  if (cron === null) return `every ${formatDuration(every ?? 0)}`;
  return `${cron}, ${zone ?? 'UTC'}`;
}

/** What happens to due times that nothing was there for. */
export function describeBackfill({ backfill, max_backfill: most }: Schedule): string {
  if (backfill === 'all') return `the last ${most} are made up for`;
  return backfill === 'last' ? 'the last one is made up for' : 'left out';
}

/** The due time of a run, or the due times that were missed. */
export function describeDue({ due_at: due, missed_to: last }: ScheduleRun): string {
  return last === null || last === due
    ? formatTime(due)
    : `${formatTime(due)} to ${formatTime(last)}`;
}

/** When a run began and when its end was noticed, for a tooltip. */
export function describeRun({ started_at: started, ended_at: ended }: ScheduleRun): string {
  return [
    ...(started === null ? [] : [`started ${formatFullTime(started)}`]),
    ...(ended === null ? [] : [`end noticed ${formatFullTime(ended)}`]),
  ].join(', ');
}
