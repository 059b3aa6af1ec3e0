/** How calls end that hardly began. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LiveHub, liveAgent, ScriptedLive } from '../../src/live/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { hydrate } from '../../src/runtime/journal/hydrate.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { passTime, SimulatedClient } from './simulated-call.ts';

const turns = [{ heard: 'Hello?', text: 'Hi.' }];

test('a call that is hung up before its connection opens has none that stays', async () => {
  const clock = new SimulatedClock();
  const hub = new LiveHub();
  const model = new ScriptedLive({ turns }, { clock });
  const agents = [liveAgent({ name: 'assistant', model })];
  const store = new MemoryStore();
  const runtime = await openRuntime({ agents, clock, store, live: hub });
  try {
    for (const id of ['new', 'known']) {
      const session = await runtime.session(id);
      if (id === 'known') {
        await (await hub.call(session, new SimulatedClient(clock))).hangUp();
        await passTime(clock, 1_000);
      }
      const call = await hub.call(session, new SimulatedClient(clock));
      await call.hangUp();
      await passTime(clock, 200);
      const { tokens } = await hydrate(store, session.key);
      assert.deepEqual(
        [...tokens.keys()].filter((place) => /^link\.(?!stale)/.test(place)),
        [],
        id,
      );
      assert.equal((await session.status()).inFlight, 0, id);
    }
  } finally {
    await runtime.close();
  }
});
