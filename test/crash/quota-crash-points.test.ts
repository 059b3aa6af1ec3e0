import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { systemClock } from '../../src/net/index.ts';
import type { Clock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { KillableStore, SimulatedProcess } from './killable-store.ts';
import type { CrashPoint } from './killable-store.ts';

const usage = { inputTokens: 70, outputTokens: 30, totalTokens: 100 };

/** The system clock, in the middle of a day, so that the quota does not renew during the test. */
const shift = Date.UTC(2026, 0, 15, 12) - systemClock.now();
const clock: Clock = {
  now: () => systemClock.now() + shift,
  at: (at, callback) => systemClock.at(at - shift, callback),
};

/** Calls a tool, then answers. */
const model = new ScriptedModel(({ contents }) =>
  contents.at(-1)?.role === 'user' && contents.length % 4 === 1
    ? { toolCalls: [{ name: 'look' }], usage }
    : { text: 'Done.', usage },
);

async function open(store: Store): Promise<Runtime> {
  const look = tool({
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: {} },
    readOnly: true,
    execute: () => ({ seen: true }),
  });
  return openRuntime({
    agents: [agent({ name: 'one', model, tools: [look] })],
    store,
    clock,
    quotas: { user: { tokensPerDay: 300 } },
  });
}

test('after a crash at any write, what is used equals the answers in the log, and the budget holds', async () => {
  let crashes = 0;
  for (const point of ['before-write', 'after-write'] as const)
    for (let nth = 1; await crashAt({ point, nth }); nth++) crashes++;
  assert.ok(crashes > 15, `${crashes} crashes`);
});

/** Returns false when the turns had ended before the crash point was reached. */
async function crashAt(crashPoint: CrashPoint): Promise<boolean> {
  const store = new MemoryStore();
  const simulated = new SimulatedProcess(crashPoint);
  const watching = new AbortController();
  void simulated.over.then(() => watching.abort());
  const turns = async (
    runtime: Runtime,
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<void> => {
    const session = await runtime.session('s');
    for (const messageId of ids) {
      const { accepted, invocationId } = session.send('Hi', { messageId });
      await accepted;
      for await (const event of session.events(0, signal === undefined ? {} : { signal }))
        if (event.type === 'turn.ended' && event.invocationId === invocationId) break;
    }
  };
  const running = (async () => {
    const runtime = await open(new KillableStore(store, simulated));
    await turns(runtime, ['first', 'second'], watching.signal);
    await runtime.close();
  })();
  running.catch(() => {});
  const wasReached = await Promise.race([
    running.then(() => false),
    simulated.over.then(() => true),
  ]);
  simulated.end();
  for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
  await using next = await open(store);
  // The same messages count once. The budget has room for three answers.
  await turns(next, ['first', 'second', 'third']);
  const answers: number[] = [];
  const endings: string[] = [];
  for await (const event of (await next.session('s')).events(0, { follow: false })) {
    if (event.type === 'agent.message') answers.push(event.usage?.totalTokens ?? 0);
    if (event.type === 'turn.ended') endings.push(event.stopReason);
  }
  const name = `${crashPoint.point} ${crashPoint.nth}`;
  assert.deepEqual(answers, [100, 100, 100], name);
  assert.deepEqual(endings, ['end_turn', 'budget_reached', 'budget_reached'], name);
  const [status] = await next.quotas({ user: 'default' });
  assert.equal(status?.used, 300, name);
  simulated.discard();
  return wasReached;
}
