import { omitUndefined } from '../../core/internal.ts';
import type { Content, LogEntry } from '../../core/index.ts';
import { all, allOf, append, net, oneOf, pure, running, upTo } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { toToolMessage } from '../tool-calls/call-result.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import { answerCall, expireCall } from './answer-call.ts';
import { persistToolResult } from './persist-tool-result.ts';
import { answerIn, eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { turnBudget, turnCurrent, turnEnding, turnWaiting } from '../vocabulary/turn.ts';
import { stopRequested, turnStopping } from '../vocabulary/control.ts';
import { modelRequest } from '../vocabulary/model-call.ts';
import { sessionPaused } from '../vocabulary/session.ts';
import {
  toolRequested,
  toolBatch,
  toolCall,
  toolParked,
  toolCompleted,
  toolResult,
  toolWrite,
} from '../vocabulary/tool-call.ts';
import type { Batch, CallResult } from '../vocabulary/tool-call.ts';
import { runTool } from './run-tool.ts';
import type { RunToolOptions } from './run-tool.ts';
import { toConversationItem } from '../vocabulary/agent-identity.ts';
import { agentMessageEvent } from '../vocabulary/agent-message.ts';
import {
  afterToolEffect,
  beforeToolEffect,
  hasBeforeTool,
  hasAfterTool,
} from './tool-callbacks.ts';
import { turnTransfer, UnknownTransferError } from '../transfer/transfer.ts';
import { omitAlternatives } from '../../net/internal.ts';
import type { CallEffects } from '../turn/turn-resources.ts';
import { turnWait } from '../turn/turn-wait.ts';

/** Options of `toolDispatch`: tools and concurrency, callbacks, and the message when the re-ask budget is used up. */
export interface ToolDispatchOptions extends RunToolOptions {
  /** The final message of a turn whose re-ask budget is used up. */
  readonly budgetMessage: string;
  readonly callbacks?: Callbacks;
  /** True if the agent can transfer the turn. */
  readonly transfers?: boolean;
}

/**
 * Runs the calls of a model's answer concurrently and journals each result as it arrives. Calls that need an answer from
 * outside are parked. When all calls have a result, the model is called again. The join needs no counter: it fires when
 * no call of the batch is in any other place.
 */
export function toolDispatch(options: ToolDispatchOptions): {
  readonly subnet: Net;
  readonly callEffects: CallEffects;
} {
  const { tools, callbacks = {}, transfers = false } = options;
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

  const reask = pure('turn.continue', {
    formerNames: ['turn.reask'],
    take: { batch: toolBatch, results: all(toolResult, { min: 0 }), budget: turnBudget },
    unless: [...busy, turnStopping],
    give: oneOf({
      ask: allOf({
        request: modelRequest,
        said: append(conversation),
        events: upTo(1, eventOut),
      }),
      // A tool result with skipSummarization ends the turn without another model call.
      done: allOf({ ending: turnEnding, said: append(conversation) }),
      // A tool requested a transfer to another agent.
      transfer: allOf({ transfer: turnTransfer }),
    }),
    run: ({ batch: taken, results }) => {
      const batch = withEscalation(taken, results);
      const { invocationId, round, escalate, node } = batch;
      const continuation = {
        round: round + 1,
        ...omitUndefined({ escalate: escalate === true ? escalate : undefined }),
      };
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
    run: ({ batch: taken, results }) => {
      const batch = withEscalation(taken, results);
      const { invocationId, round, escalate } = batch;
      const content: Content = { role: 'model', parts: [{ text: options.budgetMessage }] };
      return {
        ending: {
          stopReason: 'budget_reached',
          invocationId,
          round: round + 1,
          ...omitUndefined({ escalate: escalate === true ? escalate : undefined }),
        },
        said: [toToolMessage(batch, results), { invocationId, content }].map((line) =>
          toConversationItem(options, line),
        ),
        events: [agentMessageEvent(options, invocationId, content)],
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
        ...omitUndefined({
          toolAsked: before.length > 0 ? toolRequested : undefined,
          toolRan: after.length > 0 ? toolCompleted : undefined,
        }),
        toolBatch,
        toolCall,
        toolParked,
        toolResult,
        toolWrite,
        answerIn,
        turnBudget,
        turnCurrent,
        turnStopping,
        sessionPaused,
        conversation,
        state,
      },
      out: {
        ...omitUndefined({
          sessionWrite: before.length > 0 ? sessionWrite : undefined,
          turnTransfer: transfers ? turnTransfer : undefined,
        }),
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
        answerCall(options),
        expireCall(options),
        ...(options.multiAgent === undefined
          ? [turnWait({ parked: toolParked, idle: busy.filter((place) => place !== toolParked) })]
          : []),
        reaskTransition,
        conclude,
      ],
    }),
  };
}

/** The batch, with `escalate` if one of its tools requested it. */
export function withEscalation(batch: Batch, results: readonly CallResult[]): Batch {
  return results.some(({ actions }) => actions?.escalate === true)
    ? { ...batch, escalate: true }
    : batch;
}

function unknownTransferEvent(invocationId: string, to: string): LogEntry {
  const { code, message } = new UnknownTransferError(to, []);
  return { type: 'error', invocationId, code, message };
}
