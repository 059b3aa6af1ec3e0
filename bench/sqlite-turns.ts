import { join } from 'node:path';
import { openRuntime, type Session } from '../src/index.ts';
import { measureDiskRate } from './disk-rate.ts';
import { withTemporaryFolder } from './with-temporary-folder.ts';
import { perSecond } from './per-second.ts';
import { median } from './statistics.ts';
import { measureSqliteLayers, type SqliteLayers } from './sqlite-layers.ts';
import { runTurn, twoToolAgent } from './two-tool-agent.ts';

export interface SqliteTurns {
  /** Raw `write + fdatasync` a second on the same file system, between the rounds. */
  readonly diskRate: number;
  /** Turns a second of one session. */
  readonly one: number;
  /** Turns a second of fifty sessions, all in flight. */
  readonly fifty: number;
  /** Syncs' worth of time that a turn of one session takes, by the disk's rate just before and after it. */
  readonly syncsATurn: number;
  /** How many times as many turns fifty sessions make as one, measured one right after the other. */
  readonly fiftyToOne: number;
  /** Where the time of one session goes, and that of fifty, measured after the rates. */
  readonly oneLayers: SqliteLayers;
  readonly fiftyLayers: SqliteLayers;
}

/** In flight at once. */
const SESSIONS = 50;

/** Durable turns a second, and what the disk under them can do. */
export async function measureSqliteTurns({
  quick,
}: {
  readonly quick: boolean;
}): Promise<SqliteTurns> {
  return withTemporaryFolder(async (folder) => {
    const turnsEach = quick ? 3 : 20;
    const sessionsAlone = quick ? 2 : 10;
    const rounds = quick ? 1 : 9;
    await using runtime = await openRuntime({
      agents: [twoToolAgent()],
      store: `sqlite:${join(folder, 'store.db')}`,
    });
    let opened = 0;
    const newSession = async (): Promise<Session> => runtime.session(`session-${opened++}`);
    const runTurns = async (session: Session): Promise<void> => {
      for (let n = 0; n < turnsEach; n++) await runTurn(session);
    };
    const disk: number[] = [];
    const one: number[] = [];
    const fifty: number[] = [];
    // The first two rounds warm up.
    for (let round = quick ? 0 : -2; round < rounds; round++) {
      const alone = await Promise.all(Array.from({ length: sessionsAlone }, newSession));
      const together = await Promise.all(Array.from({ length: SESSIONS }, newSession));
      const diskBefore = measureDiskRate(folder, turnsEach * sessionsAlone);
      const oneRate = await perSecond(turnsEach * sessionsAlone, async () => {
        for (const session of alone) await runTurns(session);
      });
      const diskAfter = measureDiskRate(folder, turnsEach * sessionsAlone);
      const fiftyRate = await perSecond(turnsEach * SESSIONS, async () => {
        await Promise.all(together.map(runTurns));
      });
      if (round < 0) continue;
      disk.push((diskBefore + diskAfter) / 2);
      one.push(oneRate);
      fifty.push(fiftyRate);
    }
    const openSessions = async (count: number): Promise<readonly Session[]> =>
      Promise.all(Array.from({ length: count }, newSession));
    const alone = await openSessions(sessionsAlone);
    const oneLayers = await measureSqliteLayers(async () => {
      for (const session of alone) await runTurns(session);
    });
    const together = await openSessions(SESSIONS);
    const fiftyLayers = await measureSqliteLayers(async () => {
      await Promise.all(together.map(runTurns));
    });
    return {
      oneLayers,
      fiftyLayers,
      diskRate: median(disk),
      one: median(one),
      fifty: median(fifty),
      syncsATurn: median(one.map((rate, round) => (disk[round] ?? NaN) / rate)),
      fiftyToOne: median(one.map((rate, round) => (fifty[round] ?? NaN) / rate)),
    };
  });
}
