import type { Content, LogEntry } from '../../core/index.ts';
import {
  all,
  allOf,
  append,
  each,
  matching,
  net,
  oneOf,
  pure,
  running,
  upTo,
} from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { toolError } from '../../tools/tool/tool-response.ts';
import {
  answeredResult,
  toToolMessage,
  toCall,
  toCallResult,
  resumedCall,
} from '../calls/call-result.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import { persistToolResult } from './persist-tool-result.ts';
import { answerIn, eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { turnBudget, turnCurrent, turnEnding, turnWaiting } from '../vocabulary/turn.ts';
import { stopRequested, turnStopping } from '../vocabulary/control.ts';
import { modelRequest } from '../vocabulary/model-call.ts';
import {
  toolRequested,
  toolBatch,
  toolCall,
  toolParked,
  toolCompleted,
  toolResult,
  toolWrite,
} from '../vocabulary/tool-call.ts';
import type { Answer } from '../vocabulary/messages.ts';
import type { Batch, CallResult, ParkedCall } from '../vocabulary/tool-call.ts';
import { pendingEvent } from '../calls/call-events.ts';
import { resultEvent } from '../calls/call-events.ts';
import { turnResumed } from '../turn/turn-wait.ts';
import { runTool } from './run-tool.ts';
import type { RunToolOptions } from './run-tool.ts';
import { branchField, toConversationItem } from '../vocabulary/agent-identity.ts';
import {
  afterToolEffect,
  beforeToolEffect,
  hasBeforeTool,
  hasAfterTool,
} from './tool-callbacks.ts';
import { turnTransfer, UnknownTransferError } from '../transfer/transfer.ts';
import { omitAlternatives } from '../vocabulary/omit-outputs.ts';
import type { CallEffects } from '../turn/turn-resources.ts';
import { turnWait } from '../turn/turn-wait.ts';

/** Which tools run and how many at once, who sees their calls and results, and what is said when no budget is left. */
export interface ToolDispatchOptions extends RunToolOptions {
  /** The last words of a turn whose re-ask budget is spent. */
  readonly budgetMessage: string;
  readonly callbacks?: Callbacks;
  /** There are agents to hand the turn to. */
  readonly transfers?: boolean;
}

/**
 * Runs the calls of a model's answer, all at once, each result journaled as it comes; parks those that wait for
 * someone; and asks the model again when the last one has its result. The join needs no counter: it fires when no call
 * of the batch is anywhere else.
 */
export function toolDispatch(options: ToolDispatchOptions): {
  readonly subnet: Net;
  readonly callEffects: CallEffects;
} {
  const { agentName, tools, callbacks = {}, transfers = false } = options;
  const hasAfter = hasAfterTool(callbacks);
  const run = runTool({ ...options, hasAfterTool: hasAfter });
  const callbackOptions = { ...options, tools, callbacks };
  const before = hasBeforeTool(callbacks) ? [beforeToolEffect(callbackOptions)] : [];
  const after = hasAfter ? [afterToolEffect(callbackOptions)] : [];
  const busy = [
    toolCall,
    toolParked,
    running(run),
    toolWrite,
    ...before.flatMap((t) => [toolRequested, running(t)]),
    ...after.flatMap((t) => [toolCompleted, running(t)]),
  ];

  const answer = pure('tool.answer', {
    take: {
      parked: matching(toolParked, ({ callId }) => callId),
      answer: matching(answerIn, ({ callId }) => callId),
      waiting: all(turnWaiting, { min: 0 }),
    },
    unless: [turnStopping],
    give: oneOf({
      approved: allOf({ call: toolCall, events: upTo(2, eventOut) }),
      // It may be done now, by whoever does it outside: it waits for the result.
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

  const expire = pure('tool.expire', {
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
          resultEvent(options, toCallResult(result)),
        ],
      };
    },
  });

  const reask = pure('turn.reask', {
    take: { batch: toolBatch, results: all(toolResult, { min: 0 }), budget: turnBudget },
    unless: [...busy, turnStopping],
    give: oneOf({
      ask: allOf({
        request: modelRequest,
        said: append(conversation),
        events: upTo(1, eventOut),
      }),
      // A tool whose result is the answer: the model is not asked to put it in its own words.
      done: allOf({ ending: turnEnding, said: append(conversation) }),
      // A tool that hands the turn to another agent.
      transfer: allOf({ transfer: turnTransfer }),
    }),
    run: ({ batch: asked, results }) => {
      const batch = withEscalation(asked, results);
      const { invocationId, round, escalate, node } = batch;
      const continuation = { round: round + 1, ...(escalate === true && { escalate }) };
      const within = node !== undefined && { node };
      const to = results.find(({ actions }) => actions?.transferToAgent !== undefined)?.actions
        ?.transferToAgent;
      if (to !== undefined && transfers)
        return { transfer: { transfer: { invocationId, to, batch, results } } };
      const said = [toConversationItem(options, toToolMessage(batch, results))];
      if (results.some(({ actions }) => actions?.skipSummarization === true))
        return {
          done: { ending: { stopReason: 'end_turn', invocationId, ...continuation }, said },
        };
      const events = to === undefined ? [] : [unknownTransferEvent(invocationId, to)];
      return { ask: { request: { invocationId, ...continuation, ...within }, said, events } };
    },
  });

  const conclude = pure('turn.conclude', {
    take: { batch: toolBatch, results: all(toolResult, { min: 0 }) },
    unless: [...busy, turnBudget, turnStopping],
    priority: -1,
    give: allOf({ ending: turnEnding, said: append(conversation), events: upTo(1, eventOut) }),
    run: ({ batch: asked, results }) => {
      const batch = withEscalation(asked, results);
      const { invocationId, round, escalate } = batch;
      const content: Content = { role: 'model', parts: [{ text: options.budgetMessage }] };
      return {
        ending: {
          stopReason: 'budget_reached',
          invocationId,
          round: round + 1,
          ...(escalate === true && { escalate }),
        },
        said: [toToolMessage(batch, results), { invocationId, content }].map((line) =>
          toConversationItem(options, line),
        ),
        events: [
          {
            type: 'agent.message',
            invocationId,
            author: agentName,
            ...branchField(options),
            content,
          },
        ],
      };
    },
  });

  const reaskTransition = transfers ? reask : omitAlternatives(reask, 'transfer');
  return {
    callEffects: {
      beforeTool: before,
      runTool: [run],
      afterTool: after,
      isUnsafeToRerun: (tool) => tools.get(tool)?.onCrash !== 'rerun',
    },
    subnet: net('tool-dispatch', {
      in: {
        ...(before.length > 0 && { toolAsked: toolRequested }),
        ...(after.length > 0 && { toolRan: toolCompleted }),
        toolBatch,
        toolCall,
        toolParked,
        toolResult,
        toolWrite,
        answerIn,
        turnBudget,
        turnCurrent,
        turnStopping,
        conversation,
        state,
      },
      out: {
        ...(before.length > 0 && { sessionWrite }),
        ...(transfers && { turnTransfer }),
        modelRequest,
        stopAsked: stopRequested,
        turnStopping,
        turnEnding,
        turnCurrent,
        turnWaiting,
        toolWrite,
        conversation,
        eventOut,
      },
      transitions: [
        ...before,
        run,
        ...after,
        persistToolResult(options),
        answer,
        expire,
        ...(options.multiAgent === undefined
          ? [turnWait({ parked: toolParked, idle: [toolCall, running(run), toolWrite] })]
          : []),
        reaskTransition,
        conclude,
      ],
    }),
  };
}

/** The batch, and that one of its tools asked to leave the loop. */
function withEscalation(batch: Batch, results: readonly CallResult[]): Batch {
  return results.some(({ actions }) => actions?.escalate === true)
    ? { ...batch, escalate: true }
    : batch;
}

/** Why an answer does not count; nothing when it does. */
function findAnswerProblem(parked: ParkedCall, answer: Answer): string | undefined {
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

function unknownTransferEvent(invocationId: string, to: string): LogEntry {
  const { code, message } = new UnknownTransferError(to, []);
  return { type: 'error', invocationId, code, message };
}
