/**
 * Measures a fleet of three servers on one PostgreSQL server, with both dispatchers: turns per second of 100 sessions,
 * and how long a call of a server that was killed waits until another one runs it. Prints a table.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../../bench/statistics.ts';
import { createClient, type Client } from '../../src/client/index.ts';
import { openStore } from '../../src/store/index.ts';
import { readEffects } from '../fleet/check-effects.ts';
import { RoundRobinProxy } from '../fleet/round-robin-proxy.ts';
import { freePort } from '../free-port.ts';
import { startPostgresServer, type PostgresServer } from '../postgres/postgres-server.ts';
import { ServeProcess } from '../server/serve-process.ts';
import { RestateServer } from './restate-server.ts';

const AGENTS = join(import.meta.dirname, '..', 'fleet', 'fleet-agents.ts');
const NODES = 3;
const ROUNDS = 3;
const SESSIONS = 100;
const TURNS = 4;
const KILLS = 4;
const KILLED_SESSIONS = 24;
/** In the first 30 s of a database, a server without its lock counts as dead only after 30 s. */
const SETTLE_MS = 35_000;
/** How long the calls of the sessions take of which a server is killed. */
const LONG_TOOL_MS = 3000;

interface Fleet extends AsyncDisposable {
  readonly client: Client;
  readonly agent: string;
  readonly nodes: { process: ServeProcess; readonly effects: string }[];
  readonly store: string;
  readonly restart: (node: number) => Promise<void>;
}

async function openFleet(
  server: PostgresServer,
  restate: RestateServer | undefined,
  toolMs: number,
): Promise<Fleet> {
  const disposed = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-bench-'));
  disposed.defer(() => rmSync(folder, { recursive: true, force: true }));
  const ports: number[] = [];
  for (let node = 0; node < NODES; node++) ports.push(await freePort());
  const start = async (node: number): Promise<ServeProcess> =>
    ServeProcess.start({
      folder,
      args: [
        `--agents=${AGENTS}`,
        '--port=0',
        `--store=${server.url}`,
        '--creates-per-minute=100000',
        '--requests-per-minute=1000000',
        ...(restate === undefined
          ? []
          : [`--dispatch=restate=${restate.ingress}`, `--dispatch-listen=${ports[node]}`]),
      ],
      env: { SIDE_EFFECTS: join(folder, `effects-${node}.jsonl`), TOOL_MS: `${toolMs}` },
    });
  const nodes: Fleet['nodes'] = [];
  disposed.defer(async () => {
    for (const node of nodes) await node.process[Symbol.asyncDispose]();
  });
  for (let node = 0; node < NODES; node++)
    nodes.push({ process: await start(node), effects: join(folder, `effects-${node}.jsonl`) });
  const requests = disposed.use(
    await RoundRobinProxy.start({
      listPorts: () => nodes.map(({ process }) => Number(process.port)),
    }),
  );
  if (restate !== undefined) {
    const drives = disposed.use(await RoundRobinProxy.start({ listPorts: () => ports }));
    await restate.register(Number(new URL(drives.url).port));
  }
  return {
    client: createClient({ baseUrl: requests.url, retries: 100_000 }),
    agent: nodes[0]?.process.agents[0] ?? '',
    nodes,
    store: server.url,
    restart: async (node) => {
      const one = nodes[node];
      if (one !== undefined) one.process = await start(node);
    },
    [Symbol.asyncDispose]: async () => disposed.disposeAsync(),
  };
}

let texts = 0;

async function createSessions({ client, agent }: Fleet, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const some = Array.from({ length: Math.min(20, count - ids.length) });
    for (const { id } of await Promise.all(some.map(async () => client.sessions.create({ agent }))))
      ids.push(id);
  }
  return ids;
}

async function countSteps(store: string): Promise<number> {
  const opened = await openStore(store);
  try {
    return (await opened.list({})).reduce((sum, { head }) => sum + head, 0);
  } finally {
    await opened.close();
  }
}

