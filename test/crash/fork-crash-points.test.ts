import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Session } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { SimulatedProcess, KillableStore } from './killable-store.ts';
import type { CrashPoint } from './killable-store.ts';

/** Calls a tool for every message. The second call waits for `end`. */
const lookAgent = (end: Promise<unknown>): Agent =>
  agent({
    name: 'looker',
    tools: [
      tool({
        name: 'look',
        description: 'Looks.',
        readOnly: true,
        execute: async (_, { state }) => {
          if (state.get('looked') !== undefined) await end;
          state.set('looked', true);
        },
      }),
    ],
    model: new ScriptedModel(({ contents }) =>
      JSON.stringify(contents.at(-1)).includes('look!')
        ? { toolCalls: [{ name: 'look' }] }
        : { text: `Seen ${contents.length}` },
    ),
  });

async function readLog(session: Session): Promise<readonly LogEvent[]> {
  const log: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) log.push(event);
  return log;
}

test('a fork that a crash interrupts is complete or does not exist', async () => {
  let crashes = 0;
  for (const point of ['before-write', 'after-write'] as const) {
    for (let nth = 1; ; nth++) {
      if (!(await crashForkAt({ point, nth }))) break;
      crashes++;
    }
  }
  assert.ok(crashes > 4);
});

/** Returns false when the fork was finished before the crash point was reached. */
async function crashForkAt(crashPoint: CrashPoint): Promise<boolean> {
  const store = new MemoryStore();
  const simulated = new SimulatedProcess();
  const { promise: end, resolve: release } = Promise.withResolvers<void>();
  const agents = [lookAgent(end)];
  const runtime = await openRuntime({ agents, store: new KillableStore(store, simulated) });
  const session = await runtime.session('x');
  for await (const _ of session.send('look!'));
  session.send('look!');
  // A turn is running when the fork is made.
  for await (const event of session.events())
    if (event.type === 'tool.call' && event.seq > 8) break;
  const log = await readLog(session);
  simulated.crashAt(crashPoint);
  const forking = session.fork({ id: 'y' });
  forking.catch(() => {});
  const wasReached = (await Promise.race([forking, simulated.over])) === undefined;
  simulated.end();
  for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
  await using next = await openRuntime({ agents, store });
  const fork = await next.find('y');
  if (fork !== undefined && (await fork.status()).lastSeq > 0) {
    release();
    assert.deepEqual(
      (await readLog(fork)).slice(0, log.length),
      log,
      `${crashPoint.point} ${crashPoint.nth}`,
    );
    const answered = fork.send('still there?');
    for await (const _ of answered);
    const last = (await readLog(fork)).at(-1);
    assert.equal(last?.type === 'turn.ended' && last.invocationId, answered.invocationId);
  } else {
    // Nothing of the fork exists, so it can be made again.
    const original = (await next.find('x')) ?? assert.fail();
    assert.deepEqual((await readLog(await original.fork({ id: 'y' }))).slice(0, log.length), log);
    release();
  }
  simulated.discard();
  return wasReached;
}
