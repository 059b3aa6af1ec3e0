import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { openManagedRuntime } from '../src/managed/index.ts';
import type { ManagedRuntime } from '../src/managed/index.ts';
import { ScriptedModel } from '../src/models/index.ts';
import { tool } from '../src/tools/index.ts';
import { withTemporaryFolder } from './with-temporary-folder.ts';
import { median } from './statistics.ts';

/** So many sessions at once, each from its start over a parked call to the end of its turn. */
export interface ManagedRound {
  readonly sessions: number;
  readonly startMs: number;
  /** From the message to the call that waits. */
  readonly parkMs: number;
  /** From the answer to the end of the turn. */
  readonly answerMs: number;
  readonly perSecond: number;
}

export interface ManagedSpeeds {
  readonly rounds: readonly ManagedRound[];
  readonly hydratedEvents: number;
  /** From the opening of a runtime on the store to the end of a turn in that session. */
  readonly hydrateMs: number;
  /** From the interrupt to the end of a turn whose tool hears nothing. */
  readonly interruptMs: number;
}

const definition = {
  name: 'bench',
  model: 'gemini-2.5-flash',
  tools: [
    { type: 'custom', name: 'deploy', input_schema: { type: 'object' } },
    { type: 'builtin', name: 'deaf' },
  ],
};

/** What the model does is what it is told to. */
const model = new ScriptedModel(({ contents }) => {
  const last = JSON.stringify(contents.at(-1));
  const name = ['deploy', 'deaf'].find((one) => last.includes(`"${one}!"`));
  return name === undefined ? { text: 'Done.' } : { toolCalls: [{ name, args: {} }] };
});

const deaf = tool({
  name: 'deaf',
  description: 'Hears no abort.',
  execute: async () => new Promise<never>(() => {}),
});

export async function measureManaged({
  quick,
}: {
  readonly quick: boolean;
}): Promise<ManagedSpeeds> {
  const rounds: ManagedRound[] = [];
  for (const sessions of quick ? [1, 3] : [1, 100, 1000])
    rounds.push(await withTemporaryFolder(async (folder) => measureRound(folder, sessions, quick)));
  const hydrated = await withTemporaryFolder(async (folder) =>
    measureHydration(folder, quick ? 10 : 2500),
  );
  const interruptMs = await withTemporaryFolder(async (folder) =>
    measureInterrupt(folder, quick ? 1 : 20),
  );
  return { rounds, ...hydrated, interruptMs };
}

async function opened(folder: string): Promise<ManagedRuntime> {
  return openManagedRuntime({
    store: `sqlite:${join(folder, 'managed.db')}`,
    resolver: async () => model,
    builtIns: async (name) => (name === deaf.name ? [deaf] : undefined),
  });
}

async function measureRound(
  folder: string,
  sessions: number,
  quick: boolean,
): Promise<ManagedRound> {
  await using runtime = await opened(folder);
  const agent = await runtime.create(definition);
  const startMs: number[] = [];
  const parkMs: number[] = [];
  const answerMs: number[] = [];
  const one = async (): Promise<void> => {
    const beganAt = performance.now();
    const { id } = await runtime.startSession(agent.id, { userId: 'ada' });
    const startedAt = performance.now();
    await runtime.sendEvent(id, { type: 'user.message', content: 'deploy!' });
    const { call } = await until(runtime, id, 'turn.waiting');
    const parkedAt = performance.now();
    await runtime.sendEvent(id, {
      type: 'user.custom_tool_result',
      custom_tool_use_id: call,
      content: 'ok',
    });
    await until(runtime, id, 'turn.ended');
    startMs.push(startedAt - beganAt);
    parkMs.push(parkedAt - startedAt);
    answerMs.push(performance.now() - parkedAt);
  };
  await one();
  for (const times of [startMs, parkMs, answerMs]) times.length = 0;
  // One alone is measured several times, one after the other.
  const again = sessions === 1 && !quick ? 100 : 1;
  const beganAt = performance.now();
  for (let n = 0; n < again; n++) await Promise.all(Array.from({ length: sessions }, one));
  return {
    sessions,
    startMs: median(startMs),
    parkMs: median(parkMs),
    answerMs: median(answerMs),
    perSecond: (again * sessions * 1000) / (performance.now() - beganAt),
  };
}

async function measureHydration(
  folder: string,
  turns: number,
): Promise<{ readonly hydratedEvents: number; readonly hydrateMs: number }> {
  let id = '';
  {
    await using runtime = await opened(folder);
    const agent = await runtime.create(definition);
    ({ id } = await runtime.startSession(agent.id, { userId: 'ada' }));
    let last = 0;
    for (let n = 0; n < turns; n++) {
      await runtime.sendEvent(id, { type: 'user.message', content: `Message ${n}` });
      ({ seq: last } = await until(runtime, id, 'turn.ended', last));
    }
  }
  const beganAt = performance.now();
  await using runtime = await opened(folder);
  const { lastSeq } = await runtime.getSession(id);
  await runtime.sendEvent(id, { type: 'user.message', content: 'One more' });
  await until(runtime, id, 'turn.ended', lastSeq);
  return { hydratedEvents: lastSeq, hydrateMs: performance.now() - beganAt };
}

async function measureInterrupt(folder: string, turns: number): Promise<number> {
  await using runtime = await opened(folder);
  const agent = await runtime.create(definition);
  const { id } = await runtime.startSession(agent.id, { userId: 'ada' });
  const times: number[] = [];
  let last = 0;
  for (let n = 0; n < turns; n++) {
    await runtime.sendEvent(id, { type: 'user.message', content: 'deaf!' });
    ({ seq: last } = await until(runtime, id, 'tool.call', last));
    const beganAt = performance.now();
    await runtime.interrupt(id);
    ({ seq: last } = await until(runtime, id, 'turn.ended', last));
    times.push(performance.now() - beganAt);
  }
  return Math.max(...times);
}

/** Where the log is when such an event comes, and the last call before it. */
async function until(
  runtime: ManagedRuntime,
  id: string,
  type: string,
  from = 0,
): Promise<{ readonly seq: number; readonly call: string }> {
  let call = '';
  for await (const event of runtime.streamLog(id, from)) {
    if (event.type === 'tool.call') call = event.callId;
    if (event.type === type && 'seq' in event) return { seq: event.seq, call };
  }
  throw new Error(`No ${type} came.`);
}
