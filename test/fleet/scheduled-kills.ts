import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../src/client/index.ts';
import type { Client, ScheduleRun } from '../../src/client/index.ts';
import { openStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { ServeProcess } from '../server/serve-process.ts';

const EVERY_MS = 1000;
const SCHEDULES = ['one', 'two', 'three'] as const;
/** The history has the last 100 runs. */
const MAX_DUE_TIMES = 80;

export interface ScheduledKills {
  readonly kills: number;
  /** The due times of all schedules, and the runs that were left out because the run before had not ended. */
  readonly dueTimes: number;
  readonly skipped: number;
}

/** Kills one of two servers again and again while schedules are due each second. Each due time must send one message. */
export async function killWhileSchedulesRun(
  storeUrl: string,
  { seconds, random }: { readonly seconds: number; readonly random: () => number },
): Promise<ScheduledKills> {
  assert.ok(seconds * 1000 <= MAX_DUE_TIMES * EVERY_MS);
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-scheduled-'));
  const start = async (): Promise<ServeProcess> =>
    ServeProcess.start({
      folder,
      args: [
        `--agents=${join(import.meta.dirname, 'fleet-agents.ts')}`,
        '--port=0',
        `--store=${storeUrl}`,
      ],
      env: { SIDE_EFFECTS: join(folder, 'effects.jsonl'), TOOL_MS: '10' },
    });
  const nodes = await Promise.all([start(), start()]);
  const store = await openStore(storeUrl);
  try {
    const [agent = ''] = nodes[0]?.agents ?? [];
    const connect = (): Client => createClient({ baseUrl: nodes[0]?.url ?? '', retries: 20 });
    for (const id of SCHEDULES)
      await connect().schedules.create({ id, agent, message: `work ${id}`, every_ms: EVERY_MS });
    const end = Date.now() + seconds * 1000;
    let kills = 0;
    while (Date.now() < end) {
      await sleep(500 + random() * 2000);
      const victim = random() < 0.5 ? 0 : 1;
      await nodes[victim]?.end('SIGKILL');
      nodes[victim] = await start();
      kills++;
    }
    let dueTimes = 0;
    let skipped = 0;
    for (const id of SCHEDULES) {
      await connect().schedules.pause(id);
      const runs = await untilOver(connect, id);
      skipped += runs.filter(({ status }) => status === 'skipped').length;
      dueTimes += runs.length;
      await checkRuns(store, id, runs);
    }
    return { kills, dueTimes, skipped };
  } finally {
    await Promise.all(nodes.map(async (node) => node.end('SIGKILL')));
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits until no run of a paused schedule is active or waits. Returns its runs, the first due first. */
async function untilOver(connect: () => Client, id: string): Promise<readonly ScheduleRun[]> {
  for (;;) {
    const { waiting_runs: waiting } = await connect().schedules.get(id);
    const runs = (await connect().schedules.runs(id)).toReversed();
    if (waiting === 0 && runs.every(({ status }) => status !== 'running')) return runs;
    await sleep(500);
  }
}

/** Each due time is in the history once, in order and without a gap, and has one message or was left out. */
async function checkRuns(store: Store, id: string, runs: readonly ScheduleRun[]): Promise<void> {
  assert.ok(runs.length > 2, id);
  const [first] = runs;
  for (const [index, run] of runs.entries()) {
    const due = Date.parse(first?.due_at ?? '') + index * EVERY_MS;
    assert.equal(run.id, new Date(due).toISOString(), `${id}: due time ${index}`);
    assert.match(run.status, /^(?:ended|skipped)$/);
  }
  const expected = runs
    .filter(({ status }) => status === 'ended')
    .map((run) => [run.session_id, [`schedule/${id}/${run.id}`]]);
  const found: [string, readonly string[]][] = [];
  for (const { key } of await store.list({ parent: null, order: 'created' })) {
    if (!key.sessionId.startsWith(`${id}-`)) continue;
    const messages: string[] = [];
    for await (const event of store.read(key))
      if (event.type === 'user.message') messages.push(event.messageId);
    found.push([key.sessionId, messages]);
  }
  const byId = (a: readonly unknown[], b: readonly unknown[]): number =>
    String(a[0]).localeCompare(String(b[0]));
  assert.deepEqual(found.toSorted(byId), expected.toSorted(byId));
}
