import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BaseLlm, FunctionTool, LlmAgent, type LlmResponse } from '@google/adk';
import { z } from 'zod';
import { Branch, newSession, send, turns } from './stock-adk.ts';

// One token makes all work in flight stale: examples/cases/nets/stale-results.ts.
describe('stock ADK: stale results', () => {
  it('a late result of an earlier message enters the history after the answer to the next message', async () => {
    const session = await newSession();
    const [earlier, next] = [new Branch('former'), new Branch('next')];
    await send(earlier, { session });
    const run = await send(next, { session });
    next.answer();
    await turns();
    earlier.answer();
    await turns();
    assert.deepEqual(await run.kept(), ['next', 'former']);
  });

  it('a tool that ends the invocation does not stop a parallel tool, and both results are kept', async () => {
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
    assert.deepEqual(paid, ['100'], 'the parallel tool did not stop');
    assert.equal((await run.kept()).length, 2, 'one event with the calls, one with both results');
    assert.equal(model.calls, 1, 'only the next model call was skipped');
  });
});

/** A model that calls both tools in one answer. */
class CallsBoth extends BaseLlm {
  calls: number = 0;

  constructor() {
    super({ model: 'scripted' });
  }

  async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
    this.calls++;
    const parts = ['stop', 'pay'].map((name) => ({ functionCall: { id: name, name, args: {} } }));
    yield { content: { role: 'model', parts } };
  }

  async connect(): Promise<never> {
    return Promise.reject(new Error('not live'));
  }
}
