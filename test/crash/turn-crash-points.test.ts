// test/long/crash.test.ts has no samples: it crashes at every write, and again at every later one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogEntry } from '../../src/core/index.ts';
import { everyCrashPoint, inMemory, inSqlite } from './every-crash-point.ts';
import type { TurnOutcome } from './turn-crash-points.ts';

/** Everything except the number of attempts. */
const comparableOutcome = ({
  log,
  conversation,
  state,
  shared,
  marking,
}: TurnOutcome): unknown => ({
  log,
  conversation,
  state,
  shared,
  marking,
});

/** The outcome of the payment, and how often it was started. */
function payment({ log, effects }: TurnOutcome): {
  readonly outcome: string;
  readonly began: number;
} {
  const result = log.find((entry) => entry.type === 'tool.result' && entry.name === 'pay');
  if (result?.type !== 'tool.result') return assert.fail('no result');
  return { outcome: result.outcome, began: effects[result.callId]?.[0] ?? 0 };
}

test('in memory, a crash at any point, and a second crash at a later point, do not change the outcome of a turn', async (t) => {
  const { crashes, pairs } = await everyCrashPoint(inMemory, {
    pay: 'rerun',
    stride: 3,
    againEvery: 7,
    same: comparableOutcome,
  });
  t.diagnostic(`${crashes} crashes, ${pairs} of them followed by another`);
  assert.ok(crashes >= 14 && pairs >= 20);
});

test('on SQLite, a crash at any point does not change the outcome of a turn', async (t) => {
  const { crashes } = await everyCrashPoint(inSqlite, {
    pay: 'rerun',
    stride: 3,
    same: comparableOutcome,
  });
  t.diagnostic(`${crashes} crashes`);
  assert.ok(crashes >= 10);
});

test('with onCrash "unknown", an interrupted call is reported to the model and never started twice', async (t) => {
  let unknown = 0;
  const { crashes } = await everyCrashPoint(inMemory, {
    pay: 'unknown',
    same: ({ log, marking, state }) => ({ log: log.map(withoutOutcome), marking, state }),
    check: (turnOutcome) => {
      const { outcome, began } = payment(turnOutcome);
      assert.ok(began <= 1, 'the tool was started twice');
      assert.ok(outcome === 'unknown' || (outcome === 'ok' && began === 1), outcome);
      if (outcome === 'unknown') unknown++;
    },
  });
  t.diagnostic(`${crashes} crashes, ${unknown} outcomes unknown`);
  assert.ok(unknown > 0);
});

test('with onCrash "ask", an interrupted call runs again only after approval', async (t) => {
  let turnsWithQuestions = 0;
  const { crashes } = await everyCrashPoint(inMemory, {
    pay: 'ask',
    same: ({ log, conversation, state, marking }) => ({
      // The additional question is another wait, so another call may end first.
      log: log.filter(({ type }) => !/^(turn\.(waiting|resumed)|tool\..*)$/.test(type)),
      results: log
        .filter(({ type }) => type === 'tool.result')
        .map((one) => JSON.stringify(one))
        .toSorted(),
      conversation,
      state,
      marking,
    }),
    check: (turnOutcome, { length }) => {
      const { outcome, began } = payment(turnOutcome);
      assert.equal(outcome, 'ok');
      const answers = turnOutcome.log.filter(({ type }) => type === 'tool.answered').length - 2;
      assert.ok(
        began <= 1 + answers && answers <= length,
        `${began} runs after ${answers} questions`,
      );
      if (answers > 0) turnsWithQuestions++;
    },
  });
  t.diagnostic(`${crashes} crashes, ${turnsWithQuestions} led to a question`);
  assert.ok(turnsWithQuestions > 0);
});

test('a crash around a snapshot does not change the outcome of a turn', async () => {
  const { withoutCrash } = await everyCrashPoint(inMemory, {
    pay: 'rerun',
    turnsBefore: 28,
    stride: 4,
    same: comparableOutcome,
    check: ({ snapshotAt }) => assert.equal(snapshotAt, 64),
  });
  assert.equal(withoutCrash.snapshotAt, 64);
});

function withoutOutcome(entry: LogEntry): unknown {
  return entry.type === 'tool.result' && entry.name === 'pay'
    ? { ...entry, outcome: undefined, response: undefined }
    : entry;
}
