import { noUsage } from '../../core/index.ts';
import { allOf, net, pure, upTo } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { modelRequest } from '../vocabulary/model-call.ts';
import { resumeIn, sessionFailed } from '../vocabulary/session.ts';
import { turnBudget, turnCurrent, turnPermit } from '../vocabulary/turn.ts';

/**
 * Lets a resume repeat the model call that failed after its last attempt. The turn continues where it failed. An agent
 * without this subnet refuses a resume after a failure: its next message starts a new turn.
 */
export function failedTurnRetry({ reaskBudget }: { readonly reaskBudget: number }): Net {
  const retry = pure('session.retry', {
    take: { resume: resumeIn, failed: sessionFailed, permit: turnPermit },
    reset: [turnBudget],
    give: allOf({
      turn: turnCurrent,
      budget: upTo(Math.max(1, reaskBudget), turnBudget),
      request: modelRequest,
      events: upTo(2, eventOut),
    }),
    run: ({ failed: { request } }) => ({
      turn: { invocationId: request.invocationId, round: request.round, usage: noUsage },
      budget: Array.from({ length: reaskBudget }, () => null),
      request,
      events: [
        { type: 'session.resumed' },
        { type: 'turn.started', invocationId: request.invocationId },
      ],
    }),
  });
  return net('failed-turn-retry', {
    in: { resumeIn, sessionFailed, turnPermit, turnBudget },
    out: { modelRequest, turnCurrent, turnBudget, eventOut },
    transitions: [retry],
  });
}
