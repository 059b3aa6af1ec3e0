import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { StorageMeter } from './storage-meter.ts';

test('measurements of users who are not seen again do not stay in memory', async () => {
  const clock = new SimulatedClock(0);
  const store = new MemoryStore();
  const meter = new StorageMeter({
    app: 'shop',
    store,
    artifacts: undefined,
    now: () => clock.now(),
    isOpen: () => true,
  });
  let mostInMemory = 0;
  for (let user = 0; user < 10_000; user++) {
    clock.advance(100);
    await meter.measure(`user ${user}`, 1000);
    mostInMemory = Math.max(mostInMemory, meter.size);
  }
  // Two of each of the last 600 users are in use.
  assert.ok(mostInMemory <= 4 * 1024, `${mostInMemory} measurements`);
  await store.close();
});
