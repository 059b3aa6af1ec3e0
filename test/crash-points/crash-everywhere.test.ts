import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentTurn, appendedTurn } from './agent-turn.ts';
import { crashCases } from './cases.ts';
import { crashEverywhere, failpoints } from './crash-everywhere.ts';
import { failedLoop, failedParallel, failedSequence, failedTransfer } from './failed-turns.ts';
import { manyAgentsTurn } from './many-agents-turn.ts';
import { outcomeOfAgents, outcomeTurn, queuedCriteria, queuedOutcome } from './outcome-turns.ts';
import { withFormerNames } from '../nets/with-former-names.ts';
import { workflowTurn } from './workflow-turn.ts';

// The long tests try every failpoint of both crashes, and crash the large nets twice.
for (const turn of [...crashCases, agentTurn, appendedTurn, outcomeTurn]) {
  test(`${turn.name}: crashes at every commit, each followed by a second crash at every later commit, do not change the result`, async () => {
    const { runs, commits } = await crashEverywhere(turn, { again: 'one', every: 2 });
    assert.ok(commits >= 2 && runs > 2 * commits);
  });
}

for (const turn of [
  manyAgentsTurn,
  workflowTurn,
  outcomeOfAgents,
  queuedOutcome,
  queuedCriteria,
  failedSequence,
  failedLoop,
  failedParallel,
  failedTransfer,
]) {
  test(`${turn.name}: a crash at every commit does not change the result`, async () => {
    const { runs, commits } = await crashEverywhere(turn, { again: 'none', every: 2 });
    assert.ok(commits >= 6 && runs === 1 + (failpoints.length / 2) * commits);
  });
}

for (const turn of [agentTurn, appendedTurn, outcomeTurn, manyAgentsTurn, workflowTurn]) {
  test(`${turn.name}: an owner with other names that takes over at any commit does not change the result`, async () => {
    const firstNet: typeof turn.net = (world) => withFormerNames(turn.net(world));
    const { commits } = await crashEverywhere({ ...turn, firstNet }, { again: 'none', every: 2 });
    assert.ok(commits >= 2);
  });
}
