import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentTurn, appendedTurn } from '../crash-points/agent-turn.ts';
import { crashCases } from '../crash-points/cases.ts';
import { crashEverywhere } from '../crash-points/crash-everywhere.ts';
import {
  failedLoop,
  failedParallel,
  failedSequence,
  failedTransfer,
} from '../crash-points/failed-turns.ts';
import { manyAgentsTurn } from '../crash-points/many-agents-turn.ts';
import { outcomeTurn } from '../crash-points/outcome-turns.ts';
import { workflowTurn } from '../crash-points/workflow-turn.ts';

for (const turn of [
  ...crashCases,
  agentTurn,
  appendedTurn,
  outcomeTurn,
  manyAgentsTurn,
  workflowTurn,
  failedSequence,
  failedLoop,
  failedParallel,
  failedTransfer,
]) {
  test(`${turn.name}: crashes at every commit and failpoint, each followed by a second crash at every later one, do not change the result`, async () => {
    const { runs, commits } = await crashEverywhere(turn);
    assert.ok(commits >= 2 && runs > 4 * commits);
  });
}
