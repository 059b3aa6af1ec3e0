import { setTimeout as sleep } from 'node:timers/promises';
import { agent, openRuntime, tool } from '../src/index.ts';
import { ScriptedModel } from '../src/models/index.ts';
import { openPostgresStore } from '../src/store/postgres/open-postgres-store.ts';
import { startCuttingProxy } from '../test/postgres/cutting-proxy.ts';
import { startPostgresServer } from '../test/postgres/postgres-server.ts';

/** What it costs the others to take the sessions of a node that died while their tools ran. */
export interface Takeover {
  readonly sessions: number;
  /** From the time at which the node counts as dead until its last session has ended its turn. */
  readonly seconds: number;
  /** Statements of all nodes together, for each session; those of a turn are part of it. */
  readonly statements: number;
  /** Claims that another node had won, for each session. */
  readonly lostClaims: number;
  /** The largest share of the sessions that one of the three nodes took. */
  readonly largestShare: number;
  /** Statements per second of the busiest second, of all nodes together. */
  readonly peakStatements: number;
  /** Milliseconds of CPU outside the server, for each session. */
  readonly cpuMs: number;
}

const NODES = 3;
const SESSIONS = 1000;
const ABSENCE_MS = 1000;

/** Null when quick, because a server takes long, and where there is no PostgreSQL. */
export async function measureTakeover({
  quick,
  sessions = SESSIONS,
}: {
  readonly quick: boolean;
  readonly sessions?: number;
}): Promise<Takeover | null> {
  const server = quick ? undefined : await startPostgresServer({ restartable: true });
  if (server === undefined) return null;
  const proxy = await startCuttingProxy(server.url);
  const timing = { absenceMs: ABSENCE_MS, restartAbsenceMs: ABSENCE_MS };
  try {
    const started = new Set<string>();
    let dead = false;
    const taken = Array.from({ length: NODES }, () => 0);
    const createAgent = (node: number) =>
      agent({
        name: 'looker',
        model: new ScriptedModel(({ contents }) =>
          contents.at(-1)?.role === 'tool'
            ? { text: 'Done.' }
            : { toolCalls: [{ name: 'look', args: {} }] },
        ),
        tools: [
          tool({
            name: 'look',
            description: 'Looks.',
            readOnly: true,
            execute: async (_, { firingId }) => {
              if (node < 0) {
                started.add(firingId);
                await new Promise(() => {});
              }
              taken[node] = (taken[node] ?? 0) + 1;
              return 'seen';
            },
          }),
        ],
      });
    const first = await openPostgresStore(proxy.url, timing);
    const dying = await openRuntime({ agents: [createAgent(-1)], store: first, onError: () => {} });
    const ids = Array.from({ length: sessions }, (_, n) => `session-${n}`);
    for (let from = 0; from < sessions; from += 50)
      await Promise.all(
        ids.slice(from, from + 50).map(async (id) => {
          const session = await dying.session(id);
          await session.send('Look.').accepted;
        }),
      );
    while (started.size < sessions) await sleep(20);
    let statements = 0;
    let lostClaims = 0;
    const perSecond = new Map<number, number>();
    const nodes = await Promise.all(
      taken.map(async (_, node) => {
        const store = await openPostgresStore(server.url, {
          ...timing,
          onStatement: () => {
            if (!dead) return;
            statements++;
            const second = Math.floor(performance.now() / 1000);
            perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
          },
        });
        const claim = store.claim.bind(store);
        store.claim = async (...args) => {
          const result = await claim(...args);
          if (dead && !result.ok) lostClaims++;
          return result;
        };
        const runtime = await openRuntime({
          agents: [createAgent(node)],
          store,
          onError: () => {},
        });
        return { store, runtime };
      }),
    );
    proxy.refusing = true;
    proxy.cutAll();
    await sleep(ABSENCE_MS);
    dead = true;
    const startedAt = performance.now();
    const cpu = process.cpuUsage();
    const [{ store } = { store: first }] = nodes;
    const isOver = async (): Promise<boolean> => {
      const left = await store.list({ activity: 'running', limit: 1 });
      return left.length === 0 && taken.reduce((sum, count) => sum + count, 0) >= sessions;
    };
    while (!(await isOver())) await sleep(100);
    const seconds = (performance.now() - startedAt) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    await Promise.all(nodes.map(async (node) => node.runtime.close()));
    await Promise.all(nodes.map(async (node) => node.store.close()));
    // The dead node cannot end its tools.
    void dying.close().catch(() => {});
    void first.close().catch(() => {});
    return {
      sessions,
      seconds,
      statements: statements / sessions,
      lostClaims: lostClaims / sessions,
      largestShare: Math.max(...taken) / sessions,
      peakStatements: Math.max(...perSecond.values()),
      cpuMs: (user + system) / 1000 / sessions,
    };
  } finally {
    await proxy.stop();
    await server.stop();
  }
}
