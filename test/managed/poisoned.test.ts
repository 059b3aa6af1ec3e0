import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentText } from '../../src/core/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import { openManagedRuntime } from '../../src/managed/index.ts';
import type { ManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { Model } from '../../src/models/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { SimulatedProcess, KillableStore } from '../crash/killable-store.ts';
import { userMessage } from './managed-fixture.ts';

/** Kills its process whenever the message contains poison. */
function crashingModel(hostProcess: SimulatedProcess, requests: string[]): Model {
  const harmless = new ScriptedModel(() => ({ text: 'Fine.' }));
  return {
    name: 'deadly',
    generate: async (request, context) => {
      const last = request.contents.at(-1);
      const text = last === undefined ? '' : contentText(last);
      requests.push(text);
      if (text === 'Poison') {
        hostProcess.end();
        return hostProcess.never();
      }
      return harmless.generate(request, context);
    },
  };
}

test('a message that crashes three processes ends with an error, and the next message runs', async () => {
  const store = new MemoryStore();
  const processes: SimulatedProcess[] = [];
  const requests: string[] = [];
  const open = async (hostProcess: SimulatedProcess): Promise<ManagedRuntime> => {
    processes.push(hostProcess);
    return openManagedRuntime({
      store: new KillableStore(store, hostProcess),
      resolver: async () => crashingModel(hostProcess, requests),
    });
  };
  let id = '';
  for (let n = 0; ; n++) {
    assert.ok(n < 10, 'it kills every process');
    const hostProcess = new SimulatedProcess();
    const runtime = await open(hostProcess);
    const completing = (async () => {
      if (n === 0) {
        const agent = await runtime.create({ name: 'poisoned', model: 'gemini-2.5-flash' });
        id = (await runtime.startSession(agent.id, { userId: 'ada' })).id;
        await runtime.sendEvent(id, userMessage('Poison'));
        await runtime.sendEvent(id, userMessage('Water'));
      }
      let ended = 0;
      for await (const { type } of runtime.streamLog(id, 0))
        if (type === 'turn.ended' && ++ended === 2) break;
      await runtime.close();
      return 'completed';
    })();
    completing.catch(() => {});
    if ((await Promise.race([completing, hostProcess.over])) === 'completed') break;
    for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
  }
  const log: LogEvent[] = [];
  const [row] = await store.list({});
  if (row !== undefined) for await (const event of store.read(row.key, 0)) log.push(event);
  assert.deepEqual(
    log.map(({ type }) => type),
    [
      'user.message',
      'turn.started',
      'model.attempt',
      'model.attempt',
      'error',
      'turn.ended',
      'user.message',
      'turn.started',
      'agent.message',
      'turn.ended',
    ],
  );
  const error = log.find((event) => event.type === 'error');
  assert.equal(error?.code, 'message_poisoned');
  assert.deepEqual(requests, ['Poison', 'Poison', 'Poison', 'Water']);
  assert.equal(row?.status, 'idle');
  for (const hostProcess of processes) hostProcess.discard();
});
