import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, agentProof, parallel } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { tool } from '../../src/tools/index.ts';
import { formatReport, isProved, prove } from '../../src/verify/index.ts';

const scriptedAgent = (name: string): Agent =>
  agent({
    name,
    model: new ScriptedModel([]),
    tools: [tool({ name: 'look', description: 'Looks.' })],
    reaskBudget: 1,
  });

test('two parallel agents with tools and one re-ask satisfy all properties of an agent', async () => {
  const { compiled, ...agents } = parallel({
    name: 'both',
    subAgents: [scriptedAgent('a'), scriptedAgent('b')],
  });
  const { properties, bounds } = agentProof({ compiled, ...agents }, { atOnce: 1, faults: 0 });
  const report = await prove(compiled, {
    properties: Object.values(properties),
    bounds: { ...bounds, attempts: 1, environment: { 'user.in': 1, 'rewind.in': 0 } },
    route: 'search',
  });
  assert.ok(isProved(report), formatReport(report));
});

test('an agent with a tool satisfies all properties of an agent when owners close and a transition fails', async () => {
  const { compiled, ...single } = scriptedAgent('a');
  const limits = { atOnce: 1, faults: 1, shutdowns: true };
  const { properties, bounds } = agentProof({ compiled, ...single }, limits);
  const report = await prove(compiled, { properties: Object.values(properties), bounds });
  assert.ok(isProved(report), formatReport(report));
});
