import { omitUndefined } from '../../core/internal.ts';
import type { LogEntry } from '../../core/index.ts';
import { all, allOf, each, matching, oneOf, pure, upTo } from '../../net/index.ts';
import type { Transition } from '../../net/index.ts';
import { toolError } from '../../tools/internal.ts';
import type { Tool } from '../../tools/index.ts';
import { pendingEvent, resultEvent } from '../tool-calls/call-events.ts';
import { sameTool } from '../tool-calls/call-labels.ts';
import { answeredResult, resumedCall } from '../tool-calls/answered-call.ts';
import { toCall, toCallResult } from '../tool-calls/call-result.ts';
import { turnResumed } from '../turn/turn-wait.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { answerIn, eventOut } from '../vocabulary/messages.ts';
import type { Answer } from '../vocabulary/messages.ts';
import { toolCall, toolParked, toolResult } from '../vocabulary/tool-call.ts';
import type { CallResult, ParkedCall } from '../vocabulary/tool-call.ts';
import { turnWaiting } from '../vocabulary/turn.ts';

/** Options of `answerCall`. */
export interface AnswerCallOptions extends AgentIdentity {
  readonly tools: ReadonlyMap<string, Tool>;
}

/**
 * The transition that applies an answer from outside to its parked call: the call runs, waits for its result, or gets
 * its result. An answer that does not fit is logged as an `answer_refused` error, and the call stays parked.
 */
export function answerCall(options: AnswerCallOptions): Transition {
  return pure('tool.answer', {
    take: {
      parked: matching(toolParked, ({ callId }) => callId),
      answer: matching(answerIn, ({ callId }) => callId),
      waiting: all(turnWaiting, { min: 0 }),
    },
    unless: [turnStopping],
    labels: sameTool(
      'parked',
      { alternative: 'approved', output: 'call' },
      { alternative: 'handedOut', output: 'parked' },
      { alternative: 'again', output: 'parked' },
    ),
    give: oneOf({
      approved: allOf({ call: toolCall, events: upTo(2, eventOut) }),
      // An approved external call: the client runs it, and the call waits for the result.
      handedOut: allOf({ parked: toolParked, events: upTo(2, eventOut) }),
      answered: allOf({ result: toolResult, events: upTo(3, eventOut) }),
      again: allOf({
        parked: toolParked,
        waiting: each('waiting', turnWaiting),
        events: upTo(1, eventOut),
      }),
    }),
    run: ({ parked, answer, waiting }) => {
      const resumed = turnResumed(parked.invocationId, waiting.length);
      const { invocationId, resume } = parked;
      const problem = findAnswerProblem(parked, answer);
      if (problem !== undefined) {
        return {
          again: {
            parked,
            waiting,
            events: [
              {
                type: 'error',
                invocationId,
                /**
                 * An answer does not fit the call that waits for it. The call still waits.
                 * @remedy Answer the call in the form that the message names.
                 */
                code: 'answer_refused',
                message: problem,
              },
            ],
          },
        };
      }
      if (answer.isUpdate === true) {
        const known = { ...parked, request: answer.response ?? null };
        return { again: { parked: known, waiting, events: [pendingEvent(options, known)] } };
      }
      const events = [...resumed, answeredEvent(parked, answer)];
      if (answer.decision === 'approved') {
        const tool = options.tools.get(parked.name);
        if (tool?.external !== true) return { approved: { call: toCall(parked), events } };
        const { timeoutMs } = tool;
        return { handedOut: { parked: { ...parked, needs: 'result', timeoutMs }, events } };
      }
      if (answer.decision === 'answered' && resume !== undefined) {
        return { approved: { call: resumedCall(parked, resume, answer), events } };
      }
      const result = answeredResult(parked, answer);
      return { answered: { result, events: [...events, resultEvent(options, result)] } };
    },
  });
}

/** The transition that gives a parked call the outcome `timeout` when its `timeoutMs` has passed. */
export function expireCall(identity: AgentIdentity): Transition {
  return pure('tool.expire', {
    take: { parked: toolParked, waiting: all(turnWaiting, { min: 0 }) },
    unless: [turnStopping],
    after: (parked) =>
      parked !== null && 'callId' in parked ? (parked.timeoutMs ?? Infinity) : Infinity,
    give: allOf({ result: toolResult, events: upTo(2, eventOut) }),
    run: ({ parked, waiting }) => {
      const message = `No answer came within ${(parked.timeoutMs ?? 0) / 1000} s.`;
      const result: CallResult = {
        ...toCall(parked),
        outcome: 'timeout',
        response: toolError('timeout', message),
      };
      return {
        result: toCallResult(result),
        events: [
          ...turnResumed(parked.invocationId, waiting.length),
          resultEvent(identity, toCallResult(result)),
        ],
      };
    },
  });
}

/** Why an answer is refused; undefined if it is accepted. */
function findAnswerProblem(parked: ParkedCall, answer: Answer): string | undefined {
  if (answer.fingerprint !== undefined && answer.fingerprint !== parked.fingerprint) {
    return `The answer to call "${parked.callId}" was for other arguments: look at the call and answer again.`;
  }
  if (answer.decision === 'answered' && parked.needs === 'approval') {
    return `Call "${parked.callId}" waits for an approval, not for a result: approve or deny it.`;
  }
  if (answer.isUpdate === true && (answer.decision !== 'answered' || parked.resume !== undefined)) {
    return `Call "${parked.callId}" waits for an answer, not for a progress update: answer it.`;
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
    ...omitUndefined({ message }),
  };
}
