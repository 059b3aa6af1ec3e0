import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentTurn } from './agent-turn.ts';
import { crashCases } from './cases.ts';
import { crashEverywhere, failpoints } from './crash-everywhere.ts';
import { manyAgentsTurn } from './many-agents-turn.ts';
import { workflowTurn } from './workflow-turn.ts';

for (const turn of [...crashCases, agentTurn]) {
  test(`${turn.name}: crashed at every commit and failpoint, and again at every later one, it ends as without crashes`, async () => {
    const { runs, commits } = await crashEverywhere(turn);
    assert.ok(commits >= 2 && runs > 4 * commits);
  });
}

// The long tests crash these twice, because their nets are large.
for (const turn of [manyAgentsTurn, workflowTurn]) {
  test(`${turn.name}: crashed once at every commit and failpoint, it ends as without crashes`, async () => {
    const { runs, commits } = await crashEverywhere(turn, { once: true });
    assert.ok(commits > 10 && runs === 1 + failpoints.length * commits);
  });
}
