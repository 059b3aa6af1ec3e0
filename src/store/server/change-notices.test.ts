import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNoticePayload, toNoticePayloads, type ChangedSession } from './change-notices.ts';

const toSession = (n: number, more: Partial<ChangedSession> = {}): ChangedSession => ({
  key: { appName: 'app', userId: 'ünïcode', sessionId: `s${n}` },
  ...more,
});

test('a notice names the sessions, and the owner that has to read an input', () => {
  const changed = [
    toSession(1),
    toSession(2, { inputFor: 'runtime-1' }),
    toSession(3, { inputFor: null }),
  ];
  const [payload, ...more] = toNoticePayloads('writer', changed);
  assert.deepEqual(more, []);
  assert.deepEqual(
    JSON.parse(JSON.stringify(parseNoticePayload(payload ?? ''))),
    JSON.parse(JSON.stringify({ writer: 'writer', changed })),
  );
});

test('a large commit has several notices, each below the limit of a payload, and loses no session', () => {
  const changed = Array.from({ length: 1000 }, (_, n) => toSession(n));
  const payloads = toNoticePayloads('writer', changed);
  assert.ok(payloads.length > 1 && payloads.every((one) => Buffer.byteLength(one) < 8000));
  const parsed = payloads.flatMap((one) => {
    const notice = parseNoticePayload(one);
    return notice.changed === 'any' ? [] : notice.changed;
  });
  assert.deepEqual(
    parsed.map(({ key }) => key.sessionId),
    changed.map(({ key }) => key.sessionId),
  );
});

test('an id that is too long, and the notice of an earlier release, stand for unknown sessions', () => {
  const long = { key: { appName: 'app', userId: 'u', sessionId: 'x'.repeat(9000) } };
  const [payload = '', ...more] = toNoticePayloads('writer', [toSession(1), long]);
  assert.deepEqual(more, []);
  assert.deepEqual(parseNoticePayload(payload), { writer: 'writer', changed: 'any' });
  assert.deepEqual(parseNoticePayload('abc'), { writer: 'abc', changed: 'any' });
});
