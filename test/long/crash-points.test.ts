import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentTurn, appendedTurn } from '../crash-points/agent-turn.ts';
import { crashCases } from '../crash-points/cases.ts';
import { crashEverywhere, failpoints } from '../crash-points/crash-everywhere.ts';
import {
  failedLoop,
  failedParallel,
  failedSequence,
  failedTransfer,
} from '../crash-points/failed-turns.ts';
import { manyAgentsTurn } from '../crash-points/many-agents-turn.ts';
import {
  outcomeOfAgents,
  outcomeTurn,
  queuedCriteria,
  queuedOutcome,
} from '../crash-points/outcome-turns.ts';
import { withFormerNames } from '../nets/with-former-names.ts';
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

for (const turn of [outcomeOfAgents, queuedOutcome, queuedCriteria]) {
  test(`${turn.name}: a crash at every commit and failpoint does not change the result`, async () => {
    const { runs, commits } = await crashEverywhere(turn, { again: 'none' });
    assert.equal(runs, 1 + failpoints.length * commits);
  });
}

for (const turn of [agentTurn, appendedTurn, outcomeTurn, manyAgentsTurn, workflowTurn]) {
  test(`${turn.name}: an owner with other names that takes over at any commit and failpoint does not change the result`, async () => {
    const firstNet: typeof turn.net = (world) => withFormerNames(turn.net(world));
    const { commits } = await crashEverywhere({ ...turn, firstNet }, { again: 'none' });
    assert.ok(commits >= 2);
  });
}
