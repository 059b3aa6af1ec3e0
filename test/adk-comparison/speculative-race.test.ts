import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ParallelAgent, Workflow } from '@google/adk';
import { Branch, send, turns } from './stock-adk.ts';

// The same race with at most one answer: examples/patterns/speculative-race.ts.
describe('stock ADK: a speculative race', () => {
  it('both branches answer, and the turn lasts as long as the slower branch', async () => {
    const [fast, slow] = [new Branch('fast'), new Branch('slow')];
    const run = await send(new ParallelAgent({ name: 'race', subAgents: [fast, slow] }));
    fast.answer();
    await turns();
    assert.deepEqual(run.seen, ['fast']);
    assert.equal(run.state(), 'running', 'the first answer does not end the turn');
    slow.answer();
    await turns();
    assert.equal(run.state(), 'ended');
    assert.deepEqual(run.seen, ['fast', 'slow']);
    assert.deepEqual(await run.kept(), ['fast', 'slow'], 'the history has two answers');
  });

  it('a flag in session state does not help when both branches are ready at the same moment', async () => {
    const first = (name: string): Branch =>
      new Branch(name, ({ session }, createReply) =>
        session.state['sent'] === true
          ? undefined
          : createReply(`answer of ${name}`, { stateDelta: { sent: true } }),
      );
    const [a, b] = [first('a'), first('b')];
    const run = await send(new ParallelAgent({ name: 'race', subAgents: [a, b] }));
    a.answer();
    b.answer();
    await turns();
    assert.deepEqual(await run.kept(), ['a', 'b'], 'both branches saw that the flag was not set');
    assert.deepEqual(await run.sessionState(), { sent: true });
  });

  it('leaving the stream at the first answer does not stop the other branch', async () => {
    const [fast, slow] = [new Branch('fast'), new Branch('slow')];
    const race = new ParallelAgent({ name: 'race', subAgents: [fast, slow] });
    const run = await send(race, { untilFirst: true });
    fast.answer();
    await turns();
    assert.deepEqual(run.seen, ['fast']);
    slow.answer();
    await turns();
    assert.ok(slow.isFinished, 'the slow branch was not cancelled');
  });

  it('a workflow with two terminal nodes rejects both answers', async () => {
    const workflow = new Workflow({
      name: 'race',
      edges: [
        [
          'START',
          function fast() {
            return 'fast';
          },
        ],
        [
          'START',
          function slow() {
            return 'slow';
          },
        ],
      ],
    });
    const run = await send(workflow);
    const state = run.state();
    assert.ok(state instanceof Error);
    assert.match(state.message, /multiple terminal nodes produced output/);
  });
});
