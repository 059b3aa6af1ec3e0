import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import { openManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';

const HOUR_MS = 3_600_000;

function busyOnce(): ScriptedModel {
  let calls = 0;
  return new ScriptedModel(() => {
    calls += 1;
    return calls === 1
      ? { error: { kind: 'rate_limit', message: 'busy', retryAfterMs: HOUR_MS } }
      : { text: 'Here.' };
  });
}

interface Wait {
  readonly retryInMs: number;
  readonly log: readonly LogEvent[];
}

/**
 * Returns the wait after the first attempt, and the log when the clock advances by exactly that
 * wait.
 */
async function measureWait(maxRetryAfterMs?: number): Promise<Wait> {
  const clock = new SimulatedClock(1_000_000);
  const options = maxRetryAfterMs === undefined ? {} : { maxRetryAfterMs };
  const assistant = agent({ name: 'assistant', model: busyOnce(), ...options });
  await using runtime = await openRuntime({ agents: [assistant], clock });
  const session = await runtime.session('s');
  const log: LogEvent[] = [];
  let retryInMs = -1;
  for await (const event of session.send('Hi')) {
    if (!('seq' in event)) continue;
    log.push(event);
    if (event.type !== 'turn.rescheduled') continue;
    retryInMs = event.retryInMs;
    if (retryInMs === 0) continue;
    const { nextDueAt } = await session.status();
    assert.equal(nextDueAt, clock.now() + retryInMs);
    clock.advance(retryInMs);
  }
  return { retryInMs, log };
}

test('the wait before a retry is logged when it begins, and is limited by maxRetryAfterMs', async () => {
  for (const [maximum, expectedMs] of [
    [undefined, 60_000],
    [5_000, 5_000],
    [2 * HOUR_MS, HOUR_MS],
    [0, 0],
  ] as const) {
    const { retryInMs, log } = await measureWait(maximum);
    assert.equal(retryInMs, expectedMs);
    assert.deepEqual(
      log.map(({ type }) => type),
      [
        'user.message',
        'turn.started',
        'turn.rescheduled',
        'model.attempt',
        'agent.message',
        'turn.ended',
      ],
    );
    const [, , wait] = log;
    assert.ok(wait?.type === 'turn.rescheduled');
    assert.deepEqual([wait.attempt, /busy/.test(wait.error.message)], [1, true]);
  }
});

test('maxRetryAfterMs must be a non-negative finite number', () => {
  for (const maxRetryAfterMs of [-1, Number.NaN, Infinity]) {
    assert.throws(() => agent({ name: 'a', model: busyOnce(), maxRetryAfterMs }), {
      code: 'invalid_input',
      field: 'maxRetryAfterMs',
    });
  }
});

test('maxModelCalls must be a whole number', () => {
  for (const maxModelCalls of [Number.NaN, 1.5, Infinity]) {
    assert.throws(() => agent({ name: 'a', model: busyOnce(), maxModelCalls }), {
      code: 'invalid_input',
      field: 'maxModelCalls',
    });
  }
});

test('the limit applies to managed sessions too', async () => {
  for (const [maximum, expectedMs] of [
    [undefined, 60_000],
    [5_000, 5_000],
  ] as const) {
    const clock = new SimulatedClock(1_000_000);
    await using runtime = await openManagedRuntime({
      clock,
      resolver: async () => busyOnce(),
      ...(maximum !== undefined && { maxRetryAfterMs: maximum }),
    });
    const { id: agentId } = await runtime.create({ name: 'a', model: 'gpt-5' });
    const { id } = await runtime.startSession(agentId, { userId: 'u' });
    await runtime.sendEvent(id, { type: 'user.message', content: 'Hi' });
    let retryInMs = -1;
    for await (const event of runtime.streamLog(id, 0)) {
      if (event.type === 'turn.rescheduled') {
        retryInMs = event.retryInMs;
        clock.advance(retryInMs);
      }
      if (event.type === 'turn.ended') break;
    }
    assert.equal(retryInMs, expectedMs);
  }
});
