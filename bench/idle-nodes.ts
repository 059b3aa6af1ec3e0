import { agent, openRuntime } from '../src/index.ts';
import { ScriptedModel } from '../src/models/index.ts';
import { openPostgresStore } from '../src/store/postgres/open-postgres-store.ts';
import { startPostgresServer } from '../test/postgres/postgres-server.ts';

/** What a turn costs all processes of a fleet together, beside idle ones that read other sessions. */
export interface IdleNodes {
  readonly alone: TurnCost;
  readonly besideEight: TurnCost;
}

export interface TurnCost {
  readonly statements: number;
  /** Milliseconds of CPU outside the server. */
  readonly cpuMs: number;
}

const READERS = 20;
const TURNS = 200;

/** Null when quick, because a server takes long, and where there is no PostgreSQL. */
export async function measureIdleNodes({
  quick,
}: {
  readonly quick: boolean;
}): Promise<IdleNodes | null> {
  const server = quick ? undefined : await startPostgresServer({ restartable: true });
  if (server === undefined) return null;
  try {
    // The first measurement also compiles the code.
    await measureTurns(server.url, 0);
    return {
      alone: await measureTurns(server.url, 0),
      besideEight: await measureTurns(server.url, 8),
    };
  } finally {
    await server.stop();
  }
}

let schemas = 0;

async function measureTurns(url: string, idleNodes: number): Promise<TurnCost> {
  const schema = `idle_${schemas++}`;
  let statements = 0;
  const talker = agent({ name: 'talker', model: new ScriptedModel(() => ({ text: 'Hello.' })) });
  const open = async (): Promise<AsyncDisposable & Awaited<ReturnType<typeof openRuntime>>> => {
    const store = await openPostgresStore(url, { schema, onStatement: () => statements++ });
    const runtime = await openRuntime({ agents: [talker], store });
    return Object.assign(runtime, {
      [Symbol.asyncDispose]: async () => {
        await runtime.close();
        await store.close();
      },
    });
  };
  await using nodes = new AsyncDisposableStack();
  const working = nodes.use(await open());
  const done = new AbortController();
  nodes.defer(() => done.abort());
  for (let node = 0; node < idleNodes; node++) {
    const idle = nodes.use(await open());
    for (let reader = 0; reader < READERS; reader++) {
      const session = await idle.session(`read-${node}-${reader}`);
      void readAll(session.events(0, { signal: done.signal }));
    }
  }
  const session = await working.session('busy');
  await session.ask('Hello.');
  const before = { statements, cpu: process.cpuUsage() };
  for (let turn = 0; turn < TURNS; turn++) await session.ask('Hello.');
  const { user, system } = process.cpuUsage(before.cpu);
  const used = statements - before.statements;
  done.abort();
  return { statements: used / TURNS, cpuMs: (user + system) / 1000 / TURNS };
}

async function readAll(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}
