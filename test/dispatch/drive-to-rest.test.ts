import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { isFunctionResponsePart } from '../../src/core/index.ts';
import type { SessionKey } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { DispatchTarget, DriveResult, Runtime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';

interface Process {
  readonly runtime: Runtime;
  readonly clock: SimulatedClock;
  readonly drive: (key: SessionKey) => Promise<DriveResult>;
}

/** Opens a runtime as a process whose drives the test asks for. */
async function openProcess(store: MemoryStore, now: number): Promise<Process> {
  let target: DispatchTarget | undefined;
  const clock = new SimulatedClock(now);
  const runtime = await openRuntime({
    agents: [
      agent({
        name: 'assistant',
        model: new ScriptedModel(({ contents }) =>
          contents.at(-1)?.parts.some(isFunctionResponsePart) === true || contents.length === 1
            ? { text: 'Done.' }
            : { toolCalls: [{ name: 'ask' }] },
        ),
        tools: [tool({ name: 'ask', description: 'Asks people.', timeoutMs: 40_000 })],
      }),
    ],
    store,
    clock,
    dispatcher: {
      start: async (started) => void (target = started),
      dispatch: async () => {},
      close: async () => {},
    },
  });
  assert.ok(target);
  return { runtime, clock, drive: target.drive.bind(target) };
}

test('a timer that was set after a clock that was ahead is due where the clock of the session says', async () => {
  const store = new MemoryStore();
  const ahead = await openProcess(store, 1_010_000);
  const second = await openProcess(store, 1_001_000);
  const third = await openProcess(store, 1_041_000);
  const session = await ahead.runtime.session('s');
  await session.send('First.').accepted;
  assert.deepEqual(await ahead.drive(session.key), { state: 'rests' });
  await session.send('Second.').accepted;
  const set = await second.drive(session.key);
  assert.equal(set.state === 'rests' && set.next?.at, 1_041_000);
  // By its own clock, the session continues at 1,010,000.
  let claims = 0;
  const claim = store.claim.bind(store);
  store.claim = async (...args) => {
    assert.ok(++claims < 10, 'the session is claimed again and again');
    return claim(...args);
  };
  const early = await third.drive(session.key);
  assert.equal(early.state === 'rests' && early.next?.at, 1_050_000);
  third.clock.advance(9_000);
  assert.deepEqual(await third.drive(session.key), { state: 'rests' });
  assert.equal((await store.find(session.key))?.activity, 'idle');
  for (const { runtime } of [ahead, second, third]) await runtime.close();
});

test('a session that rests several times before a timer asks for one drive at that time', async () => {
  const only = await openProcess(new MemoryStore(), 1_000_000);
  const session = await only.runtime.session('s');
  const ids = new Set<string | undefined>();
  for (const text of ['First.', 'Second.', 'Third.', 'Fourth.']) {
    await session.send(text).accepted;
    const { state, ...result } = await only.drive(session.key);
    assert.equal(state, 'rests');
    if ('next' in result && result.next !== undefined) ids.add(result.next.id);
    only.clock.advance(1000);
  }
  assert.equal(ids.size, 1);
  await only.runtime.close();
});

test('a session that fails after each step is left for a later drive, and not loaded again at once', async () => {
  const store = new MemoryStore();
  const only = await openProcess(store, 1_000_000);
  const session = await only.runtime.session('s');
  await session.send('First.').accepted;
  let commits = 0;
  store.commit = async () => {
    assert.ok(++commits < 10, 'the session is loaded again and again');
    throw new Error('The step is refused.');
  };
  assert.deepEqual(await only.drive(session.key), { state: 'left' });
  assert.equal(commits, 1);
  await only.runtime.close();
});
