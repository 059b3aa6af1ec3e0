import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogEntry, LogEvent, PartialEvent } from '../../core/index.ts';
import { formatFrameCursor, parseFrameCursor } from './frame-cursor.ts';
import { SessionFold } from './session-fold.ts';
import type { SessionUpdate } from './session-update.ts';

const invocationId = 'e-1';
const message = (text: string, thinking?: string): LogEntry => {
  const thoughts = thinking === undefined ? [] : [{ text: thinking, thought: true } as const];
  return {
    type: 'agent.message',
    invocationId,
    author: 'a',
    content: { role: 'model', parts: [...thoughts, { text }] },
  };
};
const log = (...entries: readonly LogEntry[]): readonly LogEvent[] =>
  entries.map((entry, index) => ({ seq: index + 1, at: 0, ...entry }));
const piece = (text: string, offset: number, kind: 'text' | 'thinking' = 'text'): PartialEvent => ({
  type: 'partial',
  firingId: 'f/1',
  attempt: 1,
  kind,
  text,
  offset,
  invocationId,
  author: 'a',
});

function readStored(fold: SessionFold, events: readonly LogEvent[]): readonly SessionUpdate[] {
  return events.flatMap((event) => fold.add(event).map(({ update }) => update));
}

/** The text that a reader has after these updates, by message. */
function joinSent(
  updates: readonly { readonly update: SessionUpdate; readonly isShown: boolean }[],
): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const { update, isShown } of updates) {
    if (isShown) continue;
    if (update.type === 'text.delta')
      texts[update.messageId] = (texts[update.messageId] ?? '') + update.text;
    if (update.type === 'text.dropped') delete texts[update.messageId];
  }
  return texts;
}

test('a message is its thoughts, its text and its end, and its ids are the same at each reading', () => {
  const events = log(message('Yes.', 'Hm.'), message('Done.'));
  const types = readStored(new SessionFold(), events).map((update) => update.type);
  const texts = ['text.start', 'text.delta', 'text.end'];
  assert.deepEqual(types, [...texts, ...texts, 'agent.message', ...texts, 'agent.message']);
  assert.deepEqual(readStored(new SessionFold(), events), readStored(new SessionFold(), events));
});

test('text that was sent in pieces is not sent again with its message, and keeps the message id', () => {
  const fold = new SessionFold();
  const sent = [
    ...fold.preview(piece('Ye', 0)),
    ...fold.preview(piece('s', 2)),
    ...fold.add({ seq: 1, at: 0, ...message('Yes.') }),
  ];
  assert.deepEqual(joinSent(sent), { 'e-1-a-0': 'Yes.' });
  assert.equal(sent.filter(({ isShown }) => isShown).length, 1);
  assert.equal(sent.filter(({ isStored }) => isStored).length, 4);
});

test('a piece that does not continue the others waits for the message', () => {
  const fold = new SessionFold();
  const sent = [
    ...fold.preview(piece('Y', 0)),
    ...fold.preview(piece('s.', 2)),
    ...fold.add({ seq: 1, at: 0, ...message('Yes.') }),
  ];
  assert.deepEqual(joinSent(sent), { 'e-1-a-0': 'Yes.' });
});

test('a reader that comes back with the id of a piece gets the rest of the text', () => {
  const fold = new SessionFold();
  const first = [...fold.preview(piece('Ye', 0))];
  const id = formatFrameCursor({ seq: 7, index: 2, previews: fold.previewLengths });
  const cursor = parseFrameCursor(id);
  assert.ok(cursor !== undefined);
  assert.deepEqual([cursor.seq, cursor.index], [7, 2]);
  const again = new SessionFold();
  again.resumePreviews(cursor.previews);
  const rest = [
    ...again.preview(piece('es', 1)),
    ...again.add({ seq: 8, at: 0, ...message('Yes.') }),
  ];
  assert.deepEqual(joinSent([...first, ...rest]), { 'e-1-a-0': 'Yes.' });
});

