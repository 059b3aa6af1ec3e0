import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ParallelAgent } from '@google/adk';
import { Branch, send, turns } from './stock-adk.ts';

// Cheap when it holds, slow when it does not, one of them always: examples/patterns/optimistic-commit.ts.
describe('stock ADK: an optimistic commit with a fallback', () => {
  const writing = (name: string): Branch =>
    new Branch(name, (_, say) => say(`answer of ${name}`, { stateDelta: { answer: name } }));

  it('the late answer overwrites the one that was valid and shown', async () => {
    const [cheap, slow] = [writing('cheap'), writing('slow')];
    const run = await send(new ParallelAgent({ name: 'both', subAgents: [cheap, slow] }));
    cheap.answer();
    await turns();
    assert.deepEqual(await run.sessionState(), { answer: 'cheap' });
    slow.answer();
    await turns();
    assert.deepEqual(await run.sessionState(), { answer: 'slow' });
    assert.deepEqual(await run.kept(), ['cheap', 'slow']);
  });

  it('ending the invocation in one branch does not reach the other', async () => {
    const cheap = new Branch('cheap', (context, say) => {
      context.endInvocation = true;
      return say('valid: no more is needed');
    });
    const slow = new Branch('slow');
    const run = await send(new ParallelAgent({ name: 'both', subAgents: [cheap, slow] }));
    cheap.answer();
    await turns();
    slow.answer();
    await turns();
    assert.deepEqual(await run.kept(), ['cheap', 'slow']);
  });

  it('there is no fallback: a path that fails takes the good answer of the other with it', async () => {
    const [cheap, slow] = [writing('cheap'), writing('slow')];
    const run = await send(new ParallelAgent({ name: 'both', subAgents: [cheap, slow] }));
    cheap.fail();
    await turns();
    slow.answer();
    await turns();
    const state = run.state();
    assert.ok(state instanceof Error);
    assert.match(state.message, /cheap failed/);
    assert.ok(slow.isFinished);
    assert.deepEqual(await run.kept(), [], 'it was made, and nobody has it');
  });
});
