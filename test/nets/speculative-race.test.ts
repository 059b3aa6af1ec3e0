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

async function started(cached?: string): Promise<Race> {
  const slow = Promise.withResolvers<string>();
  const fast = Promise.withResolvers<string>();
  const of = speculativeRace({
    slow: async () => slow.promise,
    fast: async () => fast.promise,
    ...(cached !== undefined && { cached }),
  });
  const drive = new DriverHarness(of);
  drive.inject(requested, 'q');
  await drive.whenIdle();
  return { drive, slow, fast };
}

test('two branches that resolve at the same moment commit exactly once, in 1,000 of 1,000 runs', async () => {
  const committed = new Map<unknown, number>();
  for (let round = 0; round < 1_000; round++) {
    const { drive, slow, fast } = await started();
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
  const early = await started();
  early.fast.resolve('fast');
  await early.drive.whenIdle();
  assert.deepEqual(early.drive.values(response), []);
  early.slow.resolve('slow');
  await early.drive.whenIdle();
  assert.deepEqual(early.drive.values(response), ['slow']);

  const late = await started();
  late.fast.resolve('fast');
  await late.drive.whenIdle();
  late.drive.clock.advance(2_000);
  await late.drive.whenIdle();
  late.slow.resolve('slow');
  await late.drive.whenIdle();
  assert.deepEqual(late.drive.values(response), ['fast']);
});

test('a third tier is one more transition, which answers once after five seconds', async () => {
  const { drive, slow } = await started('cached');
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
  const { drive, fast } = await started('cached');
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
  const moves = ['slow', 'fast', 'deadline', 'barge-in'] as const;
  const orders = moves.flatMap((a) =>
    moves.flatMap((b) => moves.flatMap((c) => moves.map((d) => [a, b, c, d] as const))),
  );
  for (const order of orders) {
    const play = new ExecutorHarness(speculativeRace({ slow: never, fast: never }));
    play.inject(requested, 'q');
    play.settle(0);
    const attempts = new Map(
      [...play.running.values()].map((attempt) => [attempt.t.name, attempt]),
    );
    let answers = 0;
    for (const move of order) {
      if (move === 'deadline') play.now += 2_000;
      else if (move === 'barge-in') play.inject(bargeIn);
      else {
        const attempt = attempts.get(`race.run-${move}`);
        assert.ok(attempt);
        play.executor.finish(
          attempt.firing,
          1,
          ok({ [`${move}Done`]: move }),
          play.now,
          attempt.t.name,
        );
      }
      play.settle();
      answers = play.values(response).length;
      assert.ok(answers <= 1, order.join());
    }
    const barged = order.indexOf('barge-in');
    const slowAt = order.indexOf('slow');
    if (slowAt >= 0 && (barged < 0 || slowAt < barged)) assert.equal(answers, 1, order.join());
  }
});
