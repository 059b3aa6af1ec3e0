import { settings } from '../state/settings.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Creating a format is slow, and a chat shows many times. */
const formats = new Map<string, Intl.DateTimeFormat>();

function format(at: number, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify(options);
  const known = formats.get(key) ?? new Intl.DateTimeFormat(undefined, options);
  formats.set(key, known);
  return known.format(at);
}

/** A time in the zone of the settings, with the day unless it is today. */
export function formatTime(at: string | number, now: number = Date.now()): string {
  const time = toNumber(at);
  const zone = settings.value.times === 'utc' ? { timeZone: 'UTC' } : {};
  const digits = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
  const clock = format(time, { ...digits, ...zone, hourCycle: 'h23' });
  const toDay = (of: number): string => format(of, { day: 'numeric', month: 'short', ...zone });
  const day = toDay(time);
  return day === toDay(now) ? clock : `${day}, ${clock}`;
}

/** A time with its milliseconds and its zone, for a tooltip. */
export function formatFullTime(at: string | number): string {
  const time = toNumber(at);
  return settings.value.times === 'utc'
    ? new Date(time).toISOString()
    : format(time, { dateStyle: 'medium', timeStyle: 'long' });
}

function toNumber(at: string | number): number {
  return typeof at === 'number' ? at : Date.parse(at);
}

/** A length of time, short: `340 ms`, `2.1 s`, `4 min`, `3 h`, `2 d`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(ms < 10 * SECOND ? 1 : 0)} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.round(ms / HOUR)} h`;
  return `${Math.round(ms / DAY)} d`;
}

/** How long ago a time is: `now`, `4 min ago`. */
export function formatAge(at: string | number, now: number = Date.now()): string {
  const ms = now - new Date(at).getTime();
  return ms < 5 * SECOND ? 'now' : `${formatDuration(ms)} ago`;
}

/** How long it is until a time: `now`, `in 4 min`. */
export function formatUntil(at: string | number, now: number = Date.now()): string {
  const ms = toNumber(at) - now;
  return ms < SECOND ? 'now' : `in ${formatDuration(ms)}`;
}

/** A number, short: `980`, `12.4k`, `3.1M`. */
export function formatCount(count: number): string {
  if (count < 10_000) return count.toLocaleString();
  if (count < 1_000_000) return `${(count / 1000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** Bytes, short: `980 B`, `12.4 kB`, `3.1 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

/** US dollars: four digits below a dollar. */
export function formatCost(dollars: number): string {
  return `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
}

/** The text with what the redaction patterns match replaced. */
export function redact(text: string): string {
  return settings.value.redact.reduce((redacted, pattern) => {
    const expression = toExpression(pattern);
    return expression === undefined ? redacted : redacted.replaceAll(expression, '█████');
  }, text);
}

function toExpression(pattern: string): RegExp | undefined {
  if (pattern === '') return undefined;
  try {
    return new RegExp(pattern, 'gi');
  } catch {
    // The settings screen shows that the pattern is invalid.
    return undefined;
  }
}
