import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentTurn } from './agent-turn.ts';
import { cutCases } from './cases.ts';
import { cutEverywhere, failpoints } from './cut.ts';
import { manyAgentsTurn } from './many-agents-turn.ts';
import { workflowTurn } from './workflow-turn.ts';

for (const turn of [...cutCases, agentTurn]) {
  test(`${turn.name}: cut at every commit and failpoint, and again at every one after the resume, it ends as if uncut`, async () => {
    const { runs, commits } = await cutEverywhere(turn);
    assert.ok(commits >= 2 && runs > 4 * commits);
  });
}

// Twice in the long tests: their nets are large.
for (const turn of [manyAgentsTurn, workflowTurn]) {
  test(`${turn.name}: cut once at every commit and failpoint, it ends as if uncut`, async () => {
    const { runs, commits } = await cutEverywhere(turn, { once: true });
    assert.ok(commits > 10 && runs === 1 + failpoints.length * commits);
  });
}
