import type { Content, LogEntry } from '../core/index.ts';
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
} from '../net/index.ts';
import type { Net } from '../net/index.ts';
import { toolError } from '../tools/tool-response.ts';
import { answeredResult, answersOf, callOf, resultOf, resumedCall } from './call-result.ts';
import type { Callbacks } from './callbacks.ts';
import { persistResult } from './persist-result.ts';
import {
  answerIn,
  conversation,
  eventOut,
  modelRequest,
  sessionWrite,
  state,
  stopAsked,
  toolAsked,
  toolBatch,
  toolCall,
  toolParked,
  toolRan,
  toolResult,
  toolWrite,
  turnBudget,
  turnCurrent,
  turnEnding,
  turnStopping,
  turnWaiting,
} from './places.ts';
import type { Answer, Batch, CallResult, ParkedCall } from './places.ts';
import { pendingEvent } from './pending-event.ts';
import { resultEvent } from './result-event.ts';
import { resumedEvents } from './resumed-events.ts';
import { runTool } from './run-tool.ts';
import type { RunToolOptions } from './run-tool.ts';
import { branchOf, lineOf } from './speaking.ts';
import { afterToolEffect, beforeToolEffect, isGuarded, isObserved } from './tool-callbacks.ts';
import { turnTransfer, UnknownTransferError } from './transfer.ts';
import { withoutAlternatives } from './trimmed-give.ts';
import type { CallEffects } from './turn-part.ts';
import { turnWait } from './turn-wait.ts';

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
 * of the batch is anywhere else. (Seed name: ToolDispatchSubnet, with the re-ask loop of LlmAgentSubnet.)
 */
export function toolDispatch(options: ToolDispatchOptions): {
  readonly subnet: Net;
  readonly callEffects: CallEffects;
} {
  const { agentName, tools, callbacks = {}, transfers = false } = options;
  const observed = isObserved(callbacks);
  const run = runTool({ ...options, observed });
  const asking = { ...options, tools, callbacks };
  const before = isGuarded(callbacks) ? [beforeToolEffect(asking)] : [];
  const after = observed ? [afterToolEffect(asking)] : [];
  const busy = [
    toolCall,
    toolParked,
    running(run),
    toolWrite,
    ...before.flatMap((t) => [toolAsked, running(t)]),
    ...after.flatMap((t) => [toolRan, running(t)]),
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
      const resumed = resumedEvents(parked.invocationId, waiting.length);
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
        return { again: { parked: known, waiting, events: [pendingEvent(options, known)] } };
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
        ...callOf(parked),
        outcome: 'timeout',
        response: toolError('timeout', message),
      };
      return {
        result: resultOf(result),
        events: [
          ...resumedEvents(parked.invocationId, waiting.length),
          resultEvent(options, resultOf(result)),
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
      const batch = escalating(asked, results);
      const { invocationId, round, escalate, node } = batch;
      const goesOn = { round: round + 1, ...(escalate === true && { escalate }) };
      const within = node !== undefined && { node };
      const to = results.find(({ actions }) => actions?.transferToAgent !== undefined)?.actions
        ?.transferToAgent;
      if (to !== undefined && transfers)
        return { transfer: { transfer: { invocationId, to, batch, results } } };
      const said = [lineOf(options, answersOf(batch, results))];
      if (results.some(({ actions }) => actions?.skipSummarization === true))
        return { done: { ending: { stopReason: 'end_turn', invocationId, ...goesOn }, said } };
      const events = to === undefined ? [] : [unknownTransfer(invocationId, to)];
      return { ask: { request: { invocationId, ...goesOn, ...within }, said, events } };
    },
  });

  const conclude = pure('turn.conclude', {
    take: { batch: toolBatch, results: all(toolResult, { min: 0 }) },
    unless: [...busy, turnBudget, turnStopping],
    priority: -1,
    give: allOf({ ending: turnEnding, said: append(conversation), events: upTo(1, eventOut) }),
    run: ({ batch: asked, results }) => {
      const batch = escalating(asked, results);
      const { invocationId, round, escalate } = batch;
      const content: Content = { role: 'model', parts: [{ text: options.budgetMessage }] };
      return {
        ending: {
          stopReason: 'budget_reached',
          invocationId,
          round: round + 1,
          ...(escalate === true && { escalate }),
        },
        said: [answersOf(batch, results), { invocationId, content }].map((line) =>
          lineOf(options, line),
        ),
        events: [
          {
            type: 'agent.message',
            invocationId,
            author: agentName,
            ...branchOf(options),
            content,
          },
        ],
      };
    },
  });

  const asksAgain = transfers ? reask : withoutAlternatives(reask, 'transfer');
  return {
    callEffects: {
      asking: before,
      running: [run],
      ran: after,
      mayNotRunAgain: (tool) => tools.get(tool)?.onCrash !== 'rerun',
    },
    subnet: net('tool-dispatch', {
      in: {
        ...(before.length > 0 && { toolAsked }),
        ...(after.length > 0 && { toolRan }),
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
        stopAsked,
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
        persistResult(options),
        answer,
        expire,
        ...(options.among === undefined
          ? [turnWait({ parked: toolParked, idle: [toolCall, running(run), toolWrite] })]
          : []),
        asksAgain,
        conclude,
      ],
    }),
  };
}

/** The batch, and that one of its tools asked to leave the loop. */
function escalating(batch: Batch, results: readonly CallResult[]): Batch {
  return results.some(({ actions }) => actions?.escalate === true)
    ? { ...batch, escalate: true }
    : batch;
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

function unknownTransfer(invocationId: string, to: string): LogEntry {
  const { code, message } = new UnknownTransferError(to, []);
  return { type: 'error', invocationId, code, message };
}
