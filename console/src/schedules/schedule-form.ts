import type { ScheduleParams } from '../../../src/client/index.ts';

/** What a person enters about a new schedule. */
export interface ScheduleForm {
  readonly id: string;
  readonly message: string;
  readonly times: 'cron' | 'every';
  readonly cron: string;
  readonly timeZone: string;
  readonly every: number;
  readonly unit: string;
  readonly session: string;
  readonly overlap: NonNullable<ScheduleParams['overlap']>;
  readonly backfill: NonNullable<ScheduleParams['backfill']>;
  readonly maxBackfill: number;
  readonly jitterSeconds: number;
}

/** Units of an interval, in milliseconds. */
export const UNITS: Readonly<Record<string, number>> = {
  seconds: 1000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
};

export const EMPTY_FORM: ScheduleForm = {
  id: '',
  message: '',
  times: 'cron',
  cron: '',
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  every: 15,
  unit: 'minutes',
  session: '',
  overlap: 'skip',
  backfill: 'none',
  maxBackfill: 10,
  jitterSeconds: 0,
};

/** The request for a schedule. Undefined: something is missing. The server checks the rest. */
export function toParams(form: ScheduleForm, agent: string): ScheduleParams | undefined {
  const { id, message, session, overlap, backfill } = form;
  if (agent === '' || message.trim() === '') return undefined;
  const times = toTimes(form);
  if (times === undefined) return undefined;
  const jitterMs = Math.round(form.jitterSeconds * 1000);
  return {
    agent,
    message: message.trim(),
    ...times,
    overlap,
    backfill,
    ...(id.trim() !== '' && { id: id.trim() }),
    ...(session.trim() !== '' && { session_id: session.trim() }),
    ...(backfill === 'all' && { max_backfill: form.maxBackfill }),
    ...(jitterMs > 0 && { jitter_ms: jitterMs }),
  };
}

function toTimes({
  times,
  cron,
  timeZone,
  every,
  unit,
}: ScheduleForm): Pick<ScheduleParams, 'cron' | 'time_zone' | 'every_ms'> | undefined {
  if (times === 'cron')
    return cron.trim() === '' ? undefined : { cron: cron.trim(), time_zone: timeZone.trim() };
  const everyMs = Math.round(every * (UNITS[unit] ?? Number.NaN));
  return Number.isSafeInteger(everyMs) ? { every_ms: everyMs } : undefined;
}