test('the pieces of a call that failed are withdrawn, and the next answer has another id', () => {
  const fold = new SessionFold();
  const retry = { type: 'model.attempt', invocationId, attempt: 2, reason: 'crash' } as const;
  const sent = [
    ...fold.preview(piece('No', 0)),
    ...fold.add({ seq: 1, at: 0, ...retry }),
    ...fold.preview(piece('Ye', 0)),
    ...fold.add({ seq: 2, at: 0, ...message('Yes.') }),
  ];
  assert.deepEqual(joinSent(sent), { 'e-1-a-0-1': 'Yes.' });
  const [, reread] = readStored(new SessionFold(), log(retry, message('Yes.')));
  assert.ok(reread?.type === 'text.start' && reread.messageId === 'e-1-a-0-1');
});

test('the pieces of a message that was interrupted are withdrawn', () => {
  const fold = new SessionFold();
  const sent = [
    ...fold.preview(piece('Wait, ', 0)),
    ...fold.add({ seq: 1, at: 0, type: 'turn.ended', invocationId, stopReason: 'interrupted' }),
  ];
  assert.deepEqual(
    sent.map(({ update }) => update.type),
    ['text.start', 'text.delta', 'text.dropped', 'turn.ended'],
  );
});

test('the pieces of an answer that a callback changed are withdrawn', () => {
  const fold = new SessionFold();
  const sent = [
    ...fold.preview(piece('secret', 0)),
    ...fold.add({ seq: 1, at: 0, ...message('[removed]') }),
  ];
  assert.deepEqual(Object.values(joinSent(sent)), ['[removed]']);
});

test('a wait lists what each call needs, also the calls of called agents', () => {
  const fold = new SessionFold();
  const call = (callId: string, needs: 'nothing' | 'approval' | 'result'): LogEntry => ({
    type: 'tool.call',
    invocationId,
    author: 'a',
    callId,
    name: callId,
    args: {},
    needs,
  });
  const pending = (callId: string, request: object): LogEntry =>
    ({
      type: 'tool.pending',
      invocationId,
      author: 'a',
      callId,
      name: callId,
      request,
    }) as LogEntry;
  const inner = { callId: 'inner', name: 'erase', args: {}, needs: 'approval', fingerprint: 'f' };
  readStored(
    fold,
    log(
      call('approve', 'approval'),
      call('external', 'approval'),
      { type: 'tool.answered', invocationId, callId: 'external', decision: 'approved' },
      call('crashed', 'nothing'),
      call('asks', 'nothing'),
      pending('asks', { question: 'Which?' }),
      call('agent', 'nothing'),
      pending('agent', { called_agent: { waits: [{ ...inner, session: 's', path: ['b'] }] } }),
    ),
  );
  const waits = fold.waits(['approve', 'external', 'crashed', 'asks', 'agent', 'unknown']);
  assert.deepEqual(
    waits.map(({ callId, needs, reason, path }) => [callId, needs, reason, ...path]),
    [
      ['approve', 'approval', 'policy'],
      ['external', 'result', 'policy'],
      ['crashed', 'approval', 'crash'],
      ['asks', 'result', 'policy'],
      ['inner', 'approval', 'policy', 'b'],
    ],
  );
  // A turn waits for the calls of a called agent under their own ids.
  assert.deepEqual(fold.waits(['inner']), waits.slice(-1));
});

test('an id that no frame has is rejected', () => {
  assert.equal(parseFrameCursor(''), undefined);
  assert.deepEqual(parseFrameCursor('3.1'), { seq: 3, index: 1, previews: new Map() });
  for (const id of ['3', '3.', 'x.1', '-1.0', '3.1~', '3.1~%zz:1', `3.1${'~a:1'.repeat(33)}`])
    assert.throws(() => parseFrameCursor(id), { code: 'invalid_input' }, id);
});
