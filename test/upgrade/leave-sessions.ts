/**
 * Leaves sessions in every state behind, as a process that is killed: `node test/upgrade/leave-sessions.ts FOLDER`, run
 * in a checkout of the version whose sessions are wanted, with this folder copied into it. It writes `plain.db`,
 * `managed.db` and `adk.db`.
 */
import { copyFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { openManagedRuntime } from '../../src/managed/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { Runner, SqliteSessionService } from '../../src/runner/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import {
  obedientModel,
  RELEASED_AT,
  RELEASED_DEFINITION,
  releasedAgent,
  releasedApp,
  releasedTools,
} from './released-agents.ts';

const [, , to = '.'] = process.argv;
const folder = mkdtempSync(join(tmpdir(), 'petrichor-released-'));
const model = obedientModel(() => true);
const clock = new SimulatedClock(RELEASED_AT);
/** Tools never end: the process dies while they run. */
const tools = releasedTools(async () => new Promise(() => {}));

async function someTime(): Promise<void> {
  for (let n = 0; n < 300; n++) await setImmediate();
}

/** Copies a database as it is now, its write-ahead log included. */
function copy(name: string): void {
  const database = new DatabaseSync(join(folder, name));
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  copyFileSync(join(folder, name), join(to, name));
}

async function plain(): Promise<void> {
  const store = `sqlite:${join(folder, 'plain.db')}`;
  const runtime = await openRuntime({ agents: [releasedAgent(model, tools)], store, clock });
  const say = async (id: string, ...texts: readonly string[]): Promise<void> => {
    const session = await runtime.session(id);
    for (const text of texts) {
      await session.send(text).accepted;
      await someTime();
    }
  };
  await say('idle', 'say one', 'say two');
  await say('approval', 'call delete');
  await say('result', 'call ask');
  await say('retry', 'fail');
  await say('parallel', 'call look pay ask');
  await say('rewound', 'say one', 'say two');
  const rewound = await runtime.session('rewound');
  for await (const event of rewound.events(0, { follow: false }))
    if (event.type === 'turn.started' && 'seq' in event && event.seq > 3) {
      await rewound.rewind({ beforeInvocationId: event.invocationId });
      break;
    }
  await someTime();
}

async function managed(): Promise<void> {
  const store = `sqlite:${join(folder, 'managed.db')}`;
  const look = tools.filter(({ name }) => name === 'look');
  const runtime = await openManagedRuntime({
    store,
    clock,
    resolver: async () => model,
    builtIns: async (name) => look.filter((one) => one.name === name),
  });
  const { id: agent } = await runtime.create(RELEASED_DEFINITION);
  const start = async (title: string, text: string): Promise<string> => {
    const { id } = await runtime.startSession(agent, { userId: 'u' }, { title });
    await runtime.sendEvent(id, { type: 'user.message', content: [{ type: 'text', text }] });
    await someTime();
    return id;
  };
  await start('idle', 'say one');
  await start('result', 'call ask');
  await start('retry', 'fail');
  await start('parallel', 'call look ask');
  const paused = await start('paused', 'say one');
  await runtime.pause(paused);
  const archived = await start('archived', 'say one');
  await runtime.archive(archived);
  await someTime();
}

async function adk(): Promise<void> {
  const sessionService = new SqliteSessionService(join(folder, 'adk.db'), { clock });
  const runner = new Runner({ app: releasedApp(model, tools), sessionService, clock });
  const say = async (sessionId: string, ...texts: readonly string[]): Promise<void> => {
    await sessionService.createSession({ appName: 'desk', userId: 'u', sessionId });
    for (const newMessage of texts) {
      await runner.run({ userId: 'u', sessionId, newMessage });
      await someTime();
    }
  };
  await say('idle', 'say one');
  await say('compacted', 'say one', 'say two', 'say three');
  await say('approval', 'call delete');
}

await plain();
await managed();
await adk();
for (const name of ['plain.db', 'managed.db', 'adk.db']) copy(name);
process.kill(process.pid, 'SIGKILL');
