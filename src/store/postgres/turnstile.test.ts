import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Turnstile } from './turnstile.ts';

const stalled = (): Error => new Error('stalled');

test('so many are inside at once, and the others come in their order', async () => {
  const turnstile = new Turnstile(2, 1000, stalled);
  let inside = 0;
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 7 }, async (_, n) => {
      const leave = await turnstile.enter();
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
  const turnstile = new Turnstile(1, 1000, stalled);
  const first = await turnstile.enter();
  const second = turnstile.enter();
  const third = turnstile.enter();
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
  (await turnstile.enter())();
});
