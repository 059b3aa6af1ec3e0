import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime, Session } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { SimulatedProcess, KillableStore } from './killable-store.ts';
import type { CrashPoint } from './killable-store.ts';

const STATUS_AFTER = { pause: 'paused', archive: 'archived', complete: 'completed' } as const;
type Verb = keyof typeof STATUS_AFTER;

/** Calls `look` and `ask` for a message, and answers when both have a result. */
const createAgent = (process?: SimulatedProcess): Agent =>
  agent({
    name: 'looker',
    tools: [
      tool({
        name: 'look',
        description: 'Looks.',
        readOnly: true,
        execute: async () => {
          await process?.pass('tool-began');
          await process?.pass('tool-did');
          return 'seen';
        },
      }),
      tool({ name: 'ask', description: 'Asks a person.' }),
    ],
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.role === 'user'
        ? { toolCalls: [{ name: 'look' }, { name: 'ask' }] }
        : { text: 'Done.' },
    ),
  });

async function readLog(session: Session): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) log.push(event);
  return log;
}

async function until(session: Session, type: LogEvent['type']): Promise<void> {
  for await (const event of session.events()) if (event.type === type) return;
}

const count = (log: readonly LogEvent[], type: LogEvent['type']): number =>
  log.filter((event) => event.type === type).length;

/** Requests the change again, as a caller does that did not get the result of its first request. */
async function ensure(session: Session, verb: Verb): Promise<void> {
  await session[verb]().catch((error: unknown) => {
    assert.equal(Object(error).code, 'illegal_transition');
    assert.equal(Object(error).status, STATUS_AFTER[verb]);
  });
}

interface Run {
  /** False when everything was done before the crash point was reached. */
  readonly wasReached: boolean;
  readonly log: readonly LogEvent[];
}

/** Runs a turn and the status change in a process that crashes, and finishes both in the next process. */
async function run(verb: Verb, crashPoint: CrashPoint): Promise<Run> {
  const process = new SimulatedProcess(crashPoint);
  let runtime: Runtime | undefined | void;
  try {
    const store = new MemoryStore();
    const killable = new KillableStore(store, process);
    runtime = await Promise.race([
      openRuntime({ agents: [createAgent(process)], store: killable }),
      process.over,
    ]);
    const doing: Promise<true | void> = runtime === undefined ? process.over : begin(verb, runtime);
    doing.catch(() => {});
    const wasReached = (await Promise.race([doing, process.over])) === undefined;
    process.end();
    for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
    await using next = await openRuntime({ agents: [createAgent()], store });
    return { wasReached, log: await finish(verb, await next.session('s')) };
  } finally {
    process.discard();
    await runtime?.close().catch(() => {});
  }
}

async function begin(verb: Verb, runtime: Runtime): Promise<true> {
  const session = await runtime.session('s');
  const turn = session.send('Look!', { messageId: 'm1' });
  await turn.accepted;
  // A pause and an archiving meet the turn at work; only an idle session is completed.
  if (verb === 'complete') {
    for await (const _ of turn);
    await answer(session);
  }
  await session[verb]();
  return true;
}

async function finish(verb: Verb, session: Session): Promise<readonly LogEvent[]> {
  await session.send('Look!', { messageId: 'm1' }).accepted.catch((error: unknown) => {
    assert.equal(Object(error).code, 'illegal_transition');
  });
  if (verb === 'complete') {
    if (count(await readLog(session), 'turn.waiting') === 0) await until(session, 'turn.waiting');
    await answer(session);
  }
  await ensure(session, verb);
  assert.equal((await session.status()).status, STATUS_AFTER[verb]);
  if (verb === 'pause') {
    await session.resume();
    if (count(await readLog(session), 'turn.waiting') === 0) await until(session, 'turn.waiting');
    await answer(session);
    await session.complete();
  }
  return readLog(session);
}

/** Answers the call that waits, unless it has its answer, and reads the turn to its end. */
async function answer(session: Session): Promise<void> {
  const [call] = await session.pending();
  if (call !== undefined)
    await session.answer(call.callId, 'Blue.').accepted.catch((error: unknown) => {
      // The process that crashed has sent the answer.
      assert.equal(Object(error).code, 'already_answered');
    });
  if (count(await readLog(session), 'turn.ended') === 0) await until(session, 'turn.ended');
}

for (const verb of ['pause', 'archive', 'complete'] as const) {
  test(`a crash at any write or tool call does not change what "${verb}" does`, async (t) => {
    let crashes = 0;
    for (const point of ['before-write', 'after-write', 'tool-began', 'tool-did'] as const) {
      for (let nth = 1; ; nth++) {
        const where = `${point} ${nth}`;
        const { wasReached, log } = await run(verb, { point, nth });
        assert.deepEqual(
          log.map(({ seq }) => seq),
          log.map((_, index) => index + 1),
          where,
        );
        assert.equal(count(log, `session.${STATUS_AFTER[verb]}`), 1, where);
        assert.equal(count(log, 'turn.started'), count(log, 'turn.ended'), where);
        assert.equal(count(log, 'tool.call'), count(log, 'tool.result'), where);
        if (verb === 'archive') assert.equal(log.at(-1)?.type, 'session.archived', where);
        // A paused turn continues: each call has its result, and the answer comes once.
        else {
          assert.deepEqual([count(log, 'tool.result'), count(log, 'turn.ended')], [2, 1], where);
          // A completion that is requested twice is refused once.
          const last = log.findLast(({ type }) => type !== 'error');
          assert.equal(last?.type, 'session.completed', where);
        }
        if (!wasReached) break;
        crashes++;
      }
    }
    t.diagnostic(`${crashes} crashes`);
    assert.ok(crashes >= 8, String(crashes));
  });
}
