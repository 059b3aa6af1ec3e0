import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ParallelAgent } from '@google/adk';
import { Branch, send, turns } from './stock-adk.ts';

// The same pattern in Petrichor: examples/patterns/optimistic-commit.ts.
describe('stock ADK: an optimistic commit with a fallback', () => {
  const stateWritingBranch = (name: string): Branch =>
    new Branch(name, (_, createReply) =>
      createReply(`answer of ${name}`, { stateDelta: { answer: name } }),
    );

  it('a late answer overwrites the valid answer that was already shown', async () => {
    const [cheap, slow] = [stateWritingBranch('cheap'), stateWritingBranch('slow')];
    const run = await send(new ParallelAgent({ name: 'both', subAgents: [cheap, slow] }));
    cheap.answer();
    await turns();
    assert.deepEqual(await run.sessionState(), { answer: 'cheap' });
    slow.answer();
    await turns();
    assert.deepEqual(await run.sessionState(), { answer: 'slow' });
    assert.deepEqual(await run.kept(), ['cheap', 'slow']);
  });

  it('ending the invocation in one branch does not stop the other branch', async () => {
    const cheap = new Branch('cheap', (context, createReply) => {
      context.endInvocation = true;
      return createReply('valid: no more is needed');
    });
    const slow = new Branch('slow');
    const run = await send(new ParallelAgent({ name: 'both', subAgents: [cheap, slow] }));
    cheap.answer();
    await turns();
    slow.answer();
    await turns();
    assert.deepEqual(await run.kept(), ['cheap', 'slow']);
  });

  it('without a fallback, a branch that fails discards the valid answer of the other', async () => {
    const [cheap, slow] = [stateWritingBranch('cheap'), stateWritingBranch('slow')];
    const run = await send(new ParallelAgent({ name: 'both', subAgents: [cheap, slow] }));
    cheap.fail();
    await turns();
    slow.answer();
    await turns();
    const state = run.state();
    assert.ok(state instanceof Error);
    assert.match(state.message, /cheap failed/);
    assert.ok(slow.isFinished);
    assert.deepEqual(await run.kept(), [], 'the answer was computed and lost');
  });
});
