import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client as PostgresClient } from 'pg';
import { freePort } from '../free-port.ts';
import { createClient } from '../../src/client/index.ts';
import type { PostgresServer } from '../postgres/postgres-server.ts';
import { startCuttingProxy, type CuttingProxy } from '../postgres/cutting-proxy.ts';
import { ServeProcess } from '../server/serve-process.ts';
import { checkEffects, readEffects, type EffectsReport } from './check-effects.ts';
import { checkHistory } from './check-history.ts';
import { FleetClient, readFinalLog } from './fleet-client.ts';
import { RoundRobinProxy } from './round-robin-proxy.ts';

/** A Restate server that sends sessions to the nodes. */
export interface FleetRestate {
  readonly ingress: string;
  /** Makes the nodes known to Restate, at the port of a proxy in front of them. */
  register(port: number): Promise<void>;
  /** Kills the server and starts it again. */
  restart(): Promise<void>;
}

/**
 * What happens to a node, or to the database. `drain`: SIGTERM. `pause`: SIGSTOP and, a while later, SIGCONT. `cut`:
 * connections to the database end. `lose`: the node stands still for ever, and its connections to the database end, as
 * when its machine loses power: no packet ends its connections to Restate. `restart`: the database restarts; only if the server can. `restate`: Restate is killed
 * and starts again.
 */
export type FleetFault = 'kill' | 'drain' | 'pause' | 'lose' | 'cut' | 'restart' | 'restate';

export interface FleetPlan {
  readonly server: PostgresServer;
  readonly nodes: number;
  readonly sessions: number;
  /** The faults, in order. Each hits the node with a random number. */
  readonly faults: AsyncIterable<FleetFault> | Iterable<FleetFault>;
  /** Called before each fault with the number of tool runs that have begun. Resolves when it is time. */
  readonly untilNextFault: (countRuns: () => number) => Promise<void>;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  /** How long a paused node stands still, in milliseconds. */
  readonly pauseMs: () => number;
  readonly thinkMs?: number;
  readonly abandonedShare?: number;
  /** How long a client waits for a response, in milliseconds. Default: that of the client. */
  readonly clientTimeoutMs?: number;
  /**
   * The program of an earlier release, which the first half of the nodes runs. A node that ends is replaced by one of
   * this release.
   */
  readonly earlier?: { readonly main: string; readonly agents: string } | undefined;
  /** Default: the nodes find sessions in the store. */
  readonly restate?: FleetRestate | undefined;
  /** How many of the nodes find sessions in the store although there is Restate. Default: 0. */
  readonly nodesWithoutRestate?: number;
  readonly onProgress?: (line: string) => void;
}

export interface FleetReport extends EffectsReport {
  readonly messages: number;
  readonly answers: number;
  readonly events: number;
  readonly faults: Readonly<Record<string, number>>;
  /** Sessions whose stream more than one node has served. */
  readonly movedStreams: number;
}

const AGENTS = join(import.meta.dirname, 'fleet-agents.ts');

interface Node {
  process: ServeProcess | undefined;
  isEarlier: boolean;
  /** True while a fault has this node. */
  busy: boolean;
}

/**
 * Runs sessions on several servers that share a database, behind a proxy that gives each connection to the next one,
 * while faults happen. Nothing may be lost or doubled, no finished call may run again, the history of all clients must
 * be linearizable, and no reader may miss an event.
 */
