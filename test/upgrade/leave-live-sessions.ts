/**
 * Writes a fixture: sessions during a call, as a killed process leaves them.
 *
 * The fixture in `fixtures/routed-signals` was written by commit 09018ea5, the last one whose nets routed each signal of
 * a connection. To write it again, copy this file and `live-agents.ts` into a checkout of that commit and run there:
 *
 *     npx node test/upgrade/leave-live-sessions.ts live.db
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LiveHub } from '../../src/live/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { openStore } from '../../src/store/index.ts';
import { SimulatedCall } from '../live/simulated-call.ts';
import { LEFT_AT, liveAgents, liveSessions } from './live-agents.ts';

const [, , to = 'live.db'] = process.argv;
const folder = mkdtempSync(join(tmpdir(), 'petrichor-left-'));
const file = join(folder, 'live.db');
const store = await openStore(`sqlite:${file}`);
const clock = new SimulatedClock(LEFT_AT);
const hub = new LiveHub();
const runtime = await openRuntime({ agents: liveAgents(clock, 'before'), store, clock, live: hub });
for (const { name, leave } of liveSessions) {
  const call = await SimulatedCall.begin(hub, await runtime.session(name, { agent: name }), clock);
  await leave(call);
}
const copy = new DatabaseSync(file);
copy.exec(`VACUUM INTO '${join(folder, 'copy.db')}'`);
copy.close();
copyFileSync(join(folder, 'copy.db'), to);
rmSync(folder, { recursive: true, force: true });
process.kill(process.pid, 'SIGKILL');
