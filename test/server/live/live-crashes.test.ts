import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedClock } from '../../../src/net/index.ts';
import type { CrashPoint } from '../../crash/killable-store.ts';
import { crashAtEach } from '../../live/crash-at-each.ts';
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
  const runs = await crashAtEach(['after-write', 'tool-did'], 1, async (crash) => {
    const outcome = await talkOverSockets([crash]);
    if (outcome.deaths === 0) return false;
    checkOutcome(outcome, calm);
    return true;
  });
  t.diagnostic(`${runs} crashes`);
  assert.ok(runs > 15, `${runs}`);
});
