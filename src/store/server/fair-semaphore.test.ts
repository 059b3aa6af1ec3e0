import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { FairSemaphore } from './fair-semaphore.ts';

const stalled = (): Error => new Error('stalled');

test('the permits limit concurrency, and waiters are served in order', async () => {
  const semaphore = new FairSemaphore(2, 1000, stalled);
  let inside = 0;
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 7 }, async (_, n) => {
      const leave = await semaphore.acquire();
      inside++;
      order.push(n);
      assert.ok(inside <= 2);
      await new Promise(setImmediate);
      inside--;
      leave();
    }),
  );
  assert.deepEqual(order, [0, 1, 2, 3, 4, 5, 6]);
});

test('a waiter fails when no permit is released for the stall time, and not while others progress', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  const semaphore = new FairSemaphore(1, 1000, stalled);
  const first = await semaphore.acquire();
  const second = semaphore.acquire();
  const third = semaphore.acquire();
  mock.timers.tick(900);
  first();
  const leave = await second;
  // It has waited longer than the stall time, but a permit was released meanwhile.
  mock.timers.tick(900);
  const refused = assert.rejects(third, /stalled/);
  mock.timers.tick(1000);
  await refused;
  leave();
  // The failed waiter holds no permit.
  (await semaphore.acquire())();
});
