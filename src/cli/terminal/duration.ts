const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats milliseconds for a person: `12 ms`, `1.4 s`, `2 min 5 s`, `3 h 10 min`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${Math.floor((ms % MINUTE) / SECOND)} s`;
  return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} min`;
}

/** Formats how long ago something was, in its largest unit. */
export function formatAge(ms: number): string {
  if (ms < MINUTE) return 'just now';
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h ago`;
  return `${Math.floor(ms / DAY)} days ago`;
}

/** Parses `90s`, `30m`, `12h` or `90d` to milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, count = '', unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  const ms = { s: SECOND, m: MINUTE, h: HOUR, d: DAY }[unit];
  return ms === undefined ? undefined : Number(count) * ms;
}

/** The local time of day, with milliseconds. */
export function formatTime(at: number): string {
  const date = new Date(at);
  const [hours, minutes, seconds] = [date.getHours(), date.getMinutes(), date.getSeconds()].map(
    (part) => String(part).padStart(2, '0'),
  );
  return `${hours}:${minutes}:${seconds}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
