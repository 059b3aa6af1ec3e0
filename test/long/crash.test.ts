import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChildHost } from '../crash/child-host.ts';
import { everyCrashPoint, inMemory, inSqlite } from '../crash/every-crash-point.ts';
import { killAtFailpoints } from '../crash/kills-at-failpoints.ts';
import { HostSequence } from '../crash/host-sequence.ts';
import { killAtRandom } from '../crash/random-kills.ts';
import { approveAtOnce } from '../crash/two-processes.ts';
import type { TurnOutcome } from '../crash/turn-crash-points.ts';

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

test('200 SIGKILLs at random moments lose no message and repeat no finished effect', async (t) => {
  const seed = Date.now() % 1_000_000;
  const { faults, ...figures } = await killAtRandom(200, seed);
  t.diagnostic(`seed ${seed}: ${JSON.stringify(figures)}`);
  assert.deepEqual(faults, []);
  assert.ok(figures.killedMidTurn >= 60, 'too few kills met a turn');
});

test('SIGKILL at every failpoint of a turn, followed by another in the recovery, does not change the turn', async (t) => {
  const { faults, ...figures } = await killAtFailpoints({ every: 1, first: 1 });
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(faults, []);
});

test('two processes approve the same call concurrently, 50 times: one approval counts, and the tool runs once', async (t) => {
  const { faults, ...figures } = await approveAtOnce(50);
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(faults, []);
});

test('a crash at any point, and a second crash at any later point, do not change the outcome of a turn, in memory and on SQLite', async (t) => {
  for (const [name, inWorld, againEvery] of [
    ['memory', inMemory, 1],
    ['SQLite', inSqlite, 2],
  ] as const) {
    const { crashes, pairs } = await everyCrashPoint(inWorld, {
      pay: 'rerun',
      againEvery,
      same: comparableOutcome,
    });
    t.diagnostic(`${name}: ${crashes} crashes, ${pairs} of them followed by another`);
  }
});

test('a crash around a snapshot, and a second crash after it, do not change the outcome of a turn', async (t) => {
  const { crashes, pairs } = await everyCrashPoint(inMemory, {
    pay: 'rerun',
    turnsBefore: 28,
    againEvery: 3,
    same: comparableOutcome,
    check: ({ snapshotAt }) => assert.equal(snapshotAt, 64),
  });
  t.diagnostic(`${crashes} crashes, ${pairs} of them followed by another`);
});

test('a waiting process takes over a session within 2 s after SIGKILL of its owner', async (t) => {
  const takeoverMs: number[] = [];
  for (let round = 0; round < 10; round++) {
    using hosts = new HostSequence();
    await using owner = await ChildHost.start(hosts.next());
    await using peer = await ChildHost.start(hosts.next());
    await owner.command({ do: 'open', session: 'x' });
    const requests = [{ name: 'slow', text: 'held' }] as const;
    await owner.command({ do: 'send', session: 'x', messageId: 'x-m1', requests: requests });
    await owner.holding('held');
    const killedAt = performance.now();
    owner.signal('SIGKILL');
    await peer.holding('held');
    takeoverMs.push(performance.now() - killedAt);
    await peer.command({ do: 'release', text: 'held' });
    await peer.command({ do: 'idle', session: 'x' });
    await peer.close();
  }
  t.diagnostic(`taken over after ${takeoverMs.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  assert.ok(Math.max(...takeoverMs) < 2_000);
});
