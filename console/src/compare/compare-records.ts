import type { JournalRecord } from '../../../src/net/journal/index.ts';

/** Records of two sessions that stand side by side. One of them is missing where only the other session has a record. */
export interface ComparedRow {
  readonly left: JournalRecord | undefined;
  readonly right: JournalRecord | undefined;
}

export interface Comparison {
  /** How many records both sessions have in common from the start: a fork copies them. */
  readonly common: number;
  /** The records after that. */
  readonly rows: readonly ComparedRow[];
}

/** Above this many records after the common part, records are paired by their position. */
const MOST_ALIGNED = 600;

/** Compares the journals of two sessions: what they share, and the records after that, the same firings in one row. */
export function compareRecords(
  left: readonly JournalRecord[],
  right: readonly JournalRecord[],
): Comparison {
  let common = 0;
  while (common < Math.min(left.length, right.length) && isSame(left[common], right[common]))
    common++;
  const after = [left.slice(common), right.slice(common)] as const;
  const isLong = Math.max(after[0].length, after[1].length) > MOST_ALIGNED;
  return { common, rows: isLong ? pairByPosition(...after) : align(...after) };
}

function isSame(a: JournalRecord | undefined, b: JournalRecord | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What a record is, apart from its values. */
function toWord(record: JournalRecord): string {
  if ('t' in record) return `${record.kind} ${record.t}`;
  const given = 'give' in record ? (record.give ?? []).map(([place]) => place) : [];
  return `${record.kind} ${given.join(' ')}`;
}

function pairByPosition(
  left: readonly JournalRecord[],
  right: readonly JournalRecord[],
): readonly ComparedRow[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => ({
    left: left[index],
    right: right[index],
  }));
}

/** Puts equal firings into one row, as many as possible, in the order of both journals. */
function align(
  left: readonly JournalRecord[],
  right: readonly JournalRecord[],
): readonly ComparedRow[] {
  const words = [left.map(toWord), right.map(toWord)] as const;
  const lengths = countCommon(...words);
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  const rows: ComparedRow[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && words[0][i] === words[1][j])
      rows.push({ left: left[i++], right: right[j++] });
    else if (j >= right.length || (i < left.length && at(i + 1, j) >= at(i, j + 1)))
      rows.push({ left: left[i++], right: undefined });
    else rows.push({ left: undefined, right: right[j++] });
  }
  return rows;
}

/** The length of the longest common subsequence of the rests from `i` and `j`. */
function countCommon(left: readonly string[], right: readonly string[]): readonly Uint16Array[] {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--) {
      const [row, next] = [lengths[i], lengths[i + 1]];
      if (row === undefined || next === undefined) continue;
      row[j] =
        left[i] === right[j] ? (next[j + 1] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0);
    }
  return lengths;
}
