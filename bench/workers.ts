import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '../src/client/index.ts';
import { createOtherDatabase, startPostgresServer } from '../test/postgres/postgres-server.ts';
import { ServeProcess } from '../test/server/serve-process.ts';
import { cpuMsOfProcess } from './process-cpu.ts';
import { median } from './statistics.ts';

/** Turns of `petrichor serve --workers 1` and `--workers 2` under the same load. */
export interface WorkerCost {
  readonly store: 'PostgreSQL' | 'SQLite';
  readonly turnsPerSecond: { readonly one: number; readonly two: number };
  /** Turns per second of two, by those of one in the round beside it: that in the middle. */
  readonly ratio: number;
  /** The same of turns per CPU second of the busiest process of the server: the ratio on cores that do nothing else. */
  readonly byBusiestCore: number;
  /** Milliseconds of CPU of all processes of the server for each turn, without the database. */
  readonly cpuMs: { readonly one: number; readonly two: number };
}

const WARM_UP_ROUNDS = 2;
const ROUNDS = 5;
const SESSIONS = 24;
const TURNS = 10;

interface Round {
  readonly turnsPerSecond: number;
  readonly turnsPerBusyCpuSecond: number;
  readonly cpuMs: number;
}

/** Nothing when quick, because servers take long to start. */
export async function measureWorkers({
  quick,
}: {
  readonly quick: boolean;
}): Promise<readonly WorkerCost[]> {
  if (quick) return [];
  const costs = [await measureStore('SQLite', () => 'sqlite:petrichor.db')];
  const server = await startPostgresServer({ restartable: true });
  if (server === undefined) return costs;
  // Each server has a database of its own, as each has a file of its own.
  const other = await createOtherDatabase(server.url);
  try {
    const urls = [server.url, other.url];
    return [...costs, await measureStore('PostgreSQL', () => urls.shift() ?? '')];
  } finally {
    await other.stop();
    await server.stop();
  }
}

async function measureStore(
  store: WorkerCost['store'],
  createUrl: () => string,
): Promise<WorkerCost> {
  await using disposed = new AsyncDisposableStack();
  const start = async (workers: number): Promise<() => Promise<Round>> => {
    const folder = mkdtempSync(join(tmpdir(), 'petrichor-workers-'));
    disposed.defer(() => rmSync(folder, { recursive: true, force: true }));
    const server = disposed.use(
      await ServeProcess.start({
        folder,
        args: [
          `--agents=${join(import.meta.dirname, '..', 'test', 'fleet', 'fleet-agents.ts')}`,
          '--port=0',
          `--workers=${workers}`,
          `--store=${createUrl()}`,
          '--creates-per-minute=100000',
          '--requests-per-minute=1000000',
        ],
        env: { SIDE_EFFECTS: join(folder, 'effects.jsonl'), TOOL_MS: '0' },
      }),
    );
    const pids = server.lines.flatMap(({ type, event, pid }) =>
      type === 'worker' && event === 'started' ? [Number(pid)] : [],
    );
    return prepareLoad(server, [server.pid, ...pids]);
  };
  const one = await start(1);
  const two = await start(2);
  // The first rounds also compile the code, of each worker for itself.
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    await one();
    await two();
    await two();
  }
  const rounds: { one: Round; two: Round }[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push({ one: await one(), two: await two() });
  const middle = (of: (round: { one: Round; two: Round }) => number): number =>
    median(rounds.map(of));
  return {
    store,
    turnsPerSecond: {
      one: middle((round) => round.one.turnsPerSecond),
      two: middle((round) => round.two.turnsPerSecond),
    },
    ratio: middle((round) => round.two.turnsPerSecond / round.one.turnsPerSecond),
    byBusiestCore: middle(
      (round) => round.two.turnsPerBusyCpuSecond / round.one.turnsPerBusyCpuSecond,
    ),
    cpuMs: { one: middle((round) => round.one.cpuMs), two: middle((round) => round.two.cpuMs) },
  };
}

/** Creates the sessions. The returned function runs turns of all of them, and measures the processes. */
async function prepareLoad(
  { url, agents: [agent = ''] }: ServeProcess,
  pids: readonly number[],
): Promise<() => Promise<Round>> {
  const client: Client = createClient({ baseUrl: url });
  const create = async (): Promise<string> => (await client.sessions.create({ agent })).id;
  const ids = await Promise.all(Array.from({ length: SESSIONS }, create));
  let texts = 0;
  return async () => {
    const before = pids.map(cpuMsOfProcess);
    const startedAt = performance.now();
    await Promise.all(
      ids.map(async (id) => {
        for (let turn = 0; turn < TURNS; turn++) await client.sessions.ask(id, `work n${texts++}`);
      }),
    );
    const seconds = (performance.now() - startedAt) / 1000;
    const cpu = pids.map((pid, index) => cpuMsOfProcess(pid) - (before[index] ?? 0));
    const turns = SESSIONS * TURNS;
    return {
      turnsPerSecond: turns / seconds,
      turnsPerBusyCpuSecond: (turns * 1000) / Math.max(...cpu),
      cpuMs: cpu.reduce((sum, ms) => sum + ms, 0) / turns,
    };
  };
}
