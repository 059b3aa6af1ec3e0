import { agent } from '../../../src/agents/index.ts';
import type { Agent } from '../../../src/agents/index.ts';
import { modelRequest } from '../../../src/agents/vocabulary/model-call.ts';
import { turnEnding } from '../../../src/agents/vocabulary/turn.ts';
import { allOf, net, pure } from '../../../src/net/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';

/** Asks the model again instead of ending the turn, and takes no token of the budget. */
const insist = pure('answer.insist', {
  take: { ending: turnEnding },
  priority: 5,
  give: allOf({ request: modelRequest }),
  run: ({ ending: { invocationId = '', round = 0 } }) => ({ request: { invocationId, round } }),
});

export const planted: Agent = agent({
  name: 'insistent',
  model: new ScriptedModel([]),
  extensions: [net('insist', { in: { turnEnding }, out: { modelRequest }, transitions: [insist] })],
});
