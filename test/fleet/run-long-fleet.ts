import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../crash/random-kills.ts';
import { runFleet, type FleetFault, type FleetPlan, type FleetReport } from './run-fleet.ts';
import { startPostgresServer } from '../postgres/postgres-server.ts';
import { sampleSeed } from '../sample-seed.ts';

/** How long faults happen, in seconds. */
const SECONDS = Number(process.env['PETRICHOR_FLEET_SECONDS'] ?? 600);
const SESSIONS = Number(process.env['PETRICHOR_FLEET_SESSIONS'] ?? 200);

const MIX: readonly FleetFault[] = [
  'kill',
  'kill',
  'kill',
  'kill',
  'pause',
  'pause',
  'cut',
  'drain',
];

/** A fault every few seconds, and two restarts of the database. */
function* faultsUntilTheEnd(
  random: () => number,
  mix: readonly FleetFault[],
): Generator<FleetFault, void, undefined> {
  const startedAt = performance.now();
  let restarts = 0;
  for (;;) {
    const passed = (performance.now() - startedAt) / (SECONDS * 1000);
    if (passed >= 1) return;
    if (passed > (restarts + 1) / 3) {
      restarts++;
      yield 'restart';
    } else yield mix[Math.floor(random() * mix.length)] ?? 'kill';
  }
}

/** Runs a fleet under faults for `PETRICHOR_FLEET_SECONDS`. Undefined: no PostgreSQL for this platform. */
export async function runLongFleet(
  log: (line: string) => void,
  more: Pick<FleetPlan, 'earlier' | 'restate'> & { readonly faults?: readonly FleetFault[] } = {},
): Promise<FleetReport | undefined> {
  const { faults = [], ...plan } = more;
  const server = await startPostgresServer({ restartable: true });
  if (server === undefined) return undefined;
  const random = randomFrom(sampleSeed);
  const startedAt = Date.now();
  try {
    return await runFleet({
      server,
      ...plan,
      nodes: 4,
      sessions: SESSIONS,
      faults: faultsUntilTheEnd(random, [...MIX, ...faults]),
      untilNextFault: async (countRuns) => {
        const before = countRuns();
        await sleep(1000 + random() * 4000);
        // On a busy machine, so that the fleet works between two faults.
        for (let waits = 0; waits < 20 && countRuns() < before + 20; waits++) await sleep(500);
      },
      random,
      pauseMs: () => 200 + random() * 10_000,
      thinkMs: 8000,
      abandonedShare: 0.05,
      clientTimeoutMs: 5000,
      onProgress: (line) => log(`${Math.round((Date.now() - startedAt) / 1000)} s: ${line}`),
    });
  } catch (error) {
    log(String(error));
    throw error;
  } finally {
    await server.stop();
  }
}

/** Checks that the faults happened. */
export function assertHard({ faults, movedStreams, answers }: FleetReport): void {
  assert.equal(faults['restart'], 2);
  assert.ok((faults['kill'] ?? 0) > 0 && answers > 0);
  assert.equal(movedStreams, SESSIONS, 'every stream resumed on another node');
}
