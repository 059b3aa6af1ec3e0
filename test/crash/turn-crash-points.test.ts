import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogEntry } from '../../src/core/index.ts';
import { everyCrashPoint, inMemory, inSqlite } from './every-crash-point.ts';
import type { TurnOutcome } from './turn-crash-points.ts';

/** Everything but how often something was tried. */
const whole = ({ log, conversation, state, shared, marking }: TurnOutcome): unknown => ({
  log,
  conversation,
  state,
  shared,
  marking,
});

/** How the one tool that pays ended, and how often it began. */
function payment({ log, effects }: TurnOutcome): {
  readonly outcome: string;
  readonly began: number;
} {
  const result = log.find((entry) => entry.type === 'tool.result' && entry.name === 'pay');
  if (result?.type !== 'tool.result') return assert.fail('no result');
  return { outcome: result.outcome, began: effects[result.callId]?.[0] ?? 0 };
}

test('in memory, a turn that is cut anywhere, and again anywhere after it, leaves what the uncut one leaves', async (t) => {
  const { cuts, pairs } = await everyCrashPoint(inMemory, {
    pay: 'rerun',
    againEvery: 9,
    same: whole,
  });
  t.diagnostic(`${cuts} cuts, ${pairs} of them followed by another`);
  assert.ok(cuts >= 30 && pairs >= 50);
});

test('on SQLite, a turn that is cut anywhere leaves what the uncut one leaves', async (t) => {
  const { cuts } = await everyCrashPoint(inSqlite, { pay: 'rerun', stride: 3, same: whole });
  t.diagnostic(`${cuts} cuts`);
  assert.ok(cuts >= 10);
});

test('a tool whose outcome a cut leaves unknown is told so to the model, and never begins twice', async (t) => {
  let unknown = 0;
  const { cuts } = await everyCrashPoint(inMemory, {
    pay: 'unknown',
    same: ({ log, marking, state }) => ({ log: log.map(withoutOutcome), marking, state }),
    check: (left) => {
      const { outcome, began } = payment(left);
      assert.ok(began <= 1, 'it began twice');
      assert.ok(outcome === 'unknown' || (outcome === 'ok' && began === 1), outcome);
      if (outcome === 'unknown') unknown++;
    },
  });
  t.diagnostic(`${cuts} cuts, ${unknown} outcomes unknown`);
  assert.ok(unknown > 0);
});

test('a tool whose outcome a cut leaves unknown runs again when a person says so, and not before', async (t) => {
  let asked = 0;
  const { cuts } = await everyCrashPoint(inMemory, {
    pay: 'ask',
    same: ({ log, conversation, state, marking }) => ({
      // A question more is another wait, and then it is another call that ends first.
      log: log.filter(({ type }) => !/^(turn\.(waiting|resumed)|tool\..*)$/.test(type)),
      results: log
        .filter(({ type }) => type === 'tool.result')
        .map((one) => JSON.stringify(one))
        .toSorted(),
      conversation,
      state,
      marking,
    }),
    check: (left, { length }) => {
      const { outcome, began } = payment(left);
      assert.equal(outcome, 'ok');
      const answers = left.log.filter(({ type }) => type === 'tool.answered').length - 2;
      assert.ok(
        began <= 1 + answers && answers <= length,
        `${began} runs after ${answers} questions`,
      );
      if (answers > 0) asked++;
    },
  });
  t.diagnostic(`${cuts} cuts, ${asked} led to a question`);
  assert.ok(asked > 0);
});

test('a cut around a snapshot leaves what the uncut turn leaves', async () => {
  const { uncut } = await everyCrashPoint(inMemory, {
    pay: 'rerun',
    turnsBefore: 28,
    same: whole,
    check: ({ snapshotAt }) => assert.equal(snapshotAt, 64),
  });
  assert.equal(uncut.snapshotAt, 64);
});

function withoutOutcome(entry: LogEntry): unknown {
  return entry.type === 'tool.result' && entry.name === 'pay'
    ? { ...entry, outcome: undefined, response: undefined }
    : entry;
}
