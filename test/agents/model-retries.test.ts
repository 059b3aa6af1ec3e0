import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import { agent, parallel } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import { ModelError, ScriptedModel } from '../../src/models/index.ts';
import type { Model } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { KillableStore, SimulatedProcess } from '../crash/killable-store.ts';

async function settle(): Promise<void> {
  for (let tick = 0; tick < 300; tick += 1) await nextTick();
}

/** Runs one message, and advances the clock until the turn ends or waits. */
async function runMessage(one: Agent, stepMs: number): Promise<readonly LogEvent[]> {
  const clock = new SimulatedClock(1_000_000);
  await using runtime = await openRuntime({ agents: [one], clock });
  const session = await runtime.session('s');
  const log: LogEvent[] = [];
  const reading = (async () => {
    for await (const event of session.send('hi')) if ('seq' in event) log.push(event);
  })();
  const isEnd = ({ type }: LogEvent): boolean => type === 'turn.ended' || type === 'turn.waiting';
  for (let step = 0; step < 60 && !log.some(isEnd); step += 1) {
    await settle();
    clock.advance(stepMs);
  }
  assert.ok(log.some(isEnd), log.map(({ type }) => type).join(' '));
  await reading;
  return log;
}

test('a call is not repeated after every fallback model has failed', async () => {
  const calls: string[] = [];
  const busy = (name: string): Model => ({
    name,
    generate: async () => {
      calls.push(name);
      // Longer than the cool-down together, so that the first model recovers during the call.
      throw new ModelError({
        model: name,
        kind: 'rate_limit',
        message: 'busy',
        retryAfterMs: 30_000,
      });
    },
  });
  const log = await runMessage(
    agent({ name: 'a', model: busy('A'), fallbackModels: [busy('B')] }),
    30_000,
  );
  assert.equal(calls.join(''), 'AAAABBBB');
  const end = log.at(-1);
  assert.equal(end?.type === 'turn.ended' && end.stopReason, 'retries_exhausted');
});

test('a turn does not wait for a person while a call of another agent waits for its next attempt', async () => {
  const approved = (name: string): ReturnType<typeof tool> =>
    tool({ name, description: 'Acts.', needsApproval: true, execute: () => 'done' });
  const left = agent({
    name: 'left',
    tools: [approved('pay')],
    model: new ScriptedModel([{ toolCalls: [{ name: 'pay' }] }]),
  });
  const right = agent({
    name: 'right',
    tools: [approved('ship')],
    model: new ScriptedModel([
      { error: { kind: 'rate_limit', attempts: 1 }, toolCalls: [{ name: 'ship' }] },
    ]),
  });
  const log = await runMessage(parallel({ name: 'both', subAgents: [left, right] }), 6_000);
  const waits = log.filter((event) => event.type === 'turn.waiting');
  assert.deepEqual(
    waits.map(({ callIds }) => callIds.length),
    [2],
  );
});

test('an attempt during which the process dies counts as an attempt', async () => {
  const store = new MemoryStore();
  const clock = new SimulatedClock(1_000_000);
  const process = new SimulatedProcess();
  const attempts: number[] = [];
  const model: Model = {
    name: 'm',
    generate: async (_, { attempt }) => {
      attempts.push(attempt);
      if (attempts.length === 1) {
        process.end();
        return process.never();
      }
      throw new ModelError({ model: 'm', kind: 'rate_limit', message: 'busy' });
    },
  };
  const agents = [agent({ name: 'a', model, modelAttempts: 2 })];
  const first = await openRuntime({ agents, clock, store: new KillableStore(store, process) });
  void (await first.session('s')).send('hi').accepted;
  await process.over;
  for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
  await using second = await openRuntime({ agents, clock, store });
  const session = await second.session('s');
  for (let step = 0; step < 5; step += 1) {
    await settle();
    clock.advance(30_000);
  }
  assert.deepEqual(attempts, [1, 2]);
  assert.equal((await session.status()).status, 'failed');
  void first.close();
  await settle();
  clock.advance(60_000);
});
