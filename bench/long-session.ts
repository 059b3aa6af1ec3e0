import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { openRuntime } from '../src/index.ts';
import { openMeasuredStore } from './measured-store.ts';
import { withTemporaryFolder } from './with-temporary-folder.ts';
import { mean, median } from './statistics.ts';
import { runTurn, twoToolAgent } from './two-tool-agent.ts';

/** What turns of one session cost, near its beginning or far on. */
export interface TurnCost {
  readonly ms: number;
  /** Durable transactions; the most that a turn took. */
  readonly commits: number;
  /** Journal records; the most that a turn made. */
  readonly records: number;
  /** Bytes of write-ahead log. */
  readonly writtenBytes: number;
  /** Bytes the database file is larger by when the log is copied into it. */
  readonly retainedBytes: number;
}

export interface LongSession {
  readonly turns: number;
  /** Of the first 20 turns. */
  readonly early: TurnCost;
  /** Of the last 20. */
  readonly late: TurnCost;
  /** Milliseconds a turn in memory, where no disk hides what grows. */
  readonly earlyMsInMemory: number;
  readonly lateMsInMemory: number;
}

const WINDOW = 20;

/** What the first and the last turns of one session cost, on SQLite and in memory. */
export async function measureLongSession({
  quick,
}: {
  readonly quick: boolean;
}): Promise<LongSession> {
  const turns = quick ? 60 : 200;
  const sessions = quick ? 1 : 9;
  const onSqlite: { early: TurnCost; late: TurnCost }[] = [];
  // The first session warms up.
  for (let n = quick ? 0 : -1; n < sessions; n++) {
    const costs = await withTemporaryFolder(async (folder) =>
      runOnSqlite(join(folder, 'store.db'), turns),
    );
    if (n >= 0) onSqlite.push(costs);
  }
  const inMemory = await runInMemory(turns, sessions);
  const early = onSqlite.map((costs) => costs.early);
  const late = onSqlite.map((costs) => costs.late);
  return { turns, early: medianCost(early), late: medianCost(late), ...inMemory };
}

async function runOnSqlite(
  file: string,
  turns: number,
): Promise<{ readonly early: TurnCost; readonly late: TurnCost }> {
  let records = 0;
  const { store, commits, written, size } = await openMeasuredStore(file);
  try {
    await using runtime = await openRuntime({
      agents: [twoToolAgent()],
      store,
      observers: [(step) => void (records += step.records.length)],
    });
    const session = await runtime.session('long');
    const turnCosts = async (
      count: number,
    ): Promise<readonly Omit<TurnCost, 'retainedBytes'>[]> => {
      const costs: Omit<TurnCost, 'retainedBytes'>[] = [];
      for (let n = 0; n < count; n++) {
        records = 0;
        const commitsBefore = commits();
        const writtenBefore = written();
        const startedAt = performance.now();
        await runTurn(session);
        const ms = performance.now() - startedAt;
        costs.push({
          ms,
          commits: commits() - commitsBefore,
          records,
          writtenBytes: written() - writtenBefore,
        });
      }
      return costs;
    };
    const window = async (): Promise<TurnCost> => {
      const before = size();
      const costs = await turnCosts(WINDOW);
      return {
        ms: median(costs.map(({ ms }) => ms)),
        commits: Math.max(...costs.map((cost) => cost.commits)),
        records: Math.max(...costs.map((cost) => cost.records)),
        writtenBytes: mean(costs.map((cost) => cost.writtenBytes)),
        retainedBytes: (size() - before) / WINDOW,
      };
    };
    const early = await window();
    await turnCosts(turns - 2 * WINDOW);
    return { early, late: await window() };
  } finally {
    await store.close();
  }
}

async function runInMemory(
  turns: number,
  sessions: number,
): Promise<{ readonly earlyMsInMemory: number; readonly lateMsInMemory: number }> {
  const early: number[] = [];
  const late: number[] = [];
  await using runtime = await openRuntime({ agents: [twoToolAgent()] });
  for (let n = -1; n < sessions; n++) {
    const session = await runtime.session(`long-${n}`);
    const ms: number[] = [];
    for (let turn = 0; turn < turns; turn++) {
      const startedAt = performance.now();
      await runTurn(session);
      ms.push(performance.now() - startedAt);
    }
    if (n < 0) continue;
    early.push(median(ms.slice(0, WINDOW)));
    late.push(median(ms.slice(-WINDOW)));
  }
  return { earlyMsInMemory: median(early), lateMsInMemory: median(late) };
}

function medianCost(costs: readonly TurnCost[]): TurnCost {
  const of = (figure: keyof TurnCost): number => median(costs.map((cost) => cost[figure]));
  return {
    ms: of('ms'),
    commits: Math.max(...costs.map((cost) => cost.commits)),
    records: Math.max(...costs.map((cost) => cost.records)),
    writtenBytes: of('writtenBytes'),
    retainedBytes: of('retainedBytes'),
  };
}
