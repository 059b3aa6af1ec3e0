import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '../src/client/index.ts';
import { startPostgresServer } from '../test/postgres/postgres-server.ts';
import { cpuMsOfProcess } from './process-cpu.ts';
import { median } from './statistics.ts';
import { ServeProcess } from '../test/server/serve-process.ts';

/** Turns of one server and of two on one database, each with the same number of sessions, whose tools wait 50 ms. */
export interface TwoNodes {
  /** Of the round in the middle. */
  readonly turnsPerSecond: { readonly one: number; readonly two: number };
  /** Turns per second of two, by those of one in the round beside it: that in the middle. */
  readonly ratio: number;
  /** Milliseconds of CPU of the servers for each turn, without the database. */
  readonly cpuMs: { readonly one: number; readonly two: number };
  /** The same of everything on the machine: servers, database, clients and other programs. */
  readonly allCpuMs: { readonly one: number; readonly two: number };
  /** The share of the processors that was in use, from 0 to 1. At 1, more servers cannot do more turns. */
  readonly busy: { readonly one: number; readonly two: number };
}

const WARM_UP_ROUNDS = 3;
const ROUNDS = 5;
const SESSIONS = 12;
const TURNS = 8;

interface Round {
  readonly turnsPerSecond: number;
  readonly cpuMs: number;
  readonly allCpuMs: number;
  readonly busy: number;
}

/** Null when quick, because servers take long to start, and where there is no PostgreSQL. */
export async function measureTwoNodes({
  quick,
}: {
  readonly quick: boolean;
}): Promise<TwoNodes | null> {
  const server = quick ? undefined : await startPostgresServer({ restartable: true });
  if (server === undefined) return null;
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-nodes-'));
  await using disposed = new AsyncDisposableStack();
  disposed.defer(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const nodes: { process: ServeProcess; client: Client; ids: readonly string[] }[] = [];
  for (let node = 0; node < 2; node++) {
    const started = disposed.use(
      await ServeProcess.start({
        folder,
        args: [
          `--agents=${join(import.meta.dirname, '..', 'test', 'fleet', 'fleet-agents.ts')}`,
          '--port=0',
          `--store=${server.url}`,
          '--creates-per-minute=100000',
          '--requests-per-minute=1000000',
        ],
        env: { SIDE_EFFECTS: join(folder, 'effects.jsonl'), TOOL_MS: '50' },
      }),
    );
    const client = createClient({ baseUrl: started.url });
    const [agent = ''] = started.agents;
    const create = async (): Promise<string> => (await client.sessions.create({ agent })).id;
    const ids = await Promise.all(Array.from({ length: SESSIONS }, create));
    nodes.push({ process: started, client, ids });
  }
  let texts = 0;
  const run = async (count: number): Promise<Round> => {
    const running = nodes.slice(0, count);
    const readCpuMs = (): number =>
      running.reduce((sum, { process: { pid } }) => sum + cpuMsOfProcess(pid), 0);
    const cpuBefore = readCpuMs();
    const machineBefore = readMachineMs();
    const startedAt = performance.now();
    await Promise.all(
      running.flatMap(({ client, ids }) =>
        ids.map(async (id) => {
          for (let turn = 0; turn < TURNS; turn++)
            await client.sessions.ask(id, `work n${texts++}`);
        }),
      ),
    );
    const turns = count * SESSIONS * TURNS;
    const machine = readMachineMs();
    const used = {
      inUse: machine.inUse - machineBefore.inUse,
      all: machine.all - machineBefore.all,
    };
    return {
      turnsPerSecond: (turns * 1000) / (performance.now() - startedAt),
      cpuMs: (readCpuMs() - cpuBefore) / turns,
      allCpuMs: used.inUse / turns,
      busy: used.inUse / used.all,
    };
  };
  // The first rounds also compile the code.
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await run(2);
  const rounds: { one: Round; two: Round }[] = [];
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({ one: await run(1), two: await run(2) });
  const middles = (name: keyof Round): { readonly one: number; readonly two: number } => ({
    one: median(rounds.map(({ one }) => one[name])),
    two: median(rounds.map(({ two }) => two[name])),
  });
  return {
    turnsPerSecond: middles('turnsPerSecond'),
    ratio: median(rounds.map(({ one, two }) => two.turnsPerSecond / one.turnsPerSecond)),
    cpuMs: middles('cpuMs'),
    allCpuMs: middles('allCpuMs'),
    busy: middles('busy'),
  };
}

/** The time that all processors were in use, and all of their time, since the machine started. */
function readMachineMs(): { readonly inUse: number; readonly all: number } {
  const times = cpus().map((cpu) => cpu.times);
  const all = times.reduce(
    (sum, time) => sum + time.user + time.nice + time.sys + time.irq + time.idle,
    0,
  );
  return { inUse: all - times.reduce((sum, { idle }) => sum + idle, 0), all };
}
