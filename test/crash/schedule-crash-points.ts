import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { agent } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { KillableStore, SimulatedProcess } from './killable-store.ts';
import type { CrashPoint } from './killable-store.ts';

const START = Date.parse('2026-11-23T08:59:00Z');
const DUE = ['2026-11-23T09:00:00.000Z', '2026-11-23T09:20:00.000Z'] as const;

const createAgent = (): Agent =>
  agent({ name: 'writer', model: new ScriptedModel(() => ({ text: 'Done.' })) });

/** What a schedule did: the status of each run, and the messages of each session. */
export interface ScheduleOutcome {
  readonly runs: readonly (readonly [id: string, status: string])[];
  readonly messages: Readonly<Record<string, readonly string[]>>;
}

/** Runs a schedule through two due times in a process that crashes, and in the next one. */
export async function runScheduleWithCrash(
  crashPoint: CrashPoint | undefined,
): Promise<{ readonly crashed: boolean; readonly outcome: ScheduleOutcome }> {
  const store = new MemoryStore();
  const clock = new SimulatedClock(START);
  const process = new SimulatedProcess(crashPoint);
  const errors: unknown[] = [];
  const open = async (on: SimulatedProcess): Promise<Runtime> =>
    openRuntime({
      agents: [createAgent()],
      store: new KillableStore(store, on),
      clock,
      onError: (error) => {
        if (!on.isOver) errors.push(error);
      },
    });
  const first = open(process);
  first.catch(() => {});
  await Promise.race([
    first.then(async (runtime) => passDueTimes(runtime, clock, process)),
    process.over,
  ]);
  const crashed = process.isOver;
  process.end();
  for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
  const next = new SimulatedProcess();
  const runtime = await open(next);
  await passDueTimes(runtime, clock, next);
  const outcome = await readOutcome(runtime);
  await runtime.close();
  process.discard();
  assert.deepEqual(errors, []);
  return { crashed, outcome };
}

/** Creates the schedule, if it does not exist, and advances the clock until its runs have ended. */
async function passDueTimes(
  { schedules }: Runtime,
  clock: SimulatedClock,
  process: SimulatedProcess,
): Promise<void> {
  await schedules.create({ id: 'report', cron: '*/20 * * * *', message: 'Report' });
  for (const due of DUE) {
    if (process.isOver) return;
    clock.advance(Math.max(0, Date.parse(due) - clock.now()));
    const limit = Date.parse(due) + 15 * 60_000;
    while (!process.isOver && !(await hasEnded(schedules, due))) {
      const { nextAt } = clock;
      if (nextAt !== undefined && nextAt <= limit) clock.advance(Math.max(0, nextAt - clock.now()));
      await setImmediate();
    }
  }
}

async function hasEnded(schedules: Runtime['schedules'], due: string): Promise<boolean> {
  const runs = await schedules.history('report');
  return runs.some(({ id, status }) => id === due && status !== 'running');
}

async function readOutcome(runtime: Runtime): Promise<ScheduleOutcome> {
  const messages: Record<string, string[]> = {};
  for (const { key } of await runtime.sessions()) {
    const session = await runtime.session(key.sessionId);
    const found: string[] = [];
    for await (const event of session.events(0, { follow: false }))
      if (event.type === 'user.message') found.push(event.messageId);
    messages[key.sessionId] = found;
  }
  const runs = await runtime.schedules.history('report');
  return { runs: runs.toReversed().map(({ id, status }) => [id, status] as const), messages };
}

/** What must happen with and without crashes. */
export const EXPECTED: ScheduleOutcome = {
  runs: DUE.map((due) => [due, 'ended'] as const),
  messages: Object.fromEntries(
    DUE.map((due) => [`report-${due.replaceAll(/[-:]|\.000/g, '')}`, [`schedule/report/${due}`]]),
  ),
};

/** Crashes at every `stride`th write, before and after it, and compares. Returns the number of crashes. */
export async function crashAtWrites(stride: number, offset: number): Promise<number> {
  let crashes = 0;
  for (const [index, point] of (['before-write', 'after-write'] as const).entries())
    for (let nth = 1 + ((index + offset) % stride); ; nth += stride) {
      const { crashed, outcome } = await runScheduleWithCrash({ point, nth });
      assert.deepEqual(outcome, EXPECTED, `${point} ${nth}`);
      if (!crashed) break;
      crashes++;
    }
  return crashes;
}
