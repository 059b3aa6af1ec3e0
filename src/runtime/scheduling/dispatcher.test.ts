import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionKey } from '../../core/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { sessionKey } from '../../store/contract/index.ts';
import { createDispatcher, type Dispatcher } from './dispatcher.ts';

test('a scheduled session is driven, but not during the call of schedule', async () => {
  const { dispatcher, driven } = make();
  dispatcher.schedule(sessionKey('a'));
  assert.deepEqual(driven, []);
  await turn();
  assert.deepEqual(driven, ['a']);
});

test('one session is never driven twice at once, and a schedule during a drive is not lost', async () => {
  const gates: (() => void)[] = [];
  const { dispatcher, driven } = make(() => new Promise((resolve) => gates.push(resolve)));
  dispatcher.schedule(sessionKey('a'));
  dispatcher.schedule(sessionKey('b'));
  await turn();
  assert.deepEqual(driven, ['a', 'b'], 'different sessions run side by side');
  dispatcher.schedule(sessionKey('a'));
  dispatcher.schedule(sessionKey('a'));
  await turn();
  assert.deepEqual(driven, ['a', 'b']);
  gates[0]?.();
  await turn();
  assert.deepEqual(driven, ['a', 'b', 'a'], 'once for both wakes');
  gates[2]?.();
  await turn();
  assert.equal(driven.length, 3);
});

test('a session can schedule itself while it is driven', async () => {
  let left = 3;
  const { dispatcher, driven } = make(async (key) => {
    if (--left > 0) dispatcher.schedule(key);
  });
  dispatcher.schedule(sessionKey('a'));
  await turn();
  assert.deepEqual(driven, ['a', 'a', 'a']);
});

test('each session is driven at its time, with one alarm', async () => {
  const { dispatcher, driven, clock } = make();
  dispatcher.schedule(sessionKey('c'), 300);
  dispatcher.schedule(sessionKey('a'), 100);
  dispatcher.schedule(sessionKey('b'), 200);
  await turn();
  assert.deepEqual(driven, []);
  assert.equal(clock.nextAt, 100);
  for (const expected of ['a', 'b', 'c']) {
    clock.advance(100);
    await turn();
    assert.equal(driven.at(-1), expected);
  }
  assert.equal(driven.length, 3);
  assert.equal(clock.nextAt, undefined);
});

test('the earliest of several times counts, and an immediate schedule comes before all', async () => {
  const { dispatcher, driven, clock } = make();
  dispatcher.schedule(sessionKey('a'), 200);
  dispatcher.schedule(sessionKey('a'), 100);
  dispatcher.schedule(sessionKey('a'), 300);
  clock.advance(100);
  await turn();
  assert.deepEqual(driven, ['a']);
  dispatcher.schedule(sessionKey('a'), 500);
  dispatcher.schedule(sessionKey('a'));
  await turn();
  assert.deepEqual(driven, ['a', 'a']);
  clock.advance(1000);
  await turn();
  assert.deepEqual(driven, ['a', 'a']);
});

test('a time scheduled during a drive leads to another drive', async () => {
  const gates: (() => void)[] = [];
  const { dispatcher, driven, clock } = make(() => new Promise((resolve) => gates.push(resolve)));
  dispatcher.schedule(sessionKey('a'));
  await turn();
  dispatcher.schedule(sessionKey('a'), 100);
  clock.advance(100);
  gates[0]?.();
  await turn();
  assert.deepEqual(driven, ['a', 'a']);
});

test('a canceled session is not driven, and a running drive continues', async () => {
  const { dispatcher, driven, clock } = make();
  dispatcher.schedule(sessionKey('a'), 100);
  dispatcher.schedule(sessionKey('b'), 100);
  dispatcher.cancel(sessionKey('a'));
  dispatcher.cancel(sessionKey('unknown'));
  clock.advance(100);
  await turn();
  assert.deepEqual(driven, ['b']);
});

test('a drive that fails is reported, and the session can be scheduled again', async () => {
  const failures: unknown[] = [];
  const { dispatcher, driven } = make(
    async () => {
      throw new Error('no');
    },
    (key, error) => failures.push([key.sessionId, String(error)]),
  );
  dispatcher.schedule(sessionKey('a'));
  await turn();
  dispatcher.schedule(sessionKey('a'));
  await turn();
  assert.deepEqual(driven, ['a', 'a']);
  assert.deepEqual(failures, [
    ['a', 'Error: no'],
    ['a', 'Error: no'],
  ]);
});

test('a closed dispatcher waits for running drives and starts no more', async () => {
  const gates: (() => void)[] = [];
  const { dispatcher, driven, clock } = make(() => new Promise((resolve) => gates.push(resolve)));
  dispatcher.schedule(sessionKey('a'));
  await turn();
  dispatcher.schedule(sessionKey('a'));
  dispatcher.schedule(sessionKey('b'), 100);
  let closed = false;
  const closing = dispatcher.close().then(() => (closed = true));
  await turn();
  assert.equal(closed, false);
  gates[0]?.();
  await closing;
  clock.advance(1000);
  dispatcher.schedule(sessionKey('c'));
  await turn();
  assert.deepEqual(driven, ['a']);
});

function make(
  drive: (key: SessionKey) => Promise<void> = async () => undefined,
  failed: (key: SessionKey, error: unknown) => void = (_, error) => assert.fail(String(error)),
): {
  readonly dispatcher: Dispatcher;
  readonly driven: readonly string[];
  readonly clock: SimulatedClock;
} {
  const driven: string[] = [];
  const clock = new SimulatedClock();
  const dispatcher = createDispatcher({
    clock,
    onError: failed,
    drive: (key) => {
      driven.push(key.sessionId);
      return drive(key);
    },
  });
  return { dispatcher, driven, clock };
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
