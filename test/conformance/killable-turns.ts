/** A process that plays F-5 with a tool and a parked call, and kills itself at a given commit. */
import { openManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { fixtureTools } from './fixture-tools.ts';
import { openKillableStore } from './open-killable-store.ts';

const store = await openKillableStore(process.argv[2]);
const model = new ScriptedModel([
  {
    toolCalls: [
      { name: 'count', args: {} },
      { name: 'deploy', args: { target: 'prod' } },
    ],
  },
  { text: 'Deployed.' },
  { text: 'Second.' },
]);
const runtime = await openManagedRuntime({
  store,
  resolver: async () => model,
  builtIns: async (name) => fixtureTools.filter((one) => one.name === name),
});

// An earlier process may have done a part of this.
const [found] = (await runtime.listAgents()).data;
const agent =
  found ??
  (await runtime.create({
    name: 'mortal',
    model: 'gemini-2.5-flash',
    tools: [
      { type: 'builtin', name: 'count' },
      { type: 'custom', name: 'deploy', input_schema: { type: 'object' } },
    ],
  }));
const { id } = await runtime.startSession(agent.id, { userId: 'ada' }, { dedupeKey: 'f-5' });

const seen: number[] = [];
const reading = (async () => {
  for await (const { seq, type } of runtime.streamEvents(id, 0)) {
    seen.push(seq);
    // Written immediately, so that the parent knows what a client had seen when this process died.
    process.stdout.write(`${seq} ${type}\n`);
  }
})();

await send('m1', 'One');
await until(async () => (await runtime.pending(id)).length > 0 || (await turnsEnded()) > 0);
const [call] = await runtime.pending(id);
if (call !== undefined) {
  await unlessDone(
    'already_answered',
    runtime.sendEvent(id, {
      type: 'user.custom_tool_result',
      custom_tool_use_id: call.callId,
      content: [{ type: 'text', text: 'ok' }],
    }),
  );
}
await until(async () => (await turnsEnded()) > 0);
await send('m2', 'Two');
await until(async () => (await turnsEnded()) > 1);
await unlessDone('illegal_transition', runtime.archive(id));
await reading;
process.stdout.write('done\n');
await runtime.close();
await store.close();

async function send(dedupeKey: string, content: string): Promise<void> {
  if ((await runtime.status(id)) === 'archived') return;
  await runtime.sendEvent(id, { type: 'user.message', content }, { dedupeKey });
}

async function turnsEnded(): Promise<number> {
  let ended = 0;
  for await (const { type } of runtime.streamLog(id, 0, { follow: false }))
    if (type === 'turn.ended') ended++;
  return ended;
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Ignores an error that means that an earlier process has done this. */
async function unlessDone(code: string, doing: Promise<unknown>): Promise<void> {
  try {
    await doing;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === code)) throw error;
  }
}
