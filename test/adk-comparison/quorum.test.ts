import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JoinNode, ParallelAgent, SequentialAgent, Workflow } from '@google/adk';
import { Branch, send, turns } from './stock-adk.ts';

// Two of three, decided by the second answer: examples/patterns/quorum.ts.
describe('stock ADK: a quorum', () => {
  const threeBranches = (): readonly [Branch, Branch, Branch] => [
    new Branch('a'),
    new Branch('b'),
    new Branch('c'),
  ];

  it('two of three answers are not enough: the next step waits for the slowest', async () => {
    const [a, b, c] = threeBranches();
    const summary = new Branch('summary');
    summary.answer();
    const voters = new ParallelAgent({ name: 'asked', subAgents: [a, b, c] });
    const run = await send(new SequentialAgent({ name: 'quorum', subAgents: [voters, summary] }));
    a.answer();
    b.answer();
    await turns();
    assert.deepEqual(run.seen, ['a', 'b']);
    assert.ok(!summary.isStarted);
    c.answer();
    await turns();
    assert.ok(summary.isStarted);
    assert.deepEqual(run.seen, ['a', 'b', 'c', 'summary']);
  });

  it('an agent that never answers blocks the turn forever', async () => {
    const [a, b, c] = threeBranches();
    const run = await send(new ParallelAgent({ name: 'asked', subAgents: [a, b, c] }));
    a.answer();
    b.answer();
    await turns();
    assert.equal(run.state(), 'running');
  });

  it('escalate with the second answer does not end the turn, and the late answer enters the history', async () => {
    const a = new Branch('a');
    const b = new Branch('b', (_, createReply) => createReply('enough', { escalate: true }));
    const c = new Branch('c');
    const run = await send(new ParallelAgent({ name: 'asked', subAgents: [a, b, c] }));
    a.answer();
    b.answer();
    await turns();
    assert.equal(run.state(), 'running');
    c.answer();
    await turns();
    assert.deepEqual(await run.kept(), ['a', 'b', 'c']);
  });

  it('a workflow can join all nodes or trigger for each node, but not for K of N', async () => {
    const gates = ['a', 'b', 'c'].map((name) => ({ name, ...Promise.withResolvers<string>() }));
    const nodes = gates.map(
      ({ name, promise }) => new Workflow({ name, dynamicEntry: async () => promise }),
    );
    const join = new JoinNode({ name: 'join' });
    let joined = 0;
    const summary = function summary(): void {
      joined++;
    };
    const all = await send(
      new Workflow({
        name: 'all',
        edges: [
          ...nodes.map((node) => ['START', node, join] as ['START', Workflow, JoinNode]),
          [join, summary],
        ],
      }),
    );
    gates[0]?.resolve('a');
    gates[1]?.resolve('b');
    await turns();
    assert.equal(joined, 0);
    gates[2]?.resolve('c');
    await turns();
    assert.equal(joined, 1);
    assert.equal(all.state(), 'ended');
    let triggered = 0;
    const each = function each(): void {
      triggered++;
    };
    await send(
      new Workflow({
        name: 'each',
        edges: nodes.map((node) => ['START', node, each] as ['START', Workflow, () => void]),
      }),
    );
    assert.equal(triggered, 3);
  });
});
