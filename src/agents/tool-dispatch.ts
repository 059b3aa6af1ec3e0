import type { Content, LogEntry } from '../core/index.ts';
import { all, allOf, append, matching, net, oneOf, pure, running, upTo } from '../net/index.ts';
import type { Effect, Net } from '../net/index.ts';
import { toolError } from '../tools/index.ts';
import { answeredResult, answersOf, callOf, resultOf, resumedCall } from './call-result.ts';
import {
  answerIn,
  conversation,
  eventOut,
  modelRequest,
  sessionWrite,
  state,
  toolBatch,
  toolCall,
  toolParked,
  toolResult,
  turnBudget,
  turnCurrent,
  turnEnding,
  turnWaiting,
} from './places.ts';
import type { Answer, CallResult, ParkedCall } from './places.ts';
import { pendingEvent } from './pending-event.ts';
import { resultEvent } from './result-event.ts';
import { runTool } from './run-tool.ts';
import type { RunToolOptions } from './run-tool.ts';

export interface ToolDispatchOptions extends RunToolOptions {
  /** The last words of a turn whose re-ask budget is spent. */
  readonly budgetMessage: string;
}

/**
 * Runs the calls of a model's answer, all at once, each result journaled as it comes; parks those that wait for
 * someone; and asks the model again when the last one has its result. The join needs no counter: it fires when no call
 * of the batch is anywhere else. (Seed name: ToolDispatchSubnet, with the re-ask loop of LlmAgentSubnet.)
 */
