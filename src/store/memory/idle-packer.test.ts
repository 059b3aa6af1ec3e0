import assert from 'node:assert/strict';
import { test } from 'node:test';
import { twoToolTurn } from '../../../test/store-layout/two-tool-turn.ts';
import { IdlePacker } from './idle-packer.ts';
import { MemoryJournal } from './memory-journal.ts';

class Packable {
  packed = 0;
  pack(): void {
    this.packed++;
  }
}

test('sessions are packed when no step came since the last look, and again after their next step', () => {
  const runs: { readonly run: () => void; readonly delayMs: number }[] = [];
  const packer = new IdlePacker<Packable>((run, delayMs) => {
    runs.push({ run, delayMs });
    return { cancel: () => {} };
  });
  const next = (): number => {
    const { run, delayMs } = runs.shift() ?? assert.fail('nothing is scheduled');
    run();
    return delayMs;
  };
  const sessions = Array.from({ length: 25 }, () => new Packable());
  const removed = new Packable();
  for (const session of [removed, ...sessions]) packer.touch(session);
  packer.remove(removed);
  assert.equal(runs.length, 1);
  assert.equal(next(), 1000);
  assert.equal(sessions.filter(({ packed }) => packed > 0).length, 0);
  assert.equal(next(), 1000);
  assert.equal(sessions.filter(({ packed }) => packed > 0).length, 20);
  assert.equal(next(), 0);
  assert.deepEqual(
    sessions.map(({ packed }) => packed),
    sessions.map(() => 1),
  );
  assert.equal(removed.packed, 0);
  assert.equal(runs.length, 0);
  const [first] = sessions;
  packer.touch(first ?? assert.fail());
  next();
  next();
  assert.equal(first?.packed, 2);
});

test('a packed journal reads as before, also from within a step, and goes on', () => {
  const row = SESSION;
  const plain = new MemoryJournal();
  const packed = new MemoryJournal();
  for (let turn = 0; turn < 50; turn++) {
    for (const { step, at, records, events } of twoToolTurn(row, turn, 1).steps) {
      plain.append({ step, at, records, events });
      packed.append({ step, at, records, events });
    }
    if (turn % 7 === 0) packed.pack();
  }
  assert.equal(plain.head, 200);
  for (let index = 0; index <= 200; index++)
    assert.deepEqual(packed.step(index), json(plain.step(index)));
  for (let seq = 0; seq <= plain.lastSeq + 1; seq++)
    assert.deepEqual(packed.eventsAfter(seq), json(plain.eventsAfter(seq)));
  assert.equal(packed.eventsAfter(plain.lastSeq).length, 0);
  assert.deepEqual(packed.eventsAfter(3)[0]?.seq, 4);
  assert.deepEqual([packed.lastSeq, packed.lastRecord], [50 * 9, 50 * 14]);
  for (const record of [1, 14, 15, 700, 701])
    assert.equal(packed.findStepIndex(record), plain.findStepIndex(record));
  assert.equal(packed.findStepIndex(1), 0);
  assert.equal(packed.findStepIndex(15), 4);
});

function json<T>(value: T): T {
  return value === undefined ? value : JSON.parse(JSON.stringify(value));
}

const SESSION = {
  key: { appName: 'app', userId: 'ada', sessionId: 's' },
  uid: 'uid',
  agent: 'assistant',
  owner: 'owner',
  epoch: 1,
  netHash: 'net',
} as unknown as Parameters<typeof twoToolTurn>[0];
