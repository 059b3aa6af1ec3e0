import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, agentProof, sequential } from '../../src/agents/index.ts';
import type { Agent, AgentDefinition } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { tool, toolset } from '../../src/tools/index.ts';
import { parseProperty, prove, UnknownNameError } from '../../src/verify/index.ts';
import type { PropertyResult } from '../../src/verify/index.ts';

const definition: AgentDefinition = {
  name: 'shop',
  model: new ScriptedModel([]),
  reaskBudget: 1,
  tools: [
    tool({ name: 'charge', description: 'Charges.', needsApproval: true, execute: () => null }),
    tool({
      name: 'refund',
      description: 'Refunds.',
      needsApproval: () => false,
      execute: () => null,
    }),
    tool({ name: 'look', description: 'Looks.', execute: () => null }),
  ],
};

/** Its router may run any tool at once. */
const bypassing = agent({
  ...definition,
  subnets: ({ router }) => ({
    router: {
      ...router,
      transitions: router.transitions.map((t) => ({
        ...t,
        labels: (t.labels ?? []).filter(({ output }) => output !== 'calls'),
      })),
    },
  }),
});

async function proveText(of: Agent, text: string): Promise<PropertyResult | undefined> {
  const { bounds, components } = agentProof(of, { atOnce: 1, faults: 0 });
  const properties = [parseProperty(text)];
  return (await prove(of.compiled, { properties, bounds, components })).results[0];
}

const verdictFor = async (of: Agent, text: string): Promise<string | undefined> =>
  (await proveText(of, text))?.verdict;

test('a tool that always needs an approval never runs before it', async () => {
  const shop = agent(definition);
  const text = (name: string): string =>
    `precedes(tool.answer(${name}), tool.run(${name}), each: true)`;
  assert.equal(await verdictFor(shop, text('charge')), 'proved');
  assert.equal(await verdictFor(shop, text('refund')), 'refuted');
  assert.equal(await verdictFor(shop, text('look')), 'refuted');
});

test('approvals are default properties of an agent, and its arcs decide them', async () => {
  const shop = agent(definition);
  const { properties, bounds } = agentProof(shop);
  const names = Object.keys(properties).filter((name) => name.startsWith('approved/'));
  assert.deepEqual(names, ['approved/charge']);
  const approved = names.flatMap((name) => properties[name] ?? []);
  const decide = async (of: Agent): Promise<PropertyResult | undefined> =>
    (await prove(of.compiled, { properties: approved, bounds })).results[0];
  const proved = await decide(shop);
  assert.deepEqual([proved?.verdict, proved?.states], ['proved', 0]);
  assert.match(proved?.by ?? '', /^the arcs/);
  assert.equal((await decide(bypassing))?.verdict, 'refuted');
  const pair = sequential({
    name: 'pair',
    subAgents: [shop, agent({ ...definition, name: 'bank' })],
  });
  const both = Object.keys(agentProof(pair).properties);
  assert.deepEqual(
    both.filter((name) => name.startsWith('approved/')),
    ['approved/shop/charge', 'approved/bank/charge'],
  );
});

test('a bypassed approval is reported before the whole net is searched for other properties', async () => {
  const { properties, bounds, components } = agentProof(bypassing, { atOnce: 1, faults: 0 });
  const reported: (readonly [name: string, verdict: string])[] = [];
  await prove(bypassing.compiled, {
    properties: Object.values(properties),
    bounds,
    components,
    failFast: true,
    onResult: ({ property, verdict }) => reported.push([property.name, verdict]),
  });
  assert.deepEqual(reported[0], [
    'tool.run(charge) never before its tool.answer(charge)',
    'refuted',
  ]);
  assert.deepEqual([...new Set(reported.slice(1).map(([, verdict]) => verdict))], ['unknown']);
});

test('failFast also ends the search of properties that name tools', async () => {
  const shop = agent(definition);
  const { bounds } = agentProof(shop, { atOnce: 1, faults: 0 });
  const texts = ['unreachable(turn.current)', 'atMost(tool.run(look), 9, per: user.in)'];
  const { results } = await prove(shop.compiled, {
    properties: texts.map((text) => parseProperty(text)),
    bounds,
    failFast: true,
  });
  assert.deepEqual(
    results.map(({ verdict }) => verdict),
    ['refuted', 'unknown'],
  );
});

test('the approval of one tool does not stand for another', async () => {
  const text = 'precedes(tool.answer(look), tool.run(charge), each: true)';
  const result = await proveText(agent(definition), text);
  assert.equal(result?.verdict, 'refuted');
  assert.ok(result.trace?.steps.some(({ transition }) => transition === 'tool.answer'));
});

test('a router that may run any tool at once is refuted for the tool that needs an approval', async () => {
  const text = 'precedes(tool.answer(charge), tool.run(charge), each: true)';
  assert.equal(await verdictFor(bypassing, text), 'refuted');
});

test('a property of one tool is proved although another tool breaks it', async () => {
  const text = (name: string): string => `atMost(tool.run${name}, 1, per: user.in)`;
  const quiet = agent({ ...definition, reaskBudget: 0 });
  assert.equal(await verdictFor(quiet, text('(charge)')), 'proved');
  assert.equal(
    await verdictFor(agent(definition), 'neverFiresAfter(tool.run(charge), tool.call(look))'),
    'refuted',
  );
});

test('a misspelled tool is an error', async () => {
  await assert.rejects(
    verdictFor(agent(definition), 'atMost(tool.run(chrage), 0)'),
    (error) =>
      error instanceof UnknownNameError &&
      /label "chrage" of "tool.run": it has charge/.test(error.message),
  );
  await assert.rejects(
    verdictFor(agent(definition), 'atMost(model.call(charge), 0)'),
    UnknownNameError,
  );
});

test('a firing with two names costs what the dearest does', async () => {
  const shop = agent({ ...definition, reaskBudget: 0 });
  const text = (max: number): string =>
    `costAtMost({ tool.run: 1, tool.run(charge): 5 }, ${max}, per: user.in)`;
  assert.equal(await verdictFor(shop, text(4)), 'refuted');
});

test('an agent with a toolset lists no tools: a toolset may add one later', async () => {
  const tools = [...(definition.tools ?? []), toolset('more', () => [])];
  await assert.rejects(
    verdictFor(agent({ ...definition, tools }), 'atMost(tool.run(charge), 0)'),
    UnknownNameError,
  );
});
