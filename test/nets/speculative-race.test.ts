import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EffectResult } from '../../src/net/index.ts';
import { DriverHarness } from './driver-harness.ts';
import { ExecutorHarness } from './executor-harness.ts';
import { requested, bargeIn, response, speculativeRace } from './speculative-race.ts';

const never = async (): Promise<string> => new Promise(() => {});

interface Race {
  readonly drive: DriverHarness;
  readonly slow: PromiseWithResolvers<string>;
  readonly fast: PromiseWithResolvers<string>;
}

async function startRace(cached?: string): Promise<Race> {
  const slow = Promise.withResolvers<string>();
  const fast = Promise.withResolvers<string>();
  const net = speculativeRace({
    slow: async () => slow.promise,
    fast: async () => fast.promise,
    ...(cached !== undefined && { cached }),
  });
  const drive = new DriverHarness(net);
  drive.inject(requested, 'q');
  await drive.whenIdle();
  return { drive, slow, fast };
}

test('two branches that resolve at the same moment commit exactly once, in 1,000 of 1,000 runs', async () => {
  const committed = new Map<unknown, number>();
  for (let round = 0; round < 1_000; round++) {
    const { drive, slow, fast } = await startRace();
    const deadline = (): void => drive.clock.advance(2_000);
    const branches = [(): void => slow.resolve('slow'), (): void => fast.resolve('fast')];
    if (round % 2 === 0) {
      // The deadline has passed, so either can commit.
      deadline();
      await drive.whenIdle();
    } else branches.push(deadline);
    // All results arrive in every order, before anything else can happen.
    for (const index of [0, 1, 2]) branches.at((round + index) % branches.length)?.();
    await drive.whenIdle();
    const answers = drive.values(response);
    assert.equal(answers.length, 1, `round ${round}: ${answers.join()}`);
    committed.set(answers[0], (committed.get(answers[0]) ?? 0) + 1);
  }
  assert.deepEqual([...committed], [['slow', 1_000]]);
});

test('the slow answer is preferred until the deadline, then the fast one is sent', async () => {
  const beforeDeadline = await startRace();
  beforeDeadline.fast.resolve('fast');
  await beforeDeadline.drive.whenIdle();
  assert.deepEqual(beforeDeadline.drive.values(response), []);
  beforeDeadline.slow.resolve('slow');
  await beforeDeadline.drive.whenIdle();
  assert.deepEqual(beforeDeadline.drive.values(response), ['slow']);

  const afterDeadline = await startRace();
  afterDeadline.fast.resolve('fast');
  await afterDeadline.drive.whenIdle();
  afterDeadline.drive.clock.advance(2_000);
  await afterDeadline.drive.whenIdle();
  afterDeadline.slow.resolve('slow');
  await afterDeadline.drive.whenIdle();
  assert.deepEqual(afterDeadline.drive.values(response), ['fast']);
});

test('a third tier is one more transition, which answers once after five seconds', async () => {
  const { drive, slow } = await startRace('cached');
  for (const ms of [2_000, 2_999]) {
    drive.clock.advance(ms);
    await drive.whenIdle();
    assert.deepEqual(drive.values(response), []);
  }
  drive.clock.advance(1);
  await drive.whenIdle();
  slow.resolve('slow');
  await drive.whenIdle();
  assert.deepEqual(drive.values(response), ['cached']);
});

test('a barge-in stops both branches in one firing, and the next race starts clean', async () => {
  const { drive, fast } = await startRace('cached');
  fast.resolve('fast');
  await drive.whenIdle();
  drive.inject(bargeIn, null);
  await drive.whenIdle();
  assert.equal(drive.marking.firings.size, 0);
  assert.deepEqual([...drive.marking.tokens.keys()], []);
  assert.equal(drive.driver.executor.nextDueAt, undefined);
  drive.inject(requested, 'again');
  await drive.whenIdle();
  drive.clock.advance(2_000);
  await drive.whenIdle();
  assert.equal(drive.values(response).length, 1);
});

test('no race answers twice, for any order of results, deadlines and barge-ins', () => {
  const ok = (value: unknown): EffectResult => ({ ok: true, value });
  const actions = ['slow', 'fast', 'deadline', 'barge-in'] as const;
  const orders = actions.flatMap((a) =>
    actions.flatMap((b) => actions.flatMap((c) => actions.map((d) => [a, b, c, d] as const))),
  );
  for (const order of orders) {
    const harness = new ExecutorHarness(speculativeRace({ slow: never, fast: never }));
    harness.inject(requested, 'q');
    harness.settle(0);
    const attempts = new Map(
      [...harness.running.values()].map((attempt) => [attempt.t.name, attempt]),
    );
    let answers = 0;
    for (const action of order) {
      if (action === 'deadline') harness.now += 2_000;
      else if (action === 'barge-in') harness.inject(bargeIn);
      else {
        const attempt = attempts.get(`race.run-${action}`);
        assert.ok(attempt);
        harness.executor.finish(
          attempt.firing,
          1,
          ok({ [`${action}Done`]: action }),
          harness.now,
          attempt.t.name,
        );
      }
      harness.settle();
      answers = harness.values(response).length;
      assert.ok(answers <= 1, order.join());
    }
    const bargeInAt = order.indexOf('barge-in');
    const slowAt = order.indexOf('slow');
    if (slowAt >= 0 && (bargeInAt < 0 || slowAt < bargeInAt))
      assert.equal(answers, 1, order.join());
  }
});
