import { allOf, append, net, optional, pure, upTo } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { turnStartOutputs } from './turn-start-outputs.ts';
import { answerIn, eventOut, userIn } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite } from '../vocabulary/state.ts';
import { sessionFailed, sessionPaused, sessionQueued } from '../vocabulary/session.ts';
import { turnBudget, turnCurrent, turnPermit } from '../vocabulary/turn.ts';
import { modelRequest } from '../vocabulary/model-call.ts';

/** Options of `turnStart`. */
export interface TurnStartOptions {
  /** How often the model may be called again after tools, in one turn. */
  readonly reaskBudget: number;
}

/**
 * Starts a turn: takes the oldest message and the permit, and requests a model call. The re-ask budget is reset and
 * filled in the same firing, so a turn never inherits the budget of another.
 */
export function turnStart({ reaskBudget }: TurnStartOptions): Net {
  const transition = pure('turn.start', {
    formerNames: ['prompt.build'],
    take: { message: userIn, permit: turnPermit },
    unless: [sessionPaused],
    reset: [turnBudget, answerIn, sessionQueued, sessionFailed],
    give: allOf({
      turn: turnCurrent,
      // upTo needs at least 1, also for an agent whose budget is 0.
      budget: upTo(Math.max(1, reaskBudget), turnBudget),
      request: modelRequest,
      said: append(conversation),
      write: optional(sessionWrite),
      events: upTo(2, eventOut),
    }),
    run: ({ message }) => ({
      ...turnStartOutputs(message),
      budget: Array.from({ length: reaskBudget }, () => null),
      request: { invocationId: message.invocationId, round: 0 },
    }),
  });
  return net('prompt-builder', {
    in: { userIn, turnPermit, answerIn, sessionPaused, sessionQueued, sessionFailed },
    out: { modelRequest, turnCurrent, turnBudget, conversation, sessionWrite, eventOut },
    transitions: [transition],
  });
}
