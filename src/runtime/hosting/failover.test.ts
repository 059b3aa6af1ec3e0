import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import { ScriptedModel, type Model } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { openRuntime } from '../open-runtime.ts';

const SESSIONS = 100;
const BATCH = 32;

test('the sessions of a dead process are taken in bounded batches', async () => {
  const memory = new MemoryStore();
  const mayAnswer = Promise.withResolvers<void>();
  const asked = new Set<unknown>();
  const hanging: Model = {
    name: 'hanging',
    generate: async (_, { firingId }) => {
      asked.add(firingId);
      await mayAnswer.promise;
      return { content: { role: 'model', parts: [{ text: 'Late.' }] }, finishReason: 'stop' };
    },
  };
  const createAgent = (model: Model) => agent({ name: 'greeter', model });
  const dying = await openRuntime({ agents: [createAgent(hanging)], store: memory });
  for (let n = 0; n < SESSIONS; n++) await (await dying.session(`s${n}`)).send('Hello.').accepted;
  while (asked.size < SESSIONS) await setImmediate();
  const [row] = await memory.list({ limit: 1 });

  // Claims wait until the test lets them continue.
  const held: (() => void)[] = [];
  let largest = 0;
  const claim = memory.claim.bind(memory);
  memory.claim = async (...args) => {
    await new Promise<void>((resolve) => held.push(resolve));
    return claim(...args);
  };
  const clock = new SimulatedClock(Date.now());
  await memory.leave(row?.owner ?? '');
  const taking = await openRuntime({
    agents: [createAgent(new ScriptedModel(() => ({ text: 'Hello.' })))],
    store: memory,
    clock,
  });
  const ended = async (): Promise<number> =>
    (await memory.list({ activity: 'idle', limit: SESSIONS })).length;
  while ((await ended()) < SESSIONS) {
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    largest = Math.max(largest, held.length);
    for (const resolve of held.splice(0, 3)) resolve();
    clock.advance(75);
  }
  mayAnswer.resolve();
  await dying.close();
  await taking.close();
  assert.ok(largest > 1 && largest <= BATCH, `${largest} claims at the same time`);
});
