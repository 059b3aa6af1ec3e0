import { deriveInvocationId } from '../../core/index.ts';
import type { LogEntry } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import { all, allOf, append, each, matching, oneOf, pure, upTo } from '../../net/index.ts';
import type { Transition } from '../../net/index.ts';
import { conversation } from '../vocabulary/conversation.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import { eventOut, userIn } from '../vocabulary/messages.ts';
import type { IncomingMessage } from '../vocabulary/messages.ts';
import { sessionArchived, sessionCompleted } from '../vocabulary/session.ts';
import { turnCurrent, turnPermit } from '../vocabulary/turn.ts';
import { taskText } from './grader-prompt.ts';
import {
  MAX_ITERATIONS,
  outcomeActive,
  outcomeIn,
  outcomeNext,
  outcomeRound,
  outcomeWaiting,
} from './outcome-places.ts';
import type { ActiveOutcome, Outcome, WaitingOutcome } from './outcome-places.ts';

/** Before the next turn starts. */
const DEFINE_PRIORITY = 1;
/** Before the turn that begins with an outcome can end. */
const BEGIN_PRIORITY = 10;

const definedOutputs = {
  active: outcomeActive,
  rounds: upTo(MAX_ITERATIONS, outcomeRound),
  events: upTo(2, eventOut),
} as const;

/**
 * Transitions that define an outcome in the order of arrival among messages. An outcome with a description has a message
 * of its own, whose turn is judged. One with criteria judges the first turn of a message that came after it.
 */
export function defineOutcomes(): readonly Transition[] {
  const define = pure('outcome.define', {
    // Between turns, so that the outcome is added to the conversation where a message may be.
    take: { asked: outcomeIn, permit: turnPermit, replaced: all(outcomeActive, { min: 0 }) },
    unless: [userIn],
    reset: [outcomeRound],
    priority: DEFINE_PRIORITY,
    give: allOf({
      ...definedOutputs,
      permit: turnPermit,
      start: upTo(1, userIn),
      said: append(conversation),
    }),
    run: ({ asked, replaced }) => ({
      ...toDefined(asked, replaced),
      permit: null,
      start: asked.startsNow ? [toMessage(asked)] : [],
      said: asked.startsNow ? [] : [toItem(asked)],
    }),
  });

  // A turn runs, or messages wait.
  const queue = pure('outcome.queue', {
    take: { asked: outcomeIn },
    read: { messages: all(userIn, { min: 0 }) },
    unless: [sessionCompleted, sessionArchived],
    give: oneOf({
      start: allOf({ waiting: outcomeWaiting, start: userIn }),
      behind: allOf({ waiting: outcomeWaiting }),
      next: allOf({ next: outcomeNext }),
    }),
    run: ({ asked, messages }) => {
      if (asked.startsNow) {
        const message = toMessage(asked);
        const { invocationId } = message;
        return { start: { waiting: { ...asked, invocationId }, start: message } };
      }
      const invocationId = messages.at(-1)?.invocationId;
      return invocationId === undefined
        ? { next: { next: asked } }
        : { behind: { waiting: { ...asked, invocationId } } };
    },
  });

  const begin = pure('outcome.begin', {
    take: {
      waiting: matching(outcomeWaiting, ({ invocationId }) => invocationId),
      turn: matching(turnCurrent, ({ invocationId }) => invocationId),
      active: all(outcomeActive, { min: 0 }),
      left: all(outcomeRound, { min: 0 }),
    },
    priority: BEGIN_PRIORITY,
    give: oneOf({
      now: allOf({ ...definedOutputs, turn: turnCurrent }),
      next: allOf({
        turn: turnCurrent,
        next: outcomeNext,
        active: each('active', outcomeActive),
        left: each('left', outcomeRound),
      }),
    }),
    run: ({ waiting, turn, active, left }) => {
      const asked = withoutInvocation(waiting);
      return asked.startsNow
        ? { now: { ...toDefined(asked, active), turn } }
        : { next: { turn, next: asked, active, left } };
    },
  });

  const defineNext = pure('outcome.define-next', {
    take: { asked: outcomeNext, permit: turnPermit, replaced: all(outcomeActive, { min: 0 }) },
    reset: [outcomeRound],
    priority: DEFINE_PRIORITY,
    give: allOf({ ...definedOutputs, permit: turnPermit, said: append(conversation) }),
    run: ({ asked, replaced }) => ({
      ...toDefined(asked, replaced),
      permit: null,
      said: [toItem(asked)],
    }),
  });

  // The turn that it waits for failed before it began.
  const release = pure('outcome.release', {
    take: { waiting: outcomeWaiting, permit: turnPermit },
    unless: [userIn],
    priority: DEFINE_PRIORITY,
    give: allOf({ permit: turnPermit, next: outcomeNext }),
    run: ({ waiting }) => ({ permit: null, next: withoutInvocation(waiting) }),
  });
  return [define, queue, begin, defineNext, release];
}

function withoutInvocation(waiting: WaitingOutcome): Outcome {
  const { invocationId: _, ...asked } = waiting;
  return asked;
}

function toDefined(
  asked: Outcome,
  replaced: readonly ActiveOutcome[],
): {
  readonly active: ActiveOutcome;
  readonly rounds: readonly null[];
  readonly events: readonly LogEntry[];
} {
  const { outcomeId, description, rubric, maxIterations } = asked;
  return {
    active: { ...asked, iteration: 1 },
    rounds: Array.from({ length: maxIterations - 1 }, () => null),
    events: [
      ...replaced.map((one): LogEntry => ({
        type: 'outcome.ended',
        outcomeId: one.outcomeId,
        result: 'replaced',
      })),
      {
        type: 'outcome.defined',
        outcomeId,
        description,
        maxIterations,
        ...omitUndefined({ rubric }),
      },
    ],
  };
}

function toItem(asked: Outcome): ConversationItem {
  const { invocationId, content } = toMessage(asked);
  return { invocationId, content };
}

function toMessage(asked: Outcome): IncomingMessage {
  const messageId = `outcome:${asked.outcomeId}`;
  const content = { role: 'user' as const, parts: [{ text: taskText(asked) }] };
  return { messageId, invocationId: deriveInvocationId(messageId), content };
}