export async function runFleet(plan: FleetPlan): Promise<FleetReport> {
  const { server, sessions, random, onProgress = () => {} } = plan;
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-fleet-'));
  const effectsFile = join(folder, 'effects.jsonl');
  await using disposed = new AsyncDisposableStack();
  disposed.defer(() => rmSync(folder, { recursive: true, force: true }));
  const drivePorts = new Map<ServeProcess, number>();
  const databases = new Map<ServeProcess, CuttingProxy>();
  const start = async (index: number, earlier?: FleetPlan['earlier']): Promise<ServeProcess> => {
    const hasRestate = plan.restate !== undefined && index >= (plan.nodesWithoutRestate ?? 0);
    const drivePort = hasRestate ? await freePort() : undefined;
    const database = plan.restate === undefined ? undefined : await startCuttingProxy(server.url);
    if (database !== undefined) disposed.defer(async () => database.stop());
    const started = await ServeProcess.start({
      folder,
      ...(earlier !== undefined && { main: earlier.main }),
      args: [
        `--agents=${earlier?.agents ?? AGENTS}`,
        '--port=0',
        `--store=${database?.url ?? server.url}`,
        '--creates-per-minute=100000',
        '--requests-per-minute=1000000',
        ...(drivePort === undefined
          ? []
          : [`--dispatch=restate=${plan.restate?.ingress}`, `--dispatch-listen=${drivePort}`]),
      ],
      env: { SIDE_EFFECTS: effectsFile },
    });
    if (drivePort !== undefined) drivePorts.set(started, drivePort);
    if (database !== undefined) databases.set(started, database);
    return started;
  };
  const nodes: Node[] = [];
  disposed.defer(async () => {
    for (const node of nodes) await node.process?.[Symbol.asyncDispose]();
  });
  for (let index = 0; index < plan.nodes; index++) {
    const earlier = index < plan.nodes / 2 ? plan.earlier : undefined;
    const process = await start(index, earlier);
    nodes.push({ process, isEarlier: earlier !== undefined, busy: false });
  }
  const nodesByStream = new Map<string, Set<number>>();
  const proxy = disposed.use(
    await RoundRobinProxy.start({
      listPorts: () =>
        nodes.flatMap(({ process: one }) => (one === undefined ? [] : Number(one.port))),
      onRequest: (line, port) => {
        const id = /^GET \/v1\/sessions\/([^/]+)\/events\/stream/.exec(line)?.[1];
        if (id === undefined) return;
        nodesByStream.set(id, (nodesByStream.get(id) ?? new Set()).add(port));
      },
    }),
  );
  if (plan.restate !== undefined) {
    const drives = disposed.use(
      await RoundRobinProxy.start({
        listPorts: () =>
          nodes.flatMap(({ process: one }) =>
            one === undefined ? [] : (drivePorts.get(one) ?? []),
          ),
      }),
    );
    await plan.restate.register(Number(new URL(drives.url).port));
  }
  const baseUrl = proxy.url;
  const patient = createClient({ baseUrl, retries: 100_000 });
  const client =
    plan.clientTimeoutMs === undefined
      ? patient
      : createClient({ baseUrl, retries: 100_000, timeoutMs: plan.clientTimeoutMs });
  const [agent = ''] = nodes[0]?.process?.agents ?? [];
  const ids: string[] = [];
  while (ids.length < sessions) {
    const some = Array.from({ length: Math.min(20, sessions - ids.length) });
    const created = some.map(async () => patient.sessions.create({ agent }));
    for (const { id } of await Promise.all(created)) ids.push(id);
  }
  onProgress(`${ids.length} sessions were created`);
  const people = ids.map(
    (session, index) =>
      new FleetClient({
        client,
        session,
        label: `s${index}`,
        random,
        thinkMs: plan.thinkMs ?? 0,
        abandonedShare: plan.abandonedShare ?? 0,
      }),
  );
  disposed.defer(() => {
    for (const one of people) one.close();
  });
  const counts: Record<string, number> = {};
  const hits = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const fault of plan.faults) {
    await plan.untilNextFault(
      () => readEffects(effectsFile).filter(({ what }) => what === 'began').length,
    );
    let begun = applyFault(fault);
    while (begun === undefined) {
      await Promise.race(hits);
      begun = applyFault(fault);
    }
    onProgress(`${fault}; ${describeProgress(people)}`);
    counts[fault] = (counts[fault] ?? 0) + 1;
    const hit = begun
      .catch((error: unknown) => void failures.push(error))
      .finally(() => hits.delete(hit));
    hits.add(hit);
  }
  await Promise.all(hits);
  assert.deepEqual(failures, []);
  onProgress(`no more faults; ${describeProgress(people)}`);
  const ticking = setInterval(() => {
    const waiting = people.flatMap((one) => (one.waiting.length > 0 ? [one.session] : []));
    onProgress(`${waiting.length} sessions wait: ${waiting.slice(0, 3).join(' ')}`);
  }, 10_000);
  try {
    await Promise.all(people.map(async (one) => one.finish()));
  } finally {
    clearInterval(ticking);
  }
  const logs = new Map<string, Awaited<ReturnType<typeof readFinalLog>>>();
  for (const { session } of people) logs.set(session, await readFinalLog(patient, session));
  const operations = people.flatMap((one) => one.operations);
  assert.deepEqual(checkHistory({ operations, views: people.map(({ view }) => view) }, logs), []);
  return {
    ...(await checkEffects(server.url, effectsFile)),
    messages: operations.filter(({ kind }) => kind === 'send').length,
    answers: operations.filter(({ kind }) => kind === 'answer').length,
    events: people.reduce((sum, { view }) => sum + view.events.length, 0),
    faults: counts,
    movedStreams: [...nodesByStream.values()].filter(({ size }) => size > 1).length,
  };

  /** Undefined: not before an earlier fault is over. */
  function applyFault(fault: FleetFault): Promise<void> | undefined {
    if (fault === 'cut') return cutConnections(server.url, random);
    if (fault === 'restate') return plan.restate?.restart() ?? Promise.resolve();
    if (fault === 'restart') return server.restart?.() ?? Promise.resolve();
    const free = nodes.filter(({ busy }) => !busy);
    const node = free[Math.floor(random() * free.length)];
    // One node at least works on.
    if (node === undefined || (free.length < 2 && nodes.length > 1)) return undefined;
    node.busy = true;
    return hitNode(node, fault).finally(() => {
      node.busy = false;
    });
  }

  /** Starts a process for a node like a supervisor: again, while the database cannot be reached. */
  async function restart(node: Node): Promise<ServeProcess> {
    for (;;) {
      try {
        return await start(nodes.indexOf(node));
      } catch (error) {
        if (!String(error).includes('"store_unavailable"')) throw error;
        await sleep(500);
      }
    }
  }

  async function hitNode(node: Node, fault: 'kill' | 'drain' | 'pause' | 'lose'): Promise<void> {
    const { process: hit } = node;
    if (fault === 'lose' && hit !== undefined) {
      hit.signal('SIGSTOP');
      disposed.use(hit);
      const database = databases.get(hit) ?? assert.fail('only behind Restate');
      database.refusing = true;
      database.cutAll();
      node.process = undefined;
      node.process = await restart(node);
      return;
    }
    if (fault === 'pause') {
      hit?.signal('SIGSTOP');
      await sleep(plan.pauseMs());
      hit?.signal('SIGCONT');
      return;
    }
    const end = await hit?.end(fault === 'kill' ? 'SIGKILL' : 'SIGTERM');
    // An earlier release may end with another code while the database is away.
    if (!node.isEarlier) assert.equal(end, fault === 'kill' ? 'SIGKILL' : 0, hit?.stderr);
    node.process = undefined;
    node.isEarlier = false;
    node.process = await restart(node);
  }
}

/** Ends about half of the connections of the servers. */
async function cutConnections(url: string, random: () => number): Promise<void> {
  const admin = new PostgresClient({ connectionString: url });
  admin.on('error', () => {});
  try {
    await admin.connect();
    const { rows } = await admin.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'petrichor' ORDER BY pid`,
    );
    const cut = rows.map(({ pid }) => pid).filter(() => random() < 0.5);
    await admin.query('SELECT pg_terminate_backend(one) FROM unnest($1::integer[]) AS one', [cut]);
  } catch {
    // The database restarts just now.
  } finally {
    await admin.end().catch(() => {});
  }
}

function describeProgress(people: readonly FleetClient[]): string {
  const messages = people.flatMap(({ operations }) =>
    operations.filter((one) => one.kind === 'send'),
  );
  const waiting = people.filter((one) => one.waiting.length > 0).length;
  return `${messages.length} messages were sent, ${waiting} sessions wait`;
}
