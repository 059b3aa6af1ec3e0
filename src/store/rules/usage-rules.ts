import { checkChoice } from '../../core/internal.ts';
import { InvalidInputError, noUsage, type Usage } from '../../core/index.ts';
import type { UsageDimension, UsageQuery, UsageTotal } from '../store.ts';

/** All dimensions of usage. */
export const USAGE_DIMENSIONS: readonly UsageDimension[] = ['agent', 'user', 'day', 'model'];

/** The token counts of a usage, in the order of their columns. */
export const TOKEN_COUNTS: readonly (keyof Usage)[] = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'thinkingTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
];

/**
 * Checks a query of usage.
 * @throws InvalidInputError
 */
export function checkUsageQuery({ by, from, to }: UsageQuery): void {
  for (const [index, one] of by.entries()) {
    checkChoice(`by[${index}]`, one, USAGE_DIMENSIONS);
    if (by.indexOf(one) !== index)
      throw new InvalidInputError('by', `must name "${one}" only once.`);
  }
  for (const [name, day] of [
    ['from', from],
    ['to', to],
  ] as const)
    if (day !== undefined && !isDay(day))
      throw new InvalidInputError(name, `must be a UTC day as YYYY-MM-DD; it is "${day}".`);
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** More days than this are read as a range. */
const MAX_DAYS = 62;

/**
 * The days of a query that reads a short period of one user. The rows are in the order of days and then users, so a range
 * of days reads the rows of all users, and a list of days those of the one. Undefined: the query has a range.
 */
export function listUsageDays({
  from,
  to,
  userId,
}: Pick<UsageQuery, 'from' | 'to' | 'userId'>): readonly string[] | undefined {
  if (userId === undefined || from === undefined || to === undefined) return undefined;
  const first = Date.parse(`${from}T00:00:00Z`);
  const length = (Date.parse(`${to}T00:00:00Z`) - first) / DAY_MS + 1;
  if (length < 1 || length > MAX_DAYS) return undefined;
  return Array.from({ length }, (_, index) =>
    new Date(first + index * DAY_MS).toISOString().slice(0, 10),
  );
}

/** One row of usage as a store keeps it, or a group of such rows. Members that the query does not group by are empty. */
export interface UsageRow {
  readonly agent?: string;
  readonly user?: string;
  readonly day?: string;
  readonly model?: string;
  readonly calls: number;
  /** In the order of `TOKEN_COUNTS`. Null: no step reported this count. */
  readonly counts: readonly (number | null)[];
}

/** Converts a group of rows to the form of the store interface. */
export function toUsageTotal(row: UsageRow, by: readonly UsageDimension[]): UsageTotal {
  const counts = Object.fromEntries(
    TOKEN_COUNTS.flatMap((name, index) => {
      const count = row.counts[index];
      return typeof count === 'number' ? [[name, count]] : [];
    }),
  );
  return {
    ...Object.fromEntries(by.map((one) => [one, row[one]])),
    calls: row.calls,
    tokens: { ...noUsage, ...counts },
  };
}
