import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../src/client/index.ts';
import {
  checkEffects,
  checkReaders,
  countRuns,
  listFinishedCalls,
  readAll,
  untilBegun,
} from './killed-run.ts';
import { RoundRobinProxy } from './round-robin-proxy.ts';
import { ServeProcess } from './serve-process.ts';

/** What happens to a node. `drain`: SIGTERM. `pause`: SIGSTOP and, a moment later, SIGCONT. */
export type FleetFault = 'kill' | 'drain' | 'pause';

export interface FleetPlan {
  /** The URL of a PostgreSQL database. */
  readonly store: string;
  readonly nodes: number;
  readonly sessions: number;
  /**
   * The fault and the number of the node, in this order. Each session gets a message for each fault, which happens in the
   * middle of the work on these messages.
   */
  readonly faults: readonly (readonly [fault: FleetFault, node: number])[];
}

export interface FleetReport {
  readonly toolRuns: number;
  /** Runs that a kill interrupted and that were restarted, as allowed. */
  readonly runsAgain: number;
  readonly finishedBeforeFaults: number;
  readonly events: number;
}

const TOOLS_A_TURN = 3;
const PAUSE_MS = 500;

/**
 * Runs sessions on several servers that share a database, behind a proxy that gives each connection to the next one,
 * while servers are killed, drained and paused. Nothing may be lost or doubled, no finished call may run again, and
 * readers that resume on another server must see every event once and in order.
 */
export async function runFleet(plan: FleetPlan): Promise<FleetReport> {
  const { sessions, faults } = plan;
  const messages = faults.length;
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-fleet-'));
  const effectsFile = join(folder, 'effects.jsonl');
  const start = async (): Promise<ServeProcess> =>
    ServeProcess.start({
      folder,
      args: [
        `--agents=${join(import.meta.dirname, 'killable-agents.ts')}`,
        '--port=0',
        `--store=${plan.store}`,
        '--creates-per-minute=100000',
        '--requests-per-minute=1000000',
      ],
      env: { SIDE_EFFECTS: effectsFile },
    });
  await using disposed = new AsyncDisposableStack();
  disposed.defer(() => rmSync(folder, { recursive: true, force: true }));
  const nodes: ServeProcess[] = [];
  disposed.defer(async () => {
    for (const node of nodes) await node[Symbol.asyncDispose]();
  });
  for (let node = 0; node < plan.nodes; node++) nodes.push(await start());
  const proxy = disposed.use(
    await RoundRobinProxy.start(() => nodes.map(({ port }) => Number(port))),
  );
  const client = createClient({ baseUrl: proxy.url, retries: 1000 });
  const [agent = ''] = nodes[0]?.agents ?? [];
  const ids = await Promise.all(
    Array.from({ length: sessions }, async () => (await client.sessions.create({ agent })).id),
  );
  const done = new AbortController();
  disposed.defer(() => done.abort());
  const readers = ids.map(async (id) => readAll(client, id, messages, done.signal));
  const sent: Promise<unknown>[] = ids.map(async () => undefined);
  const runsBefore = new Map<string, number>();
  const toolsARound = sessions * TOOLS_A_TURN;
  for (const [round, [fault, number]] of faults.entries()) {
    for (const [index, id] of ids.entries())
      sent[index] =
        sent[index]?.then(async () => client.sessions.send(id, `work s${index}m${round}`)) ??
        assert.fail();
    await untilBegun(effectsFile, Math.floor(toolsARound * (round + 0.5)));
    // A call that is finished now must not run again.
    for (const key of await listFinishedCalls(plan.store))
      runsBefore.set(key, countRuns(effectsFile, key));
    const node = nodes[number] ?? assert.fail(`There is no node ${number}.`);
    if (fault === 'pause') {
      node.signal('SIGSTOP');
      await sleep(PAUSE_MS);
      node.signal('SIGCONT');
    } else {
      const end = await node.end(fault === 'kill' ? 'SIGKILL' : 'SIGTERM');
      assert.equal(end, fault === 'kill' ? 'SIGKILL' : 0, node.stderr);
      // After the last fault, the others do the rest.
      if (round < faults.length - 1) nodes[number] = await start();
      else nodes.splice(number, 1);
    }
  }
  await Promise.all(sent);
  const seen = await Promise.all(readers);
  await checkReaders({ client, ids, seen, messages });
  const { effects, runsAgain } = checkEffects(effectsFile, runsBefore);
  return {
    toolRuns: effects,
    runsAgain,
    finishedBeforeFaults: runsBefore.size,
    events: seen.reduce((sum, events) => sum + events.length, 0),
  };
}
