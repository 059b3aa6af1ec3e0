import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../agents/index.ts';
import { ScriptedModel } from '../models/index.ts';
import { SimulatedClock } from '../net/index.ts';
import { answerKey, MemoryStore } from '../store/index.ts';
import { tool } from '../tools/index.ts';
import { openRuntime } from './runtime.ts';

test('an answer that came in time counts, though nobody was there before its call had timed out', async () => {
  const store = new MemoryStore();
  const clock = new SimulatedClock(1000);
  const ask = tool({ name: 'ask', description: 'Asks people.', timeoutMs: 60_000 });
  const model = new ScriptedModel([{ toolCalls: [{ name: 'ask' }] }, { text: 'Thank you.' }]);
  const agents = [agent({ name: 'assistant', model, tools: [ask] })];
  const first = await openRuntime({ agents, store, clock });
  const session = await first.session('s');
  for await (const _ of session.send('Ask.')) {
    // Until it waits.
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
