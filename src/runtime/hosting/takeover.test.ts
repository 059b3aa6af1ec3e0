import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import type { LogEvent, PartialEvent } from '../../core/index.ts';
import type { Model } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { SimulatedProcess, KillableStore } from '../../../test/crash/killable-store.ts';
import { openRuntime } from '../index.ts';

/** A store without change notices: the runtime relies on its scans. */
class StoreWithoutNotices extends KillableStore {
  override subscribe(): () => void {
    return () => {};
  }
}

/** An agent that answers at once, or never. */
function createAgent(answers: boolean, requests: string[] = []): Agent {
  const model: Model = {
    name: 'model',
    generate: async (_request, { signal }) => {
      requests.push('asked');
      if (answers)
        return { content: { role: 'model', parts: [{ text: 'Yes.' }] }, finishReason: 'stop' };
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
  };
  return agent({ name: 'a', model });
}

async function turnsEnded(
  events: AsyncIterable<LogEvent | PartialEvent>,
): Promise<readonly string[]> {
  const ended: string[] = [];
  for await (const event of events) if (event.type === 'turn.ended') ended.push(event.stopReason);
  return ended;
}

test('a runtime takes a session back when the new owner dies, also while the session is read', async () => {
  const store = new MemoryStore();
  const clock = new SimulatedClock(1_000_000);
  const processes = [new SimulatedProcess(), new SimulatedProcess()] as const;
  const first = await openRuntime({
    agents: [createAgent(true)],
    store: new StoreWithoutNotices(store, processes[0]),
    clock,
  });
  const firstSession = await first.session('x');
  for await (const _ of firstSession.send('One'));

  const requests: string[] = [];
  const second = await openRuntime({
    agents: [createAgent(false, requests)],
    store: new KillableStore(store, processes[1]),
    clock,
  });
  const secondSession = await second.session('x');
  await secondSession.send('Two').accepted;
  while (requests.length === 0) await setImmediate();
  const { owner } = await firstSession.status();
  processes[1].end();
  if (owner !== null) await store.leave(owner);

  for (let n = 0; (await firstSession.status()).status !== 'idle'; n++) {
    assert.ok(n < 200, 'no runtime takes it');
    clock.advance(100);
    // Reading the session does not keep the stale copy from being evicted.
    await first.session('x');
    await setImmediate();
  }
  assert.deepEqual(await turnsEnded(firstSession.events(0, { follow: false })), [
    'end_turn',
    'end_turn',
  ]);
  await first.close();
  // Lets the test process end.
  processes[1].discard();
  void second.close().catch(() => {});
  for (let n = 0; n < 5; n++) {
    await setImmediate();
    clock.advance(60_000);
  }
});

test('an interrupt from a former owner of a session stops the turn that another runtime runs', async () => {
  const store = new MemoryStore();
  const first = await openRuntime({
    agents: [createAgent(true)],
    store: new StoreWithoutNotices(store, new SimulatedProcess()),
    clock: new SimulatedClock(1_000_000),
  });
  const firstSession = await first.session('x');
  for await (const _ of firstSession.send('One'));
  const requests: string[] = [];
  await using second = await openRuntime({ agents: [createAgent(false, requests)], store });
  const secondSession = await second.session('x');
  const turn = secondSession.send('Two');
  while (requests.length === 0) await setImmediate();
  await firstSession.interrupt();
  for await (const _ of turn);
  assert.deepEqual(await turnsEnded(secondSession.events(0, { follow: false })), [
    'end_turn',
    'interrupted',
  ]);
  await first.close();
});
