import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { agent } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { deriveScheduleSessionId } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime, Schedule, ScheduledRun } from '../../src/runtime/index.ts';
import { openStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { KillableStore, SimulatedProcess } from '../crash/killable-store.ts';
import type { CrashPoint } from '../crash/killable-store.ts';

/** When the next process opens the store. The due times of 08:00 and 09:00 have passed. */
const OPENED_AT = Date.parse('2026-11-23T09:00:20Z');
const TEN = '2026-11-23T10:00:00.000Z';
const TEN_AT = Date.parse(TEN);
const IDS = ['planned', 'paused', 'asked', 'sent', 'unsent', 'queued'] as const;

/** What schedules of an earlier release did: the due times of the messages that were sent, and what became of each. */
export interface ContinuedSchedules {
  /** By schedule: the status of each run, and the status of the schedule. */
  readonly runs: Readonly<Record<string, string>>;
  /** The sessions, each with the number of its messages. */
  readonly messages: Readonly<Record<string, number>>;
  readonly crashed: boolean;
}

const THREE = '08:00 ended, 09:00 ended, 10:00 ended';
const RUNS: Readonly<Record<string, string>> = {
  planned: `active, ${THREE}`,
  paused: 'paused, 08:00 ended, 09:00 ended',
  asked: 'paused, 08:00 ended, 09:00 ended',
  sent: `active, ${THREE}`,
  unsent: `active, ${THREE}`,
  queued: `active, ${THREE}`,
};

/** What must happen with and without crashes. */
export const EXPECTED: Omit<ContinuedSchedules, 'crashed'> = {
  runs: RUNS,
  messages: Object.fromEntries(
    Object.entries(RUNS).flatMap(([id, runs]) =>
      ['08:00', '09:00', '10:00']
        .filter((due) => runs.includes(due))
        .map((due) => [`${id}-20261123T${due.replace(':', '')}00Z`, 1]),
    ),
  ),
};

/** Crashes at every `stride`th write, before and after it, and compares. Returns the number of crashes. */
export async function crashAtWrites(stride: number, offset: number): Promise<number> {
  let crashes = 0;
  for (const point of ['before-write', 'after-write'] as const)
    for (let nth = 1 + offset; ; nth += stride) {
      const { runs, messages, crashed } = await continueSchedules('grown.db', { point, nth });
      assert.deepEqual({ runs, messages }, EXPECTED, `${point} ${nth}`);
      if (!crashed) break;
      crashes++;
    }
  return crashes;
}

const writer = (): Agent =>
  agent({
    name: 'writer',
    model: new ScriptedModel(({ contents }) =>
      JSON.stringify(contents).includes('Ask') && contents.length === 1
        ? { toolCalls: [{ name: 'publish' }] }
        : { text: 'Done.' },
    ),
    tools: [
      tool({
        name: 'publish',
        description: 'Publishes the report',
        needsApproval: true,
        execute: () => 'done',
      }),
    ],
  });

/** Continues the schedules of a fixture until each has passed 10:00, in a process that crashes, and in the next one. */
export async function continueSchedules(
  fixture: string,
  crashPoint?: CrashPoint,
): Promise<ContinuedSchedules> {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-schedules-'));
  const file = join(folder, 'schedules.db');
  copyFileSync(join(import.meta.dirname, 'fixtures', 'schedules', fixture), file);
  const clock = new SimulatedClock(OPENED_AT);
  const first = new SimulatedProcess(crashPoint);
  try {
    if (crashPoint !== undefined) {
      const store = await openStore(`sqlite:${file}`);
      await Promise.race([runProcess(store, clock, first).catch(() => {}), first.over]);
      // The owner that joined through this store is dead then.
      await store.close();
    }
    const crashed = first.isOver;
    first.end();
    const store = await openStore(`sqlite:${file}`);
    const runtime = await runProcess(store, clock, new SimulatedProcess());
    const outcome = await readOutcome(runtime, store);
    await runtime.close();
    await store.close();
    return { ...outcome, crashed };
  } finally {
    first.discard();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runProcess(
  store: Store,
  clock: SimulatedClock,
  process: SimulatedProcess,
): Promise<Runtime> {
  const errors: unknown[] = [];
  const runtime = await openRuntime({
    agents: [writer()],
    store: new KillableStore(store, process),
    clock,
    onError: (error) => {
      if (!process.isOver) errors.push(error);
    },
  });
  /** Advances the time timer by timer, to this limit at most, until the condition holds. */
  const passUntil = async (limit: number, condition: Condition): Promise<void> => {
    for (let n = 0; !process.isOver; n++) {
      assert.deepEqual(errors, []);
      // Reading all schedules takes longer than a step.
      if (n % 20 === 0 && (await holds(runtime, condition))) return;
      if (n % 20 === 0) await approveAll(runtime);
      const { nextAt } = clock;
      if (nextAt !== undefined && nextAt <= limit) clock.advance(Math.max(0, nextAt - clock.now()));
      await setImmediate();
    }
  };
  if (clock.now() < TEN_AT) {
    await passUntil(TEN_AT - 60_000, haveEnded);
    if (!process.isOver) clock.advance(Math.max(0, TEN_AT - 1000 - clock.now()));
  }
  // A run that begins a minute late counts as missed.
  await passUntil(
    Math.max(clock.now(), TEN_AT) + 15_000,
    (_schedule, [last]) => last !== undefined && last.id >= TEN,
  );
  await passUntil(TEN_AT + 20 * 60_000, haveEnded);
  return runtime;
}

type Condition = (schedule: Schedule, runs: readonly ScheduledRun[]) => boolean;

const haveEnded: Condition = ({ waiting }, runs) =>
  waiting === 0 && runs.length > 1 && runs.every(({ status }) => status !== 'running');

/** True if the condition holds for each schedule that is not paused. */
async function holds({ schedules }: Runtime, condition: Condition): Promise<boolean> {
  for (const id of IDS) {
    const schedule = await schedules.get(id);
    // Somebody has asked for a pause of this one.
    if (schedule === undefined || (id === 'asked' && schedule.status !== 'paused')) return false;
    if (schedule.status === 'paused') continue;
    if (!condition(schedule, await schedules.history(id))) return false;
  }
  return true;
}

async function approveAll(runtime: Runtime): Promise<void> {
  for (const { key, pending } of await runtime.sessions())
    for (const { callId } of pending) {
      const session = await runtime.session(key.sessionId);
      await session.approve(callId).accepted.catch(() => {});
    }
}

async function readOutcome(
  runtime: Runtime,
  store: Store,
): Promise<Omit<ContinuedSchedules, 'crashed'>> {
  const runs: Record<string, string> = {};
  for (const id of IDS) {
    const schedule = await runtime.schedules.get(id);
    const history = await runtime.schedules.history(id);
    const ended = history.toReversed().map((run) => `${run.id.slice(11, 16)} ${run.status}`);
    runs[id] = [schedule?.status, ...ended].join(', ');
    const sessionId = deriveScheduleSessionId(id);
    const row = await store.find({ appName: runtime.app, userId: 'default', sessionId });
    assert.ok((row?.head ?? 0) > 0 && !row?.inboxPending, id);
  }
  const messages: Record<string, number> = {};
  for (const { key } of await runtime.sessions()) {
    const session = await runtime.session(key.sessionId);
    let count = 0;
    for await (const event of session.events(0, { follow: false }))
      if (event.type === 'user.message') count++;
    messages[key.sessionId] = count;
  }
  return { runs, messages };
}
