/**
 * Writes a fixture: schedules in every state, as a killed process leaves them.
 *
 * `fixtures/schedules/first.db` was written by commit 27219bae, the first one with schedules, and `grown.db` by commit
 * 0a08d981, the last one whose schedules kept their journals. To write them again, copy this file into a checkout of the
 * commit and run there:
 *
 *     npx node test/upgrade/leave-schedules.ts first.db
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { agent } from '../../src/agents/index.ts';
import { deriveScheduleSessionId } from '../../src/core/identity/ids.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { openStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';

const [, , to = 'schedules.db'] = process.argv;
const folder = mkdtempSync(join(tmpdir(), 'petrichor-left-'));
const file = join(folder, 'schedules.db');
const store = await openStore(`sqlite:${file}`);
const clock = new SimulatedClock(Date.parse('2026-11-23T07:30:00Z'));

// From 09:00 on, nobody learns that a message was sent, and some messages are not sent.
const submit = store.submit.bind(store);
let isDying = false;
store.submit = async (submission) => {
  const ids = (submission.sessions ?? []).map(({ key }) => key.sessionId);
  const has = (name: string): boolean => isDying && ids.some((id) => id.startsWith(`${name}-`));
  if (has('unsent')) return new Promise(() => {});
  const result = await submit(submission);
  return has('sent') ? new Promise(() => {}) : result;
};

const model = new ScriptedModel(({ contents }) =>
  JSON.stringify(contents).includes('Ask') && contents.length === 1
    ? { toolCalls: [{ name: 'publish' }] }
    : { text: 'Done.' },
);
const publish = tool({
  name: 'publish',
  description: 'Publishes the report',
  needsApproval: true,
  execute: () => 'done',
});
const { schedules, app: appName } = await openRuntime({
  agents: [agent({ name: 'writer', model, tools: [publish] })],
  store,
  clock,
});
const hourly = { cron: '0 * * * *', message: 'Report' };
await schedules.create({ ...hourly, id: 'planned' });
await schedules.create({ ...hourly, id: 'paused' });
await schedules.create({ ...hourly, id: 'asked' });
await schedules.create({ ...hourly, id: 'unsent' });
await schedules.create({ ...hourly, id: 'sent' });
await schedules.create({ ...hourly, id: 'queued', message: 'Ask', overlap: 'queue' });
for (const due of ['08:00', '09:00']) {
  isDying = due === '09:00';
  clock.advance(Date.parse(`2026-11-23T${due}:00Z`) - clock.now());
  if (isDying) await schedules.pause('paused');
  // Long enough for all work that does not wait for the simulated clock.
  await setTimeout(500);
  clock.advance(10_000);
  await setTimeout(500);
}
const sessionId = deriveScheduleSessionId('asked');
const asked = { appName, userId: 'default', sessionId };
const { owner } = (await store.find(asked)) ?? {};
// Nobody takes the input any more.
store.commit = async () => new Promise(() => {});
await store.inject(asked, { place: 'pause.in', value: null }, 'asked');
console.log(owner, (await store.find(asked))?.inboxPending);
const copy = new DatabaseSync(file);
copy.exec(`VACUUM INTO '${join(folder, 'copy.db')}'`);
copy.close();
copyFileSync(join(folder, 'copy.db'), to);
rmSync(folder, { recursive: true, force: true });
process.kill(process.pid, 'SIGKILL');
