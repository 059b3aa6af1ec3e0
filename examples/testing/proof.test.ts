/** A test of an agent's control flow: every order of events, within the bounds of the proof. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, tool } from 'petrichor';
import { agentProof } from 'petrichor/agents';
import { ScriptedModel } from 'petrichor/testing';
import { formatReport, isProved, neverFiresAfter, prove } from 'petrichor/verify';

const search = tool({ name: 'search', description: 'Searches', readOnly: true, execute: () => [] });
const researcher = agent({ name: 'researcher', model: new ScriptedModel([]), tools: [search] });

test('the control flow of the agent is proved', async () => {
  const { properties, bounds } = agentProof(researcher, { atOnce: 1, faults: 0 });
  const report = await prove(researcher.compiled, {
    properties: Object.values(properties),
    bounds,
  });
  assert.ok(isProved(report), formatReport(report));
});

test('a property that does not hold is refuted with its steps', async () => {
  const { bounds } = agentProof(researcher, { atOnce: 1, faults: 0 });
  const report = await prove(researcher.compiled, {
    properties: [neverFiresAfter('tool.run', 'turn.current')],
    bounds,
  });
  assert.match(formatReport(report), /refuted[^]*started model\.call[^]*tool\.run/);
});
