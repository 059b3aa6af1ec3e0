import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChildHost } from '../crash/child-host.ts';
import { everyCrashPoint, inMemory, inSqlite } from '../crash/every-crash-point.ts';
import { killAtFailpoints } from '../crash/kills-at-failpoints.ts';
import { HostSequence } from '../crash/host-sequence.ts';
import { killAtRandom } from '../crash/random-kills.ts';
import { approveAtOnce } from '../crash/two-processes.ts';
import type { TurnOutcome } from '../crash/turn-crash-points.ts';

const whole = ({ log, conversation, state, shared, marking }: TurnOutcome): unknown => ({
  log,
  conversation,
  state,
  shared,
  marking,
});

test('200 processes killed at random moments lose no message and repeat nothing that ended', async (t) => {
  const seed = Date.now() % 1_000_000;
  const { faults, ...figures } = await killAtRandom(200, seed);
  t.diagnostic(`seed ${seed}: ${JSON.stringify(figures)}`);
  assert.deepEqual(faults, []);
  assert.ok(figures.killedMidTurn >= 60, 'too few kills met a turn');
});

test('a process killed at every failpoint of a turn, and its heir again, leave it as it would have been', async (t) => {
  const { faults, ...figures } = await killAtFailpoints({ every: 1, first: 1 });
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(faults, []);
});

test('two processes approve the same call at once, 50 times: one is the first, the tool runs once', async (t) => {
  const { faults, ...figures } = await approveAtOnce(50);
  t.diagnostic(JSON.stringify(figures));
  assert.deepEqual(faults, []);
});

test('a turn cut anywhere, and again anywhere after it, leaves what the uncut one leaves, in memory and on SQLite', async (t) => {
  for (const [name, inWorld, againEvery] of [
    ['memory', inMemory, 1],
    ['SQLite', inSqlite, 2],
  ] as const) {
    const { cuts, pairs } = await everyCrashPoint(inWorld, {
      pay: 'rerun',
      againEvery,
      same: whole,
    });
    t.diagnostic(`${name}: ${cuts} cuts, ${pairs} of them followed by another`);
  }
});

test('cuts around a snapshot, and again after it, leave what the uncut turn leaves', async (t) => {
  const { cuts, pairs } = await everyCrashPoint(inMemory, {
    pay: 'rerun',
    turnsBefore: 28,
    againEvery: 3,
    same: whole,
    check: ({ snapshotAt }) => assert.equal(snapshotAt, 64),
  });
  t.diagnostic(`${cuts} cuts, ${pairs} of them followed by another`);
});

test('a session whose owner is killed is taken over within 2 s by a process that waits', async (t) => {
  const took: number[] = [];
  for (let round = 0; round < 10; round++) {
    using lineage = new HostSequence();
    await using owner = await ChildHost.start(lineage.next());
    await using heir = await ChildHost.start(lineage.next());
    await owner.command({ do: 'open', session: 'x' });
    const wishes = [{ name: 'slow', text: 'held' }] as const;
    await owner.command({ do: 'send', session: 'x', messageId: 'x-m1', requests: wishes });
    await owner.holding('held');
    const killedAt = performance.now();
    owner.signal('SIGKILL');
    await heir.holding('held');
    took.push(performance.now() - killedAt);
    await heir.command({ do: 'release', text: 'held' });
    await heir.command({ do: 'idle', session: 'x' });
    await heir.close();
  }
  t.diagnostic(`taken over after ${took.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  assert.ok(Math.max(...took) < 2_000);
});