/** Turns and steps per second of sessions that all run at the same time. */
async function measureThroughput(fleet: Fleet): Promise<{ turns: number; steps: number }> {
  const ids = await createSessions(fleet, SESSIONS);
  const run = async (turns: number): Promise<void> => {
    const asked = ids.map(async (id) => {
      for (let turn = 0; turn < turns; turn++)
        await fleet.client.sessions.ask(id, `work n${texts++}`);
    });
    await Promise.all(asked);
  };
  await run(1);
  const before = await countSteps(fleet.store);
  const startedAt = performance.now();
  await run(TURNS);
  const seconds = (performance.now() - startedAt) / 1000;
  const steps = (await countSteps(fleet.store)) - before;
  return { turns: (SESSIONS * TURNS) / seconds, steps: steps / seconds };
}

/** Milliseconds from a SIGKILL until another server runs each call again that may run again. */
async function measureFailover(fleet: Fleet): Promise<number[]> {
  const waits: number[] = [];
  await sleep(SETTLE_MS);
  for (let kill = 0; kill < KILLS; kill++) {
    const ids = await createSessions(fleet, KILLED_SESSIONS);
    const began = (): Map<string, number> => {
      const runs = new Map<string, number>();
      for (const [node, { effects }] of fleet.nodes.entries())
        for (const { what, call } of readEffects(effects))
          if (what === 'began' && call.startsWith(`look k${kill}-`)) runs.set(call, node);
      return runs;
    };
    const turns = ids.map(async (id, index) =>
      fleet.client.sessions.ask(id, `work k${kill}-${index}`),
    );
    while (began().size < KILLED_SESSIONS) await sleep(20);
    const runs = [...began()];
    const perNode = fleet.nodes.map((_, node) => runs.filter(([, at]) => at === node).length);
    const busiest = perNode.indexOf(Math.max(...perNode));
    const lost = runs.flatMap(([call, node]) => (node === busiest ? call : []));
    const killedAt = Date.now();
    await fleet.nodes[busiest]?.process.end('SIGKILL');
    await Promise.all(turns);
    for (const [node, { effects }] of fleet.nodes.entries())
      if (node !== busiest)
        for (const { what, call, at } of readEffects(effects))
          if (what === 'began' && lost.includes(call)) waits.push(at - killedAt);
    await fleet.restart(busiest);
  }
  return waits;
}

async function main(): Promise<void> {
  await using restate = await RestateServer.start();
  if (restate === undefined) throw new Error('There is no Restate server for this platform.');
  const names = ['PostgreSQL', 'Restate'] as const;
  const throughput = names.map((): { turns: number; steps: number }[] => []);
  const failover: number[][] = [];
  // One database for each fleet, so that no server does the work of another one.
  const withFleet = async <T>(
    dispatcher: number,
    toolMs: number,
    measure: (fleet: Fleet) => Promise<T>,
  ): Promise<T> => {
    const server = await startPostgresServer({ restartable: true });
    if (server === undefined) throw new Error('There is no PostgreSQL for this platform.');
    try {
      await using fleet = await openFleet(server, dispatcher === 1 ? restate : undefined, toolMs);
      return await measure(fleet);
    } finally {
      await server.stop();
    }
  };
  for (let round = 0; round < ROUNDS; round++)
    for (const [dispatcher, results] of throughput.entries()) {
      const result = await withFleet(dispatcher, 5, measureThroughput);
      console.error(names[dispatcher], result);
      results.push(result);
    }
  for (const dispatcher of names.keys()) {
    failover.push(await withFleet(dispatcher, LONG_TOOL_MS, measureFailover));
    console.error(names[dispatcher], failover.at(-1));
  }
  const row = (title: string, values: readonly number[], digits = 0): string => {
    const [alone = 0, behind = 0] = values;
    return `| ${title} | ${alone.toFixed(digits)} | ${behind.toFixed(digits)} | x ${(behind / alone).toFixed(2)} |`;
  };
  console.log(
    '| three servers | PostgreSQL alone | Restate | ratio |\n| --- | ---: | ---: | ---: |',
  );
  for (const [name, key] of [
    ['turns per second, 100 sessions', 'turns'],
    ['steps per second, 100 sessions', 'steps'],
  ] as const)
    console.log(
      row(
        name,
        throughput.map((results) => median(results.map((one) => one[key]))),
      ),
    );
  console.log(
    row(
      'failover, median, s',
      failover.map((waits) => median(waits) / 1000),
      1,
    ),
  );
  console.log(
    row(
      'failover, worst, s',
      failover.map((waits) => Math.max(...waits) / 1000),
      1,
    ),
  );
  console.log(`${failover.map(({ length }) => length).join(' and ')} calls of killed servers`);
}

await main();
