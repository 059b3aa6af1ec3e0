import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { answerKey, MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';

test('an answer that arrived in time counts, although no runtime was open until the timeout', async () => {
  const store = new MemoryStore();
  const clock = new SimulatedClock(1000);
  const ask = tool({ name: 'ask', description: 'Asks people.', timeoutMs: 60_000 });
  const model = new ScriptedModel([{ toolCalls: [{ name: 'ask' }] }, { text: 'Thank you.' }]);
  const agents = [agent({ name: 'assistant', model, tools: [ask] })];
  const first = await openRuntime({ agents, store, clock });
  const session = await first.session('s');
  for await (const _ of session.send('Ask.')) {
    // Wait until the turn waits.
  }
  const [call] = await session.pending();
  assert.ok(call);
  await first.close();
  const answer = { callId: call.callId, decision: 'answered', response: { result: 'yes' } };
  const input = { place: 'answer.in', value: answer };
  await store.inject(session.key, input, answerKey(`${call.callId}:result`));
  clock.advance(120_000);
  await using second = await openRuntime({ agents, store, clock });
  const again = await second.session('s');
  for await (const event of again.events()) {
    if (event.type === 'tool.result') assert.equal(event.outcome, 'ok');
    if (event.type === 'turn.ended') break;
  }
});

test('a session whose last owner had a clock ahead does not wait longer than its timeout', async () => {
  const store = new MemoryStore();
  const ask = tool({ name: 'ask', description: 'Asks people.', timeoutMs: 60_000 });
  const model = new ScriptedModel([
    { toolCalls: [{ name: 'ask' }] },
    { text: 'Nobody answered.' },
    { text: 'Still here.' },
  ]);
  const agents = [agent({ name: 'assistant', model, tools: [ask] })];
  const first = await openRuntime({ agents, store, clock: new SimulatedClock(9_000_000) });
  for await (const _ of (await first.session('s')).send('Ask.')) {
    // Wait until the turn waits.
  }
  await first.close();
  const clock = new SimulatedClock(1_000);
  await using second = await openRuntime({ agents, store, clock });
  const session = await second.session('s');
  await session.send('Are you there?').accepted;
  const ended = (async (): Promise<unknown> => {
    for await (const event of session.events())
      if (event.type === 'tool.result') return event.outcome;
    return undefined;
  })();
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  clock.advance(59_999);
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  const before = await session.pending();
  assert.equal(before.length, 1);
  clock.advance(1);
  assert.equal(await ended, 'timeout');
});
