/**
 * Writes the fixtures: sessions in every state, as a killed process leaves them, in SQLite (`*.db`) and PostgreSQL (`*.sql`).
 *
 * The fixtures in this folder were written by commit 4f79844 (version 0.1.0). To write them again, run this file with
 * that version's code:
 *
 *     git worktree add --detach ../released 4f79844
 *     cp -r test/upgrade ../released/test/
 *     cd ../released && npm ci && npx node test/upgrade/leave-sessions.ts test/upgrade/fixtures
 *
 * and copy the folder `fixtures` back. Ids are random, so the files differ from run to run.
 *
 * The fixtures in `fixtures/former-names` were written in the same way by commit 9d47cef, the last one before places and
 * transitions got their present names.
 */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { openManagedRuntime } from '../../src/managed/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { Runner } from '../../src/adk/index.ts';
import type { App } from '../../src/adk/index.ts';
import { StoreSessionService } from '../../src/adk/sessions/store-session-service.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { openStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { startPostgresServer } from '../postgres/postgres-server.ts';
import { leaveGenerators } from './leave-generators.ts';
import { dumpStore } from './postgres-dump.ts';
import {
  toBuiltIns,
  compactingApp,
  obedientModel,
  RELEASED_AT,
  RELEASED_DEFINITION,
  releasedAgent,
  releasedApp,
  releasedTools,
  reminderAgent,
  reminderSet,
} from './released-agents.ts';

const [, , to = '.'] = process.argv;
const model = obedientModel(() => true);
const clock = new SimulatedClock(RELEASED_AT);
/** Tools never end, because the process dies while they run. */
const tools = releasedTools(async () => new Promise(() => {}));

/** Enough messages for a snapshot; the first is long enough for a blob. */
const manyTexts = [
  `say ${'one '.repeat(2500)}`,
  ...Array.from({ length: 34 }, (_, n) => `say ${n}`),
];

/** Long enough for all work that does not wait for the simulated clock. */
async function someTime(): Promise<void> {
  await setTimeout(250);
}

async function plain(store: Store): Promise<void> {
  const agents = [releasedAgent(model, tools), reminderAgent(model)];
  const runtime = await openRuntime({ agents, store, clock });
  const sendTexts = async (id: string, ...texts: readonly string[]): Promise<void> => {
    const session = await runtime.session(id, { agent: 'desk' });
    for (const text of texts) {
      await session.send(text).accepted;
      await someTime();
    }
  };
  await sendTexts('idle', 'say one', 'say two');
  await sendTexts('approval', 'call delete');
  await sendTexts('result', 'call ask');
  await sendTexts('retry', 'fail');
  await sendTexts('parallel', 'call look pay ask');
  await sendTexts('rewound', 'say one', 'say two');
  await sendTexts('long', ...manyTexts);
  const rewound = await runtime.session('rewound');
  let beforeInvocationId = '';
  for await (const event of rewound.events(0, { follow: false }))
    if (event.type === 'turn.started') ({ invocationId: beforeInvocationId } = event);
  await rewound.rewind({ beforeInvocationId });
  const timer = await runtime.session('timer', { agent: 'reminder' });
  await timer.inject(reminderSet, { of: 'tea' }, { dedupeKey: 'tea' });
  await someTime();
}

async function managed(store: Store): Promise<void> {
  const runtime = await openManagedRuntime({
    store,
    clock,
    resolver: async () => model,
    builtIns: toBuiltIns(tools),
  });
  // Later versions call the instructions of 0.1.0 `system`.
  const { instructions: system, ...definition } = RELEASED_DEFINITION;
  const { id: agent } = await runtime
    .create(RELEASED_DEFINITION)
    .catch(async () => runtime.create({ ...definition, system }));
  const start = async (title: string, ...texts: readonly string[]): Promise<string> => {
    const { id } = await runtime.startSession(agent, { userId: 'u' }, { title });
    for (const text of texts) {
      await runtime.sendEvent(id, { type: 'user.message', content: [{ type: 'text', text }] });
      await someTime();
    }
    return id;
  };
  await start('idle', 'say one');
  await start('long', ...manyTexts);
  await start('approval', 'call delete');
  await start('result', 'call ask');
  await start('retry', 'fail');
  await start('parallel', 'call look pay ask');
  const paused = await start('paused', 'say one');
  await runtime.pause(paused);
  const pausedInRetry = await start('paused in a retry', 'fail');
  await runtime.pause(pausedInRetry);
  const archived = await start('archived', 'say one');
  await runtime.archive(archived);
  const rewound = await start('rewound', 'say one', 'say two');
  let beforeInvocationId = '';
  for await (const event of runtime.streamLog(rewound, 0, { follow: false }))
    if (event.type === 'turn.started') ({ invocationId: beforeInvocationId } = event);
  await runtime.rewind(rewound, { beforeInvocationId });
  await someTime();
}

async function adk(store: Store): Promise<void> {
  const sessionService = new StoreSessionService(async () => store, clock);
  const open = (app: App): Runner => new Runner({ app, sessionService, clock });
  const sendTexts = async (
    runner: Runner,
    sessionId: string,
    ...texts: readonly string[]
  ): Promise<void> => {
    const { appName } = runner;
    await sessionService.createSession({ appName, userId: 'u', sessionId });
    for (const newMessage of texts) {
      // Not awaited, because some of these invocations never end.
      void runner.run({ userId: 'u', sessionId, newMessage });
      await someTime();
    }
  };
  const desk = open(releasedApp(model, tools));
  await sendTexts(desk, 'idle', 'say one');
  await sendTexts(desk, 'long', ...manyTexts);
  await sendTexts(desk, 'approval', 'call delete');
  await sendTexts(desk, 'result', 'call ask');
  await sendTexts(desk, 'retry', 'fail');
  await sendTexts(desk, 'parallel', 'call look pay ask');
  await sendTexts(desk, 'rewound', 'say one', 'say two');
  const address = { appName: 'desk', userId: 'u', sessionId: 'rewound' };
  const rewound = await sessionService.getSession(address);
  const rewindBeforeInvocationId = rewound?.events.at(-1)?.invocationId ?? '';
  await desk.rewind({ userId: 'u', sessionId: 'rewound', rewindBeforeInvocationId });
  await sendTexts(
    open(compactingApp(model, tools)),
    'compacted',
    'say one',
    'say two',
    'say three',
  );
}

const kinds = { plain, managed, adk, generators: leaveGenerators };
const folder = mkdtempSync(join(tmpdir(), 'petrichor-released-'));
const server = await startPostgresServer();
if (server === undefined) throw new Error('There is no PostgreSQL for this platform.');

for (const [kind, leave] of Object.entries(kinds)) {
  const file = join(folder, `${kind}.db`);
  await leave(await openStore(`sqlite:${file}`));
  const database = new DatabaseSync(file);
  // The copy includes the content of the write-ahead log.
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  copyFileSync(file, join(to, `${kind}.db`));

  const schema = `released_${kind}`;
  await leave(await openStore(server.url, { schema }));
  writeFileSync(join(to, `${kind}.sql`), await dumpStore(server.url, schema));
}
await server.stop();
rmSync(folder, { recursive: true });
process.kill(process.pid, 'SIGKILL');
