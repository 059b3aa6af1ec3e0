/** Tests with a simulated clock: retries and timeouts take no time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, openRuntime, tool } from 'petrichor';
import { ScriptedModel, SimulatedClock } from 'petrichor/testing';

test('a question to a person ends after a day without an answer', async () => {
  const askManager = tool({
    name: 'ask_manager',
    description: 'Asks the manager', // no `execute`: the result comes from outside
    timeoutMs: 24 * 3_600_000,
  });
  const model = new ScriptedModel([
    { toolCalls: [{ name: 'ask_manager' }] },
    { text: 'The manager did not answer.' },
  ]);
  const clock = new SimulatedClock();
  await using runtime = await openRuntime({
    agents: [agent({ name: 'clerk', model, tools: [askManager] })],
    clock,
  });
  const session = await runtime.session('test');

  for await (const _ of session.send('May I?')); // ends with turn.waiting
  clock.advance(24 * 3_600_000);

  for await (const event of session.events()) {
    if (event.type === 'tool.result') assert.equal(event.outcome, 'timeout');
    if (event.type === 'turn.ended') break;
  }
  assert.equal(model.requests.length, 2);
});

test('a model call is made again when the provider asks to wait', async () => {
  const model = new ScriptedModel([
    { text: 'Hello!', error: { kind: 'rate_limit', retryAfterMs: 30_000, attempts: 1 } },
  ]);
  const clock = new SimulatedClock();
  await using runtime = await openRuntime({ agents: [agent({ name: 'clerk', model })], clock });
  const session = await runtime.session('test');

  for await (const event of session.send('Hello!')) {
    // The wait is durable when this event arrives.
    if (event.type === 'turn.rescheduled') clock.advance(30_000);
    if (event.type === 'turn.ended') assert.equal(event.stopReason, 'end_turn');
  }
  assert.equal(model.requests.length, 2);
});
