import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JournalRecord } from '../../src/net/journal/index.ts';
import { compareRecords } from '../src/compare/compare-records.ts';

const fired = (seq: number, t: string): JournalRecord => ({ kind: 'fired', seq, at: seq, t });
const records = (text: string): readonly JournalRecord[] =>
  Array.from(text, (t, index) => fired(index + 1, t));

/** The rows as text: `ab` for a firing on both sides, `a-` and `-b` for one on one side. */
function toText(left: string, right: string): readonly [common: number, rows: string] {
  const { common, rows } = compareRecords(records(left), records(right));
  const name = (record: JournalRecord | undefined): string =>
    record !== undefined && 't' in record ? record.t : '-';
  return [common, rows.map((row) => `${name(row.left)}${name(row.right)}`).join(' ')];
}

test('a comparison finds the common beginning, and puts equal firings side by side', () => {
  assert.deepEqual(toText('abc', 'abc'), [3, '']);
  assert.deepEqual(toText('', 'ab'), [0, '-a -b']);
  // The records after the common beginning have other numbers, so they are not the same record.
  assert.deepEqual(toText('abxcd', 'abcd'), [2, 'x- cc dd']);
  assert.deepEqual(toText('abcd', 'abycdz'), [2, '-y cc dd -z']);
});

test('every record after the common beginning is in one row, in the order of its journal', () => {
  const sides = ['abcabdabc'.repeat(20), 'abcabdacb'.repeat(20), 'x'.repeat(900), ''];
  for (const left of sides)
    for (const right of sides) {
      const { common, rows } = compareRecords(records(left), records(right));
      const seqs = (side: 'left' | 'right'): readonly number[] =>
        rows.flatMap((row) => (row[side] === undefined ? [] : [row[side].seq]));
      const rest = (length: number): readonly number[] =>
        Array.from({ length: length - common }, (_, index) => common + index + 1);
      assert.deepEqual(seqs('left'), rest(left.length));
      assert.deepEqual(seqs('right'), rest(right.length));
    }
});
