import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import { isFunctionResponsePart } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';

test('an approved call whose tool was removed ends with an error, for the model and in the log', async () => {
  const results: unknown[] = [];
  const model = new ScriptedModel(({ contents }) => {
    const [result] = contents.flatMap(({ parts }) => parts.filter(isFunctionResponsePart));
    if (result === undefined) return { toolCalls: [{ name: 'pay', args: {} }] };
    results.push(result.functionResponse);
    return { text: 'It is gone.' };
  });
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    needsApproval: true,
    execute: () => 'paid',
  });
  for (const observed of [false, true]) {
    const payer = (tools: readonly (typeof pay)[]) =>
      agent({
        name: 'payer',
        model,
        tools,
        ...(observed && { callbacks: { afterTool: () => undefined } }),
      });
    const store = new MemoryStore();
    results.length = 0;
    const first = await openRuntime({ agents: [payer([pay])], store });
    for await (const _ of (await first.session('s')).send('Go')) void _;
    await first.close();
    await using second = await openRuntime({ agents: [payer([])], store });
    const session = await second.session('s');
    const [call] = await session.pending();
    const outcomes: unknown[] = [];
    for await (const event of session.approve(call?.id ?? '')) {
      if (event.type !== 'tool.result') continue;
      outcomes.push(event.outcome);
      assert.match(JSON.stringify(event.response), /no tool \\"pay\\" any more.*Nothing was done/);
    }
    assert.deepEqual(outcomes, ['not_found']);
    assert.match(JSON.stringify(results), /not_found.*any more.*"isError":true/);
  }
});
