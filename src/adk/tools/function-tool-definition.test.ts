import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { contentText, getFunctionCalls } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { InvalidToolError } from '../../tools/index.ts';
import { LlmAgent } from '../agents/llm-agent.ts';
import { InMemoryRunner } from '../runner/in-memory-runner.ts';
import { FunctionTool } from './base-tool.ts';

const definition = { name: 'pay', description: 'Pays.', execute: () => 'paid' };

describe("ADK's names of tool options", () => {
  it('requireConfirmation may read the state, and its tool runs only with a confirmation', async () => {
    const paid: number[] = [];
    const pay = new FunctionTool({
      ...definition,
      parameters: z.object({ cents: z.number() }),
      requireConfirmation: async ({ cents }, { state }) => cents > Number(state.get('limit')),
      execute: ({ cents }) => {
        paid.push(cents);
        return { paid: cents };
      },
    });
    for (const [cents, confirmed] of [
      [100, undefined],
      [2000, true],
      [3000, false],
    ] as const) {
      const model = new ScriptedModel(({ contents }) => {
        const last = contents.at(-1);
        return last?.role === 'tool'
          ? { text: JSON.stringify(last.parts) }
          : { toolCalls: [{ name: 'pay', args: { cents } }] };
      });
      const agent = new LlmAgent({ name: 'desk', model, tools: [pay] });
      await using runner = new InMemoryRunner({ agent, appName: 'desk' });
      const key = { appName: 'desk', userId: 'u', sessionId: 's' };
      await runner.sessionService.createSession({ ...key, state: { limit: 1000 } });
      let events = await runner.run({ ...key, newMessage: 'Pay.' });
      const asked = events
        .flatMap(getFunctionCalls)
        .find(({ name }) => name === 'adk_request_confirmation');
      assert.equal(asked !== undefined, confirmed !== undefined);
      if (asked !== undefined) {
        assert.equal(paid.includes(cents), false);
        const { id, name } = asked;
        const functionResponse = { id, name, response: { confirmed: confirmed === true } };
        events = await runner.run({
          ...key,
          newMessage: { role: 'user', parts: [{ functionResponse }] },
        });
      }
      const result = contentText(events.at(-1)?.content);
      assert.match(result, confirmed === false ? /This tool call is rejected/ : /"paid":\d+/);
    }
    assert.deepEqual(paid, [100, 2000]);
  });

  it('an option under both names, or a function that could not ask, is rejected', () => {
    const invalid = [
      { needsApproval: true, requireConfirmation: true },
      { longRunning: true, isLongRunning: false },
      { requireConfirmation: () => true, execute: undefined },
      { requireConfirmation: () => true, execute: async function* () {} },
      { requireConfirmation: 'yes' },
    ];
    for (const options of invalid)
      assert.throws(
        () => Reflect.construct(FunctionTool, [{ ...definition, ...options }]),
        InvalidToolError,
        JSON.stringify(options),
      );
    assert.equal(new FunctionTool({ ...definition, isLongRunning: true }).isLongRunning, true);
  });
});