export function toolDispatch(options: ToolDispatchOptions): {
  readonly subnet: Net;
  readonly run: Effect;
} {
  const { agentName } = options;
  const run = runTool(options);
  const busy = [toolCall, toolParked, running(run), sessionWrite];

  const answer = pure('tool.answer', {
    take: {
      parked: matching(toolParked, ({ callId }) => callId),
      answer: matching(answerIn, ({ callId }) => callId),
      waiting: all(turnWaiting, { min: 0 }),
    },
    give: oneOf({
      approved: allOf({ call: toolCall, events: upTo(2, eventOut) }),
      // It may be done now, by whoever does it outside: it waits for the result.
      handedOut: allOf({ parked: toolParked, events: upTo(2, eventOut) }),
      answered: allOf({ result: toolResult, events: upTo(3, eventOut) }),
      again: allOf({
        parked: toolParked,
        waiting: upTo(1, turnWaiting),
        events: upTo(1, eventOut),
      }),
    }),
    run: ({ parked, answer, waiting }) => {
      const resumed = resumedEvents(parked, waiting.length);
      const { invocationId, resume } = parked;
      const refusal = refusalOf(parked, answer);
      if (refusal !== undefined) {
        return {
          again: {
            parked,
            waiting,
            events: [
              {
                type: 'error',
                invocationId,
                code: 'answer_refused',
                message: refusal,
              },
            ],
          },
        };
      }
      if (answer.isUpdate === true) {
        const known = { ...parked, request: answer.response ?? null };
        return { again: { parked: known, waiting, events: [pendingEvent(agentName, known)] } };
      }
      const events = [...resumed, answeredEvent(parked, answer)];
      if (answer.decision === 'approved') {
        const tool = options.tools.get(parked.name);
        if (tool?.external !== true) return { approved: { call: callOf(parked), events } };
        const { timeoutMs } = tool;
        return { handedOut: { parked: { ...parked, needs: 'result', timeoutMs }, events } };
      }
      if (answer.decision === 'answered' && resume !== undefined) {
        return { approved: { call: resumedCall(parked, resume, answer), events } };
      }
      const result = answeredResult(parked, answer);
      return { answered: { result, events: [...events, resultEvent(agentName, result)] } };
    },
  });

  const expire = pure('tool.expire', {
    take: { parked: toolParked, waiting: all(turnWaiting, { min: 0 }) },
    after: (parked) =>
      parked !== null && 'callId' in parked ? (parked.timeoutMs ?? Infinity) : Infinity,
    give: allOf({ result: toolResult, events: upTo(2, eventOut) }),
    run: ({ parked, waiting }) => {
      const message = `No answer came within ${(parked.timeoutMs ?? 0) / 1000} s.`;
      const result: CallResult = {
        ...callOf(parked),
        outcome: 'timeout',
        response: toolError('timeout', message),
      };
      return {
        result: resultOf(result),
        events: [
          ...resumedEvents(parked, waiting.length),
          resultEvent(agentName, resultOf(result)),
        ],
      };
    },
  });

  const wait = pure('turn.wait', {
    take: { turn: turnCurrent },
    read: { parked: all(toolParked) },
    unless: [toolCall, running(run), sessionWrite, turnWaiting],
    priority: -1,
    give: allOf({ turn: turnCurrent, waiting: turnWaiting, events: upTo(1, eventOut) }),
    run: ({ turn, parked }) => ({
      turn,
      waiting: null,
      events: [
        {
          type: 'turn.waiting',
          invocationId: turn.invocationId,
          stopReason: 'requires_action',
          callIds: parked.map(({ callId }) => callId),
        },
      ],
    }),
  });

  const reask = pure('turn.reask', {
    take: { batch: toolBatch, results: all(toolResult, { min: 0 }), budget: turnBudget },
    unless: busy,
    give: oneOf({
      ask: allOf({ request: modelRequest, said: append(conversation) }),
      // A tool whose result is the answer: the model is not asked to put it in its own words.
      done: allOf({ ending: turnEnding, said: append(conversation) }),
    }),
    run: ({ batch, results }) => {
      const { invocationId, round } = batch;
      const said = [answersOf(batch, results)];
      return results.some(({ actions }) => actions?.skipSummarization === true)
        ? { done: { ending: { stopReason: 'end_turn' }, said } }
        : { ask: { request: { invocationId, round: round + 1 }, said } };
    },
  });

  const conclude = pure('turn.conclude', {
    take: { batch: toolBatch, results: all(toolResult, { min: 0 }) },
    unless: [...busy, turnBudget],
    priority: -1,
    give: allOf({ ending: turnEnding, said: append(conversation), events: upTo(1, eventOut) }),
    run: ({ batch, results }) => {
      const { invocationId } = batch;
      const content: Content = { role: 'model', parts: [{ text: options.budgetMessage }] };
      return {
        ending: { stopReason: 'budget_reached' },
        said: [answersOf(batch, results), { invocationId, content }],
        events: [{ type: 'agent.message', invocationId, author: agentName, content }],
      };
    },
  });

  return {
    run,
    subnet: net('tool-dispatch', {
      in: { toolBatch, toolCall, toolParked, toolResult, answerIn, turnBudget, turnCurrent, state },
      out: {
        modelRequest,
        turnEnding,
        turnCurrent,
        turnWaiting,
        sessionWrite,
        conversation,
        eventOut,
      },
      transitions: [run, answer, expire, wait, reask, conclude],
    }),
  };
}

/** Why an answer does not count; nothing when it does. */
function refusalOf(parked: ParkedCall, answer: Answer): string | undefined {
  if (answer.fingerprint !== undefined && answer.fingerprint !== parked.fingerprint) {
    return `The answer to call "${parked.callId}" was for other arguments: look at the call and answer again.`;
  }
  if (answer.decision === 'answered' && parked.needs === 'approval') {
    return `Call "${parked.callId}" waits for an approval, not for a result: approve or deny it.`;
  }
  if (answer.isUpdate === true && (answer.decision !== 'answered' || parked.resume !== undefined)) {
    return `Call "${parked.callId}" waits for an answer, not for news: answer it.`;
  }
  if (answer.decision === 'approved' && parked.needs === 'result') {
    return `Call "${parked.callId}" waits for its result: answer it.`;
  }
  return undefined;
}

function answeredEvent(
  { invocationId, callId }: ParkedCall,
  { decision, message }: Answer,
): LogEntry {
  return {
    type: 'tool.answered',
    invocationId,
    callId,
    decision,
    ...(message !== undefined && { message }),
  };
}

function resumedEvents({ invocationId }: ParkedCall, waiting: number): readonly LogEntry[] {
  return waiting > 0 ? [{ type: 'turn.resumed', invocationId }] : [];
}
