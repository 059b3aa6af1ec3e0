import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { isFunctionResponsePart } from '../../src/core/index.ts';
import type { SessionKey } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { DispatchTarget, DriveResult, Runtime, Session } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';

/** The longest time until a server looks into the store, in milliseconds. */
const SWEEP_MS = 15_000;

/** A process whose tool runs until the test ends it. */
interface Process {
  readonly runtime: Runtime;
  readonly clock: SimulatedClock;
  /** Ids of the drives that it asked for. */
  readonly requests: string[];
  readonly runs: string[];
  readonly endTool: () => void;
  readonly drive: (key: SessionKey) => Promise<DriveResult>;
}

/** Opens a process behind a dispatcher that keeps requests and calls nobody: a drive before them has not ended. */
async function openProcess(
  store: MemoryStore,
  runs: string[],
  onCrash: 'rerun' | 'unknown',
): Promise<Process> {
  let target: DispatchTarget | undefined;
  const end = Promise.withResolvers<void>();
  const requests: string[] = [];
  const clock = new SimulatedClock(1_000_000);
  const work = tool({
    name: 'work',
    description: 'Works.',
    onCrash,
    execute: async () => {
      runs.push('began');
      await end.promise;
      return 'ok';
    },
  });
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.parts.some(isFunctionResponsePart) === true
      ? { text: 'Done.' }
      : { toolCalls: [{ name: 'work' }] },
  );
  const runtime = await openRuntime({
    agents: [agent({ name: 'worker', model, tools: [work] })],
    store,
    clock,
    dispatcher: {
      start: async (started) => void (target = started),
      dispatch: async ({ id }) => void requests.push(id),
      close: async () => {},
    },
  });
  assert.ok(target);
  return { runtime, clock, requests, runs, endTool: end.resolve, drive: target.drive.bind(target) };
}

async function readTurnEnd(session: Session): Promise<string> {
  for await (const event of session.events())
    if (event.type === 'turn.ended') return event.stopReason;
  return assert.fail('The log ended before the turn.');
}

async function countEvents(session: Session, type: string): Promise<number> {
  let count = 0;
  for await (const event of session.events(0, { follow: false })) if (event.type === type) count++;
  return count;
}

/** The first process runs the tool of a session and hangs; then the session is taken from it. */
async function openHung(
  onCrash: 'rerun' | 'unknown',
): Promise<{ hung: Process; other: Process; hungDrive: Promise<DriveResult>; session: Session }> {
  const store = new MemoryStore();
  const runs: string[] = [];
  const hung = await openProcess(store, runs, onCrash);
  const other = await openProcess(store, runs, onCrash);
  const session = await hung.runtime.session('s');
  await session.send('Work.').accepted;
  const hungDrive = hung.drive(session.key);
  while (runs.length === 0) await setImmediate();
  assert.ok((await store.evict(session.key)).evicted);
  const found = await other.runtime.find('s');
  assert.ok(found);
  return { hung, other, hungDrive, session: found };
}

test('an interrupt takes a session from a process that hangs, and does not wait behind its drive', async () => {
  const { hung, other, hungDrive, session } = await openHung('unknown');
  const ended = readTurnEnd(session);
  await session.interrupt();
  assert.equal(await ended, 'interrupted');
  // The process that hung goes on: its result is refused, and nothing runs again.
  hung.endTool();
  await hungDrive;
  assert.deepEqual(other.runs, ['began']);
  assert.equal(await countEvents(session, 'turn.ended'), 1);
  await other.runtime.close();
  await hung.runtime.close();
});

test('a look into the store takes a session from a process that hangs', async () => {
  const { hung, other, hungDrive, session } = await openHung('rerun');
  other.endTool();
  other.clock.advance(SWEEP_MS);
  assert.equal(await readTurnEnd(session), 'end_turn');
  assert.deepEqual(other.runs, ['began', 'began']);
  hung.endTool();
  await hungDrive;
  assert.equal(await countEvents(session, 'tool.result'), 1);
  await other.runtime.close();
  await hung.runtime.close();
});

test('a message behind a drive that never began is asked for again, and then taken', async () => {
  const store = new MemoryStore();
  const process = await openProcess(store, [], 'unknown');
  const session = await process.runtime.session('s');
  await session.send('Work.').accepted;
  while (process.requests.length === 0) await setImmediate();
  process.clock.advance(SWEEP_MS);
  while (process.requests.length < 2) await setImmediate();
  for (let n = 0; n < 50; n++) await setImmediate();
  assert.deepEqual([process.runs, new Set(process.requests).size], [[], 1]);
  process.clock.advance(SWEEP_MS);
  process.endTool();
  assert.equal(await readTurnEnd(session), 'end_turn');
  assert.deepEqual(process.runs, ['began']);
  // It was given up at rest, like any session that a dispatcher sends.
  await session.send('Work.').accepted;
  while (process.requests.length < 3) await setImmediate();
  assert.deepEqual(process.runs, ['began']);
  await process.runtime.close();
});

test('an input for a session that another process runs leaves it there', async () => {
  const store = new MemoryStore();
  const runs: string[] = [];
  const running = await openProcess(store, runs, 'unknown');
  const other = await openProcess(store, runs, 'unknown');
  const session = await running.runtime.session('s');
  await session.send('Work.').accepted;
  const driven = running.drive(session.key);
  while (runs.length === 0) await setImmediate();
  const owner = (await store.find(session.key))?.owner;
  await (await other.runtime.session('s')).send('Work more.').accepted;
  while (other.requests.length === 0) await setImmediate();
  assert.equal((await store.find(session.key))?.owner, owner);
  running.endTool();
  await driven;
  assert.deepEqual(runs, ['began', 'began']);
  await other.runtime.close();
  await running.runtime.close();
});

test('a process that closes ends the sessions that it took over', async () => {
  const { hung, other, hungDrive, session } = await openHung('rerun');
  other.clock.advance(SWEEP_MS);
  while (other.runs.length < 2) await setImmediate();
  const closed = other.runtime.close();
  other.endTool();
  await closed;
  hung.endTool();
  await hungDrive;
  await hung.runtime.close();
  assert.ok(session);
});
