/** A session has its live connection in one process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { LiveHub, liveAgent, ScriptedLive } from '../../src/live/index.ts';
import type { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { SocketServer } from '../server/live/socket-talk.ts';
import { SocketPlayer } from '../server/live/socket-player.ts';
import { SimulatedCall, SimulatedClient } from './simulated-call.ts';
import { talk } from './talk.ts';
import type { Talk } from './talk.ts';

const again = Array.from({ length: 4 }, () => ({ heard: 'Again.', text: 'Once more.' }));

interface OtherProcess {
  readonly runtime: Runtime;
  readonly hub: LiveHub;
  readonly clock: SimulatedClock;
}

/** Another runtime on the store of a call. */
async function openOther({ store, clock }: Talk): Promise<OtherProcess> {
  const hub = new LiveHub();
  const model = new ScriptedLive({ turns: again }, { clock });
  const agents = [liveAgent({ name: 'assistant', model })];
  return { hub, clock, runtime: await openRuntime({ agents, store, clock, live: hub }) };
}

test('a call in a second process is refused at once, and the first call goes on', async () => {
  await using one = await talk({ turns: again });
  const { runtime, hub, clock } = await openOther(one);
  try {
    const session = await runtime.session('demo');
    await assert.rejects(hub.call(session, new SimulatedClient(clock)), {
      name: 'LiveSessionElsewhereError',
      code: 'live_session_elsewhere',
      message: /demo/,
    });
    await one.call.say(300);
    await one.call.pass(1_000);
    assert.deepEqual((await one.call.log()).slice(-2), ['model: Once more.', 'ended: end_turn']);
  } finally {
    await runtime.close();
  }
});

test('when the call has ended, or its process, another process can begin one', async () => {
  for (const end of ['call', 'process'] as const) {
    await using one = await talk({ turns: again });
    const { runtime, hub, clock } = await openOther(one);
    try {
      if (end === 'call') await one.call.hangUp();
      else await one.runtime.close();
      const call = await SimulatedCall.begin(hub, await runtime.session('demo'), clock);
      await call.say(300);
      await call.pass(1_000);
      assert.deepEqual((await call.log()).slice(-2), ['model: Once more.', 'ended: end_turn']);
    } finally {
      await runtime.close();
    }
  }
});

test('a socket to a second process is closed with 4503 at once', async () => {
  await using one = await talk({ turns: again });
  const other = await openOther(one);
  const server = await SocketServer.open(other.runtime, other);
  const player = new SocketPlayer(one.clock);
  try {
    player.connect((socket) => server.accept(socket));
    // The clock stands still.
    while (player.closed === undefined) await nextTick();
    assert.deepEqual(player.closed, { code: 4503, reason: 'live_session_elsewhere' });
  } finally {
    server.close();
    await other.runtime.close();
  }
});
