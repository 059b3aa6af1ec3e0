import { agent, agentTool } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { isFunctionResponsePart } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { tool } from '../../src/tools/index.ts';

/** A model that calls one tool, and then answers with its result. */
function callsOnce(name: string, args: Readonly<Record<string, string>>): ScriptedModel {
  return new ScriptedModel(({ contents }) => {
    const result = contents.flatMap(({ parts }) => parts.filter(isFunctionResponsePart)).at(-1);
    return result === undefined
      ? { toolCalls: [{ name, args: { ...args } }] }
      : { text: `Done: ${JSON.stringify(result.functionResponse.response)}` };
  });
}

/** An agent that calls a second one, which calls a third one, whose payment needs approval. */
export function payingAgents(pay: (firingId: string) => void): Agent {
  const payment = tool({
    name: 'pay',
    description: 'Pays.',
    needsApproval: true,
    idempotent: true,
    execute: (_, { firingId, state }) => {
      pay(firingId);
      state.set('paid', 'yes');
      return 'paid';
    },
  });
  const payer = agent({ name: 'payer', model: callsOnce('pay', {}), tools: [payment] });
  const clerk = agent({
    name: 'clerk',
    model: callsOnce('payer', { request: 'Pay.' }),
    tools: [agentTool(payer)],
  });
  return agent({
    name: 'boss',
    model: callsOnce('clerk', { request: 'See to it.' }),
    tools: [agentTool(clerk)],
  });
}
