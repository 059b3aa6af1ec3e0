import { omitUndefined } from '../../core/internal.ts';
import { contentText, QuotaExceededError } from '../../core/index.ts';
import type { LogEntry, StopReason } from '../../core/index.ts';
import { ModelError } from '../../models/internal.ts';
import type { Model } from '../../models/index.ts';
import { allOf, append, effect, net, oneOf, pure, running, upTo } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { omitOutputs } from '../../net/internal.ts';
import type { Extension } from '../turn/extension.ts';
import { getAgentHost } from '../vocabulary/agent-host.ts';
import { effectInhibitors, turnStopping } from '../vocabulary/control.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { findModel } from '../vocabulary/find-model.ts';
import { eventOut, userIn } from '../vocabulary/messages.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import {
  completeIn,
  sessionArchived,
  sessionClosing,
  sessionCompleted,
  sessionPaused,
} from '../vocabulary/session.ts';
import { turnBudget, turnCurrent, turnEnding, turnPermit } from '../vocabulary/turn.ts';
import type { Ending } from '../vocabulary/turn.ts';
import { defineOutcomes } from './define-outcomes.ts';
import { gradingRequest, parseVerdict, revisionText } from './grader-prompt.ts';
import {
  outcomeActive,
  outcomeGrading,
  outcomeIn,
  outcomeInterrupted,
  outcomeRound,
  outcomeVerdict,
} from './outcome-places.ts';
import type { ActiveOutcome, OutcomeVerdict } from './outcome-places.ts';

export interface OutcomeRoundsOptions {
  /** The agent whose work is judged. */
  readonly agentName: string;
  /** The model that judges. */
  readonly grader: Model;
  /** Where a revision begins. */
  readonly revision: {
    readonly place: TokenPlace<ModelCall>;
    /** The number of re-asks that a revision gets. Missing if the agent that begins there gets its own. */
    readonly reaskBudget?: number;
  };
}

/** Runs before the turn ends. */
const JUDGE_PRIORITY = 5;

const JUDGED: readonly StopReason[] = ['end_turn', 'max_tokens', 'budget_reached'];

/**
 * Adds rounds of work and judgment. A turn that would end is judged first. If the verdict asks for a revision, the turn
 * continues with the grader's explanation, at most once for each token in `outcome.round`.
 */
