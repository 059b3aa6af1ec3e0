import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCalendar } from './calendar.ts';
import { planRun } from './plan-due-time.ts';
import type { AnchoredSchedule } from './plan-due-time.ts';

const CASES: readonly (readonly [
  title: string,
  cron: string,
  timeZone: string,
  from: string,
  due: readonly string[],
])[] = [
  [
    'a time that spring leaves out in Berlin is due when the clocks have changed',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-03-27T12:00:00Z',
    ['2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:30Z'],
  ],
  [
    'a time that occurs twice in autumn in Berlin is due the first time only',
    '30 2 * * *',
    'Europe/Berlin',
    '2026-10-23T12:00:00Z',
    ['2026-10-24T00:30Z', '2026-10-25T00:30Z', '2026-10-26T01:30Z'],
  ],
  [
    'half hours go on through autumn in Berlin',
    '*/30 * * * *',
    'Europe/Berlin',
    '2026-10-24T23:40:00Z',
    ['2026-10-25T00:00Z', '2026-10-25T00:30Z', '2026-10-25T01:00Z', '2026-10-25T01:30Z'],
  ],
  [
    'half hours go on through spring in Berlin',
    '*/30 * * * *',
    'Europe/Berlin',
    '2026-03-29T00:10:00Z',
    ['2026-03-29T00:30Z', '2026-03-29T01:00Z', '2026-03-29T01:30Z'],
  ],
  [
    'a time in the half hour that spring leaves out on Lord Howe Island is due after it',
    '15 2 * * *',
    'Australia/Lord_Howe',
    '2026-10-02T12:00:00Z',
    ['2026-10-02T15:45Z', '2026-10-03T15:30Z', '2026-10-04T15:15Z'],
  ],
  [
    'a time in the half hour that occurs twice on Lord Howe Island is due once',
    '45 1 * * *',
    'Australia/Lord_Howe',
    '2026-04-03T12:00:00Z',
    ['2026-04-03T14:45Z', '2026-04-04T14:45Z', '2026-04-05T15:15Z'],
  ],
];

for (const [title, cron, timeZone, from, due] of CASES)
  test(title, () => {
    const { next, previous } = createCalendar({ cron, timeZone }, 0);
    const found: number[] = [];
    let after: number | undefined = Date.parse(from);
    while (found.length < due.length && after !== undefined) {
      after = next(after);
      if (after !== undefined) found.push(after);
    }
    const expected = due.map((time) => Date.parse(time));
    assert.deepEqual(found, expected);
    assert.deepEqual(previous((expected.at(-1) ?? 0) + 1, due.length), expected);
  });

test('an interval counts from its beginning', () => {
  const { next, previous } = createCalendar({ everyMs: 100 }, 1000);
  assert.deepEqual([next(0), next(1000), next(1099), next(1100)], [1100, 1100, 1100, 1200]);
  assert.deepEqual(previous(1300, 9), [1100, 1200]);
  assert.deepEqual(previous(1301, 2), [1200, 1300]);
  assert.deepEqual(previous(1000, 2), []);
});

const SCHEDULE: AnchoredSchedule = {
  id: 'report',
  cron: '0 * * * *',
  timeZone: 'UTC',
  agent: 'writer',
  message: 'Report',
  overlap: 'skip',
  jitterMs: 600_000,
  backfill: 'none',
  maxBackfill: 10,
  anchor: 0,
};

test('the jitter follows from the id and the due time, and stays below its maximum', () => {
  const due = Array.from({ length: 200 }, (_, hour) => Date.UTC(2026, 0, 1, hour));
  const toJitter = (schedule: AnchoredSchedule): readonly number[] =>
    due.map((at) => (planRun(schedule, at, at).next?.fireAt ?? 0) - at);
  const jitter = toJitter(SCHEDULE);
  assert.deepEqual(toJitter({ ...SCHEDULE }), jitter);
  assert.ok(jitter.every((ms) => ms >= 0 && ms < 600_000));
  assert.ok(new Set(jitter).size > 190);
  assert.notDeepEqual(toJitter({ ...SCHEDULE, id: 'other' }), jitter);
});

test('after a year of downtime, only the bounded number of due times is looked at', () => {
  const from = Date.UTC(2026, 0, 1);
  const at = Date.UTC(2027, 0, 1, 0, 30);
  const minutely = { ...SCHEDULE, cron: '* * * * *', jitterMs: 0, backfill: 'all' as const };
  assert.deepEqual(planRun(minutely, from, at), {
    next: { dueAt: at - 11 * 60_000, fireAt: at - 11 * 60_000, isBackfill: true },
    missed: { from, to: at - 12 * 60_000 },
  });
  assert.deepEqual(planRun({ ...minutely, backfill: 'none' }, from, at), {
    next: { dueAt: at - 60_000, fireAt: at - 60_000, isBackfill: false },
    missed: { from, to: at - 120_000 },
  });
});
