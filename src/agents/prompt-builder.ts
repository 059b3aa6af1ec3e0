import { allOf, append, net, optional, pure, upTo } from '../net/index.ts';
import type { Net } from '../net/index.ts';
import { begunTurn } from './begun-turn.ts';
import {
  answerIn,
  conversation,
  eventOut,
  modelRequest,
  sessionWrite,
  turnBudget,
  turnCurrent,
  turnPermit,
  userIn,
} from './places.ts';

/** What each turn begins with beside its message. */
export interface PromptBuilderOptions {
  /** How often the model may be asked again after tools, in one turn. */
  readonly reaskBudget: number;
}

/**
 * Begins a turn: takes the oldest message and the permit, and asks for a model call. The re-ask budget is emptied and
 * seeded in the same firing, so no turn inherits another's. (Seed name: PromptBuilderSubnet.)
 */
export function promptBuilder({ reaskBudget }: PromptBuilderOptions): Net {
  const build = pure('prompt.build', {
    take: { message: userIn, permit: turnPermit },
    reset: [turnBudget, answerIn],
    give: allOf({
      turn: turnCurrent,
      // An agent without a budget never asks again; its place is there all the same.
      budget: upTo(Math.max(1, reaskBudget), turnBudget),
      request: modelRequest,
      said: append(conversation),
      write: optional(sessionWrite),
      events: upTo(2, eventOut),
    }),
    run: ({ message }) => ({
      ...begunTurn(message),
      budget: Array.from({ length: reaskBudget }, () => null),
      request: { invocationId: message.invocationId, round: 0 },
    }),
  });
  return net('prompt-builder', {
    in: { userIn, turnPermit, answerIn },
    out: { modelRequest, turnCurrent, turnBudget, conversation, sessionWrite, eventOut },
    transitions: [build],
  });
}
