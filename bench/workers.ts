import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pickWorker } from '../src/cli/serve/session-router.ts';
import { createClient, type Client } from '../src/client/index.ts';
import { createOtherDatabase, startPostgresServer } from '../test/postgres/postgres-server.ts';
import { ServeProcess } from '../test/server/serve-process.ts';
import { cpuMsOfProcess } from './process-cpu.ts';
import { median } from './statistics.ts';

/**
 * Turns of one process, of `petrichor serve --workers 2`, and of two separate servers with a store each. Each process has
 * the same number of sessions. The separate servers share nothing but the machine, so they show what it allows.
 */
export interface WorkerCost {
  readonly store: 'PostgreSQL' | 'SQLite';
  readonly turnsPerSecond: Figures;
  /**
   * Turns per CPU second of the busiest process, by those of one process in the round beside it: that in the middle. The
   * ratio of the turns on cores that do nothing else.
   */
  readonly byBusiestCore: Omit<Figures, 'one'>;
  /** Milliseconds of CPU of all processes of the server for each turn, without the database. */
  readonly cpuMs: Figures;
}

interface Figures {
  readonly one: number;
  readonly workers: number;
  readonly separate: number;
}

const WARM_UP_ROUNDS = 4;
const ROUNDS = 5;
const SESSIONS_OF_A_PROCESS = 24;
const TURNS = 6;

interface Round {
  readonly turns: number;
  readonly seconds: number;
  /** Of each process, in milliseconds. */
  readonly cpuMs: readonly number[];
}

/** Runs turns of all sessions, and measures the processes. */
type Load = () => Promise<Round>;

/** Nothing when quick, because servers take long to start. */
export async function measureWorkers({
  quick,
}: {
  readonly quick: boolean;
}): Promise<readonly WorkerCost[]> {
  if (quick) return [];
  const costs = [await measureStore('SQLite', async () => 'sqlite:petrichor.db')];
  const server = await startPostgresServer({ restartable: true });
  if (server === undefined) return costs;
  await using disposed = new AsyncDisposableStack();
  disposed.defer(async () => server.stop());
  // Each server has a database of its own, as each has a file of its own.
  const createUrl = async (): Promise<string> => {
    const database = await createOtherDatabase(server.url);
    disposed.defer(async () => database.stop());
    return database.url;
  };
  return [...costs, await measureStore('PostgreSQL', createUrl)];
}

async function measureStore(
  store: WorkerCost['store'],
  createUrl: () => Promise<string>,
): Promise<WorkerCost> {
  await using disposed = new AsyncDisposableStack();
  const start = async (workers: number): Promise<Load> => {
    const folder = mkdtempSync(join(tmpdir(), 'petrichor-workers-'));
    disposed.defer(() => rmSync(folder, { recursive: true, force: true }));
    const server = disposed.use(
      await ServeProcess.start({
        folder,
        args: [
          `--agents=${join(import.meta.dirname, '..', 'test', 'fleet', 'fleet-agents.ts')}`,
          '--port=0',
          `--workers=${workers}`,
          `--store=${await createUrl()}`,
          '--creates-per-minute=100000',
          '--requests-per-minute=1000000',
        ],
        env: { SIDE_EFFECTS: join(folder, 'effects.jsonl'), TOOL_MS: '0' },
      }),
    );
    const pids = server.lines.flatMap(({ type, event, pid }) =>
      type === 'worker' && event === 'started' ? [Number(pid)] : [],
    );
    return prepareLoad(server, [server.pid, ...pids], workers);
  };
  const separate = [await start(1), await start(1)];
  const loads: Readonly<Record<keyof Figures, Load>> = {
    one: await start(1),
    workers: await start(2),
    separate: async () => addRounds(await Promise.all(separate.map(async (run) => run()))),
  };
  const runAll = async (): Promise<Readonly<Record<keyof Figures, Round>>> => ({
    one: await loads.one(),
    workers: await loads.workers(),
    separate: await loads.separate(),
  });
  // The first rounds also compile the code, of each process for itself.
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await runAll();
  const rounds: Readonly<Record<keyof Figures, Round>>[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await runAll());
  const middles = (toFigure: (round: Round) => number): Figures => {
    const middle = (name: keyof Figures): number =>
      median(rounds.map((round) => toFigure(round[name])));
    return { one: middle('one'), workers: middle('workers'), separate: middle('separate') };
  };
  const toRatio = (name: keyof Figures): number =>
    median(
      rounds.map((round) => toTurnsPerBusySecond(round[name]) / toTurnsPerBusySecond(round.one)),
    );
  return {
    store,
    turnsPerSecond: middles(({ turns, seconds }) => turns / seconds),
    byBusiestCore: { workers: toRatio('workers'), separate: toRatio('separate') },
    cpuMs: middles(({ turns, cpuMs }) => sum(cpuMs) / turns),
  };
}

/** Creates the sessions: the same number for each worker. */
async function prepareLoad(
  { url, agents: [agent = ''] }: ServeProcess,
  pids: readonly number[],
  workers: number,
): Promise<Load> {
  const client: Client = createClient({ baseUrl: url });
  const idsByWorker = Array.from({ length: workers }, (): string[] => []);
  while (idsByWorker.some(({ length }) => length < SESSIONS_OF_A_PROCESS)) {
    const { id } = await client.sessions.create({ agent });
    const ids = idsByWorker[pickWorker(id, workers) - 1];
    if (ids !== undefined && ids.length < SESSIONS_OF_A_PROCESS) ids.push(id);
  }
  const ids = idsByWorker.flat();
  let texts = 0;
  return async () => {
    const before = pids.map(cpuMsOfProcess);
    const startedAt = performance.now();
    await Promise.all(
      ids.map(async (id) => {
        for (let turn = 0; turn < TURNS; turn++) await client.sessions.ask(id, `work n${texts++}`);
      }),
    );
    return {
      turns: ids.length * TURNS,
      seconds: (performance.now() - startedAt) / 1000,
      cpuMs: pids.map((pid, index) => cpuMsOfProcess(pid) - (before[index] ?? 0)),
    };
  };
}

/** The round of servers that ran at the same time. */
function addRounds(rounds: readonly Round[]): Round {
  return {
    turns: sum(rounds.map(({ turns }) => turns)),
    seconds: Math.max(...rounds.map(({ seconds }) => seconds)),
    cpuMs: rounds.flatMap(({ cpuMs }) => cpuMs),
  };
}

function toTurnsPerBusySecond({ turns, cpuMs }: Round): number {
  return (turns * 1000) / Math.max(...cpuMs);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
