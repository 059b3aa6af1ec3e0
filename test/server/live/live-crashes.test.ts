import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from '../../../src/net/index.ts';
import type { CrashPoint } from '../../crash/killable-store.ts';
import { checkOutcome, talkWithCrashes } from '../../live/live-crashes.ts';
import type { LiveOutcome } from '../../live/live-crashes.ts';
import { passTime, readLog } from '../../live/simulated-call.ts';
import { SocketPlayer } from './socket-player.ts';
import { sayOver, SocketServer } from './socket-talk.ts';

/** Has the conversation over sockets, with one client that reconnects after each crash. */
async function talkOverSockets(crashes: readonly CrashPoint[]): Promise<LiveOutcome> {
  const player = new SocketPlayer(new SimulatedClock());
  const outcome = await talkWithCrashes(crashes, {
    begin: async ({ hub, runtime, session, clock }) => {
      const server = await SocketServer.open(runtime, { hub, clock });
      player.connect((socket) => server.accept(socket, session.key.sessionId), { clock });
      return {
        say: async (ms) => sayOver(player, clock, ms),
        pass: async (ms) => passTime(clock, ms),
        log: async () => readLog(session),
      };
    },
  });
  assert.deepEqual(player.errors, []);
  return { ...outcome, played: player.played };
}

test('a client of the WebSocket continues after a crash at any record, and plays nothing twice', async (t) => {
  const calm = await talkOverSockets([]);
  checkOutcome(calm, calm);
  assert.ok(calm.played.length > 10, `${calm.played.length}`);
  let runs = 0;
  for (const point of ['after-write', 'tool-did'] as const) {
    for (let nth = 1; ; nth++) {
      const outcome = await talkOverSockets([{ point, nth }]);
      if (outcome.deaths === 0) break;
      runs++;
      try {
        checkOutcome(outcome, calm);
      } catch (error) {
        throw new Error(`crash ${point} ${nth}`, { cause: error });
      }
    }
  }
  t.diagnostic(`${runs} crashes`);
  assert.ok(runs > 15, `${runs}`);
});
