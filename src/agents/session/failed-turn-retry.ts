import { noUsage } from '../../core/index.ts';
import type { LogEntry } from '../../core/index.ts';
import { allOf, net, oneOf, pure, upTo } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import type { ContinuedPlace } from '../turn/failed-turn.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { modelRequest } from '../vocabulary/model-call.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import { resumeIn, sessionFailed } from '../vocabulary/session.ts';
import { turnBudget, turnCurrent, turnPermit } from '../vocabulary/turn.ts';
import type { FailedTurn } from '../vocabulary/turn.ts';

const retryTakes = { resume: resumeIn, failed: sessionFailed, permit: turnPermit } as const;

/** Lets a resume repeat the model call that failed after its last attempt. The turn continues where it failed. */
export function failedTurnRetry({ reaskBudget }: { readonly reaskBudget: number }): Net {
  const retry = pure('session.retry', {
    take: retryTakes,
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
      events: resumedEvents(request),
    }),
  });
  return net('failed-turn-retry', {
    in: { resumeIn, sessionFailed, turnPermit, turnBudget },
    out: { modelRequest, turnCurrent, turnBudget, eventOut },
    transitions: [retry],
  });
}

/**
 * The same for a session of several agents: each continues where it was when the call failed. A turn whose work is not
 * known is refused.
 * @param places where the agents may continue
 */
export function failedTurnContinuation(places: readonly ContinuedPlace[]): Net {
  const byName = new Map(places.map((one) => [one.place.name, one]));
  const work = Object.fromEntries(places.map(({ place, most }) => [place.name, upTo(most, place)]));
  const retry = pure('session.retry', {
    take: retryTakes,
    give: oneOf({
      continued: allOf({ turn: turnCurrent, events: upTo(2, eventOut), ...work }),
      refused: allOf({ permit: turnPermit, failed: sessionFailed, events: upTo(1, eventOut) }),
    }),
    run: ({ failed }) => {
      const { request, turn } = failed;
      const reason = findObstacle(turn, byName);
      if (turn?.tokens === undefined || reason !== undefined)
        return { refused: { permit: null, failed, events: [refusedEvent(reason)] } };
      return {
        continued: {
          turn: { invocationId: request.invocationId, round: turn.round, usage: noUsage },
          events: resumedEvents(request),
          ...Object.fromEntries(
            // A limit that is lower now than when the turn failed holds for the rest of it.
            places.map(({ place: { name }, most }) => [
              name,
              (turn.tokens?.[name] ?? []).slice(0, most),
            ]),
          ),
        },
      };
    },
  });
  return net('failed-turn-retry', {
    in: { resumeIn, sessionFailed, turnPermit },
    out: {
      ...Object.fromEntries(places.map(({ place }) => [place.name, place])),
      turnCurrent,
      turnPermit,
      sessionFailed,
      eventOut,
    },
    transitions: [retry],
  });
}

/** Why a turn that failed cannot be continued. */
function findObstacle(
  turn: FailedTurn | undefined,
  places: ReadonlyMap<string, ContinuedPlace>,
): string | undefined {
  if (turn === undefined) return 'it failed under a release that did not keep its work';
  if (turn.tokens === undefined)
    return 'a custom agent, a workflow or an added net was at work in it';
  for (const [name, { length }] of Object.entries(turn.tokens)) {
    const place = places.get(name);
    if (place === undefined) return `its agents have changed: "${name}" is gone`;
    if (length > place.most && !place.isBudget)
      return `its agents have changed: "${name}" had ${length} tokens and takes ${place.most}`;
  }
  return undefined;
}

function resumedEvents({ invocationId }: ModelCall): readonly LogEntry[] {
  return [{ type: 'session.resumed' }, { type: 'turn.started', invocationId }];
}

function refusedEvent(reason = 'its work was not kept'): LogEntry {
  return {
    type: 'error',
    code: 'illegal_transition',
    message: `The turn that failed cannot be continued: ${reason}. Send a message: it starts a new turn.`,
  };
}
