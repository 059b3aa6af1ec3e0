import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BaseLlm, FunctionTool, LlmAgent, type LlmResponse } from '@google/adk';
import { z } from 'zod';
import { Branch, newSession, send, turns } from './stock-adk.ts';

// One token makes everything in flight stale: examples/cases/nets/stale-results.ts.
describe('stock ADK: stale results', () => {
  it('what a former message asked for enters the history after the answer to the next', async () => {
    const session = await newSession();
    const [former, next] = [new Branch('former'), new Branch('next')];
    await send(former, { session });
    const run = await send(next, { session });
    next.answer();
    await turns();
    former.answer();
    await turns();
    assert.deepEqual(await run.kept(), ['next', 'former']);
  });

  it('a tool that ends the invocation does not stop the one beside it, and both results are kept', async () => {
    const ended = Promise.withResolvers<void>();
    const paid: string[] = [];
    const stop = new FunctionTool({
      name: 'stop',
      description: 'Ends the invocation.',
      parameters: z.object({}),
      execute: (_, context) => {
        if (context !== undefined) context.invocationContext.endInvocation = true;
        ended.resolve();
        return 'ended';
      },
    });
    const pay = new FunctionTool({
      name: 'pay',
      description: 'Pays, after it was ended.',
      parameters: z.object({}),
      execute: async () => {
        await ended.promise;
        await turns();
        paid.push('100');
        return 'paid';
      },
    });
    const model = new CallsBoth();
    const run = await send(new LlmAgent({ name: 'desk', model, tools: [stop, pay] }));
    await turns();
    await turns();
    assert.equal(run.state(), 'ended');
    assert.deepEqual(paid, ['100'], 'the flag was up, and nobody looked');
    assert.equal((await run.kept()).length, 2, 'the calls, and both their results');
    assert.equal(model.asked, 1, 'only the next step looked');
  });
});

/** A model that calls both tools in one answer. */
class CallsBoth extends BaseLlm {
  asked: number = 0;

  constructor() {
    super({ model: 'scripted' });
  }

  async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
    this.asked++;
    const parts = ['stop', 'pay'].map((name) => ({ functionCall: { id: name, name, args: {} } }));
    yield { content: { role: 'model', parts } };
  }

  async connect(): Promise<never> {
    return Promise.reject(new Error('not live'));
  }
}
