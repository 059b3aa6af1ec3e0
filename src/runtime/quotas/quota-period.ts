import type { QuotaName } from '../../core/index.ts';

/** The UTC day or month in which a quota counts. */
export interface QuotaPeriod {
  /** The first day, as `YYYY-MM-DD`. */
  readonly from: string;
  /** When the next period begins, in epoch milliseconds. */
  readonly renewsAt: number;
}

/** The period of a quota at a time (epoch ms). Undefined: the quota counts what exists. */
export function findPeriod(quota: QuotaName, now: number): QuotaPeriod | undefined {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (quota.endsWith('PerDay'))
    return { from: toDay(Date.UTC(year, month, day)), renewsAt: Date.UTC(year, month, day + 1) };
  if (quota.endsWith('PerMonth'))
    return { from: toDay(Date.UTC(year, month, 1)), renewsAt: Date.UTC(year, month + 1, 1) };
  return undefined;
}

function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