export function outcomeRounds({ agentName, grader, revision }: OutcomeRoundsOptions): Extension {
  const { reaskBudget = 0 } = revision;
  const hasBudget = revision.reaskBudget !== undefined;
  const grade = effect('outcome.grade', {
    take: { grading: outcomeGrading },
    read: { conversation },
    unless: effectInhibitors,
    give: oneOf({ judged: allOf({ verdict: outcomeVerdict, events: upTo(1, eventOut) }) }),
    onCrash: 'rerun',
    retry: { attempts: 4, backoff: '1s..30s' },
    failed: ({ error, kind, message }, { grading: { outcome, invocationId } }) => {
      const code = error instanceof ModelError ? error.code : `grader_${kind}`;
      // Clients see this text. The provider's own message is in `error`.
      const explanation = `The grader gave no verdict (${code}).`;
      const verdict = { invocationId, result: 'failed' as const, explanation };
      return toEvaluation(outcome, verdict, { error: { code, message } });
    },
    run: async ({ grading, conversation }, { signal, firingId, attempt, host }) => {
      const { outcome, invocationId } = grading;
      const contents = conversation.map(({ content }) => content);
      const model = await findModel(grader, agentName, host);
      try {
        await getAgentHost(host)?.checkQuota?.(grader.name);
      } catch (error) {
        // Another attempt would fail, too.
        if (!(error instanceof QuotaExceededError)) throw error;
        const { code, message } = error;
        const verdict = { invocationId, result: 'failed' as const, explanation: message };
        return toEvaluation(outcome, verdict, { error: { code, message } });
      }
      const answer = await model.generate(gradingRequest(grading.outcome, contents), {
        signal,
        firingId,
        attempt,
        onDelta: () => {},
      });
      const verdict = parseVerdict(contentText(answer.content));
      const { usage } = answer;
      const more = usage === undefined ? {} : { usage };
      return toEvaluation(outcome, { invocationId, ...verdict }, more);
    },
  });

  const ended = {
    ending: turnEnding,
    turn: turnCurrent,
    active: outcomeActive,
  };
  const stopped = { ending: turnEnding, turn: turnCurrent, events: upTo(1, eventOut) };

  const judge = pure('outcome.evaluate', {
    formerNames: ['outcome.judge'],
    take: ended,
    unless: [sessionClosing, outcomeInterrupted],
    priority: JUDGE_PRIORITY,
    give: oneOf({
      grade: allOf({ grading: outcomeGrading, turn: turnCurrent, active: outcomeActive }),
      stop: allOf(stopped),
    }),
    run: ({ ending, turn, active }) => {
      const { invocationId } = turn;
      // A turn that can be continued by a resume has not ended its work.
      return JUDGED.includes(ending.stopReason) && ending.failedRequest === undefined
        ? { grade: { grading: { invocationId, outcome: active }, turn, active } }
        : { stop: stopOutcome(ending, turn, active) };
    },
  });

  // A session that will be archived gets no more rounds.
  const drop = pure('outcome.stop', {
    formerNames: ['outcome.drop'],
    take: ended,
    read: { closing: sessionClosing },
    priority: JUDGE_PRIORITY,
    give: allOf(stopped),
    run: ({ ending, turn, active }) => stopOutcome(ending, turn, active),
  });

  const interrupt = pure('outcome.interrupt', {
    take: ended,
    read: { interrupted: outcomeInterrupted },
    unless: [sessionClosing],
    priority: JUDGE_PRIORITY,
    give: allOf(stopped),
    run: ({ ending, turn, active }) => stopOutcome(ending, turn, active),
  });

  const judgedTurn = { verdict: outcomeVerdict, turn: turnCurrent, active: outcomeActive };
  const done = {
    turn: turnCurrent,
    ending: turnEnding,
    complete: upTo(1, completeIn),
    events: upTo(1, eventOut),
  };

  const settle = pure('outcome.apply-verdict', {
    formerNames: ['outcome.settle'],
    take: { ...judgedTurn, round: outcomeRound },
    reset: [turnBudget],
    give: oneOf({
      revise: allOf({
        turn: turnCurrent,
        active: outcomeActive,
        request: revision.place,
        budget: upTo(Math.max(1, reaskBudget), turnBudget),
        said: append(conversation),
      }),
      done: allOf(done),
    }),
    run: ({ verdict, turn, active }) => {
      if (verdict.result !== 'needs_revision')
        return { done: completeOutcome(verdict, turn, active) };
      const { invocationId, round } = turn;
      const content = { role: 'user' as const, parts: [{ text: revisionText(verdict) }] };
      return {
        revise: {
          turn,
          active: { ...active, iteration: active.iteration + 1 },
          request: { invocationId, round },
          ...omitUndefined({
            budget: hasBudget ? Array.from({ length: reaskBudget }, () => null) : undefined,
          }),
          said: [{ invocationId, content }],
        },
      };
    },
  });

  const conclude = pure('outcome.conclude', {
    take: judgedTurn,
    unless: [outcomeRound],
    give: allOf(done),
    run: ({ verdict, turn, active }) => completeOutcome(verdict, turn, active),
  });

  const rounds = net('outcome-rounds', {
    in: {
      outcomeIn,
      turnPermit,
      turnEnding,
      turnCurrent,
      turnStopping,
      conversation,
      ...(hasBudget && { turnBudget }),
      outcomeRound,
      outcomeInterrupted,
      userIn,
      sessionClosing,
      sessionPaused,
      sessionCompleted,
      sessionArchived,
    },
    out: {
      turnPermit,
      turnCurrent,
      turnEnding,
      revision: revision.place,
      ...(hasBudget && { turnBudget }),
      conversation,
      userIn,
      completeIn,
      outcomeActive,
      outcomeGrading,
      outcomeVerdict,
      eventOut,
    },
    transitions: [
      ...defineOutcomes(),
      grade,
      judge,
      drop,
      interrupt,
      hasBudget ? settle : { ...omitOutputs(settle, 'budget'), reset: [] },
      conclude,
    ],
  });
  return {
    net: rounds,
    discardable: [outcomeGrading, running(grade), outcomeVerdict],
    interrupted: outcomeInterrupted,
  };
}

function stopOutcome<Turn>(
  ending: Ending,
  turn: Turn,
  { outcomeId }: ActiveOutcome,
): { readonly ending: Ending; readonly turn: Turn; readonly events: readonly LogEntry[] } {
  const result = ending.stopReason === 'interrupted' ? 'interrupted' : 'failed';
  return { ending, turn, events: [endedEvent(outcomeId, result)] };
}

type Evaluation = {
  readonly judged: { readonly verdict: OutcomeVerdict; readonly events: readonly LogEntry[] };
};

function toEvaluation(
  { outcomeId, iteration }: ActiveOutcome,
  verdict: OutcomeVerdict,
  more: Pick<Extract<LogEntry, { type: 'outcome.evaluated' }>, 'usage' | 'error'> = {},
): Evaluation {
  return {
    judged: {
      verdict,
      events: [
        {
          type: 'outcome.evaluated',
          outcomeId,
          iteration,
          ...verdict,
          ...more,
        },
      ],
    },
  };
}

function completeOutcome<Turn>(
  { result }: OutcomeVerdict,
  turn: Turn,
  { outcomeId, completeWhenSatisfied }: ActiveOutcome,
): {
  readonly turn: Turn;
  readonly ending: { readonly stopReason: 'end_turn' };
  readonly complete: readonly null[];
  readonly events: readonly LogEntry[];
} {
  const satisfied = result === 'satisfied';
  return {
    turn,
    ending: { stopReason: 'end_turn' },
    complete: satisfied && completeWhenSatisfied ? [null] : [],
    events: [
      endedEvent(outcomeId, result === 'needs_revision' ? 'max_iterations_reached' : result),
    ],
  };
}

function endedEvent(
  outcomeId: string,
  result: Extract<LogEntry, { type: 'outcome.ended' }>['result'],
): LogEntry {
  return { type: 'outcome.ended', outcomeId, result };
}
