import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { agent } from '../../src/agents/index.ts';
import { deriveScheduleSessionId } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';

const START = Date.parse('2026-11-23T00:00:00Z');
const EVERY_MS = 60_000;

/** How a schedule went through its due times. */
export interface PassedDueTimes {
  /** The most steps of its journal, and the bytes of an export of it, that were seen. */
  readonly mostSteps: number;
  readonly mostBytes: number;
  /** How often its journal began anew. */
  readonly renewals: number;
}

/** Lets a schedule pass many due times. Each must make one run with one message. */
export async function passDueTimes(count: number): Promise<PassedDueTimes> {
  const store = new MemoryStore();
  const clock = new SimulatedClock(START);
  const errors: unknown[] = [];
  const model = new ScriptedModel(() => ({ text: 'Done.' }));
  const runtime = await openRuntime({
    agents: [agent({ name: 'writer', model })],
    store,
    clock,
    onError: (error) => errors.push(error),
  });
  const { schedules, app: appName } = runtime;
  const key = { appName, userId: 'default', sessionId: deriveScheduleSessionId('tick') };
  const uids = new Set<string>();
  let [mostSteps, mostBytes] = [0, 0];
  const created = await schedules.create({ id: 'tick', everyMs: EVERY_MS, message: 'Tick' });
  for (let n = 0, due = created.nextDueAt ?? 0; n < count; n++, due += EVERY_MS) {
    const id = new Date(due).toISOString();
    while (!(await hasEnded(runtime, id))) {
      assert.deepEqual(errors, []);
      // A run that begins later than this counts as missed.
      const { nextAt } = clock;
      if (nextAt !== undefined && nextAt < due + EVERY_MS)
        clock.advance(Math.max(0, nextAt - clock.now()));
      await setImmediate();
    }
    const { uid, head } = (await store.find(key)) ?? assert.fail();
    uids.add(uid);
    mostSteps = Math.max(mostSteps, head);
    if (n % 50 === 49) {
      let bytes = 0;
      for await (const item of store.exportItems({ session: key }))
        bytes += JSON.stringify(item).length;
      mostBytes = Math.max(mostBytes, bytes);
    }
    await checkRun(runtime, id);
  }
  const runs = await schedules.history('tick');
  assert.equal(runs.length, Math.min(100, count));
  assert.ok(runs.every(({ status }) => status === 'ended'));
  assert.deepEqual(
    (await schedules.list()).map(({ createdAt }) => createdAt),
    [created.createdAt],
  );
  await runtime.close();
  return { mostSteps, mostBytes, renewals: uids.size - 1 };
}

async function hasEnded({ schedules }: Runtime, id: string): Promise<boolean> {
  const [last] = await schedules.history('tick', { limit: 1 });
  return last?.id === id && last.status === 'ended';
}

/** The session of the run has one message. Deletes it, so that the store stays small. */
async function checkRun(runtime: Runtime, id: string): Promise<void> {
  const rows = await runtime.sessions();
  const expected = `tick-${id.replaceAll(/[-:]|\.000/g, '')}`;
  assert.deepEqual(
    rows.map(({ key }) => key.sessionId),
    [expected],
  );
  const session = await runtime.session(expected);
  const messages: string[] = [];
  for await (const event of session.events(0, { follow: false }))
    if (event.type === 'user.message') messages.push(event.messageId);
  assert.deepEqual(messages, [`schedule/tick/${id}`]);
  await runtime.delete(expected);
}
