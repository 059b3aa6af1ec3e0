import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { FairSemaphore } from './fair-semaphore.ts';

const stalled = (): Error => new Error('stalled');

test('so many are inside at once, and the others come in their order', async () => {
  const turnstile = new FairSemaphore(2, 1000, stalled);
  let inside = 0;
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 7 }, async (_, n) => {
      const leave = await turnstile.acquire();
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

test('who waits is refused when nobody comes out for so long, and not while others do', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  const turnstile = new FairSemaphore(1, 1000, stalled);
  const first = await turnstile.acquire();
  const second = turnstile.acquire();
  const third = turnstile.acquire();
  mock.timers.tick(900);
  first();
  const leave = await second;
  // It has waited for longer than that, but somebody came out meanwhile.
  mock.timers.tick(900);
  const refused = assert.rejects(third, /stalled/);
  mock.timers.tick(1000);
  await refused;
  leave();
  // Nobody holds the place of the one who was refused.
  (await turnstile.acquire())();
});
