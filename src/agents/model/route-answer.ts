import { omitUndefined } from '../../core/internal.ts';
import { TRANSFER_TOOL, withClientTools } from '../../tools/internal.ts';
import { addUsage, getFunctionCalls, noUsage } from '../../core/index.ts';
import type {
  AgentMessage,
  CallId,
  FunctionCall,
  JsonObject,
  StopReason,
} from '../../core/index.ts';
import { contentText } from '../../core/index.ts';
import { allOf, append, net, oneOf, pure, put, upTo } from '../../net/index.ts';
import type { Net, Transition } from '../../net/index.ts';
import type { Tool } from '../../tools/index.ts';
import { getMetadata, getSessionKey, isIdentified } from '../vocabulary/agent-host.ts';
import {
  toRequestedCall,
  admitCall,
  rejectedResult,
  rejectUnknown,
} from '../tool-calls/admit-call.ts';
import { listRunnableTools, listWaitingTools } from '../tool-calls/call-labels.ts';
import { MAX_PARALLEL_CALLS } from '../tool-calls/max-parallel-calls.ts';
import { callEvent, callEvents } from '../tool-calls/call-events.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { state } from '../vocabulary/state.ts';
import { turnCurrent, turnEnding } from '../vocabulary/turn.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { modelResponse } from '../vocabulary/model-call.ts';
import {
  toolRequested,
  toolBatch,
  toolCall,
  toolParked,
  toolResult,
} from '../vocabulary/tool-call.ts';
import type { ModelAnswer } from '../vocabulary/model-call.ts';
import type { RequestedCall, Batch, CallResult } from '../vocabulary/tool-call.ts';
import { resultEvent } from '../tool-calls/call-events.ts';
import { toConversationItem } from '../vocabulary/agent-identity.ts';
import { agentMessageEvent } from '../vocabulary/agent-message.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { turnTransfer } from '../transfer/transfer.ts';
import { omitAlternatives, omitOutputs } from '../../net/internal.ts';

/** Options of `router`: which outputs it has and how it handles calls. */
export interface RouterOptions extends AgentIdentity {
  readonly tools: ReadonlyMap<string, Tool>;
  /** The state key that stores the text of the agent's final answer. */
  readonly outputKey?: string;
  /** True if `beforeTool` callbacks process each call before it is validated. */
  readonly hasBeforeTool?: boolean;
  /** True if the agent can transfer the turn. */
  readonly transfers?: boolean;
}

/**
 * Routes a model's answer: the turn is transferred, calls are made, or the agent is done. If an answer contains a
 * transfer, its other calls do not run; they get the outcome `cancelled`.
 */
export function router(options: RouterOptions): Net {
  const { agentName, outputKey, hasBeforeTool = false, transfers = false } = options;
  const route = pure('model.route', {
    take: { response: modelResponse, turn: turnCurrent },
    unless: [turnStopping],
    labels: [
      { alternative: 'calls', output: 'calls', only: listRunnableTools(options.tools) },
      // The tools of a client wait, too.
      { alternative: 'calls', output: 'parked', known: listWaitingTools(options.tools) },
    ],
    give: oneOf({
      transfer: allOf({
        turn: turnCurrent,
        transfer: turnTransfer,
        said: append(conversation),
        events: upTo(100_000, eventOut),
      }),
      calls: allOf({
        turn: turnCurrent,
        batch: toolBatch,
        asked: upTo(MAX_PARALLEL_CALLS, toolRequested),
        calls: upTo(MAX_PARALLEL_CALLS, toolCall),
        parked: upTo(MAX_PARALLEL_CALLS, toolParked),
        // Calls above MAX_PARALLEL_CALLS get an error result each, so their number has no useful bound.
        results: upTo(100_000, toolResult),
        said: append(conversation),
        events: upTo(100_000, eventOut),
      }),
      done: allOf({
        turn: turnCurrent,
        ending: turnEnding,
        said: append(conversation),
        output: put(state),
        events: upTo(1, eventOut),
      }),
    }),
    run: ({ response, turn }, { host }) => {
      const isLongRunning = (toolName: string): boolean =>
        isIdentified(host, agentName) && options.tools.get(toolName)?.longRunning === true;
      const { invocationId, round, content, escalate, node, usage = noUsage } = response;
      const calls = getFunctionCalls(response);
      const next = {
        ...turn,
        invocationId,
        round: turn.round + 1,
        usage: addUsage(turn.usage, usage),
      };
      const said =
        content.parts.length === 0 ? [] : [toConversationItem(options, { invocationId, content })];
      const longRunning = calls.filter(({ name }) => isLongRunning(name)).map(({ id }) => id);
      const message = answerEvent(options, response, longRunning);
      const continuation = {
        round: round + 1,
        ...omitUndefined({ escalate: escalate === true ? escalate : undefined }),
      };
      if (calls.length === 0) {
        const output = toOutputDelta(response, outputKey);
        return {
          done: {
            turn: next,
            ending: { stopReason: toStopReason(response), invocationId, ...continuation },
            said,
            ...omitUndefined({ output: output === undefined ? undefined : { set: output } }),
            events: [
              output === undefined ? message : { ...message, actions: { stateDelta: output } },
            ],
          },
        };
      }
      const tools = withClientTools(options.tools, getMetadata(host, invocationId).clientTools);
      const caller = { ...options, tools };
      const facts = { invocationId, agentName, sessionKey: getSessionKey(host) };
      const requested = calls.map((call, index) => ({
        ...toRequestedCall(call, index, facts),
        ...omitUndefined({ node }),
      }));
      const batch: Batch = {
        invocationId,
        round,
        ...omitUndefined({ escalate: escalate === true ? escalate : undefined, node }),
        calls: calls.map(({ id, name }) => ({ callId: id, name })),
      };
      const to = transfers ? findTransferCall(calls) : undefined;
      if (to !== undefined) {
        const results = requested.flatMap((call) =>
          call.callId === to.id ? [] : notRunResult(call),
        );
        const callId = to.id;
        return {
          transfer: {
            turn: next,
            transfer: { invocationId, to: readTargetName(to), batch, results, callId },
            said,
            events: [
              message,
              ...requested.map((call) => callEvent(caller, call)),
              ...results.map((result) => resultEvent(options, result)),
            ],
          },
        };
      }
      if (hasBeforeTool) {
        const checked = requested.map((call) => ({
          requested: call,
          result: rejectUnknown(call, tools),
        }));
        const rejected = checked.flatMap(({ requested: call, result }) =>
          result === undefined ? [] : [{ requested: call, result }],
        );
        return {
          calls: {
            turn: next,
            batch,
            asked: checked.flatMap((one) => (one.result === undefined ? [one.requested] : [])),
            results: rejected.map(({ result }) => result),
            said,
            events: [message, ...rejected.flatMap((one) => callEvents(caller, one))],
          },
        };
      }
      const admitted = requested.map((call) => admitCall(call, facts, tools));
      return {
        calls: {
          turn: next,
          batch,
          calls: admitted.flatMap(({ call }) => call ?? []),
          parked: admitted.flatMap(({ parked }) => parked ?? []),
          results: admitted.flatMap(({ result }) => result ?? []),
          said,
          events: [message, ...admitted.flatMap((one) => callEvents(caller, one))],
        },
      };
    },
  });
  return net('router', {
    in: { modelResponse, turnCurrent, turnStopping },
    out: {
      ...omitUndefined({
        toolAsked: hasBeforeTool ? toolRequested : undefined,
        turnTransfer: transfers ? turnTransfer : undefined,
        state: outputKey === undefined ? undefined : state,
      }),
      toolBatch,
      ...(!hasBeforeTool && { toolCall, toolParked }),
      toolResult,
      conversation,
      turnCurrent,
      turnEnding,
      eventOut,
    },
    transitions: [omitUnused(route, options)],
  });
}

/** The router without the outputs that this agent never produces. */
function omitUnused(route: Transition, options: RouterOptions): Transition {
  const { outputKey, hasBeforeTool = false, transfers = false } = options;
  const trimmed = omitOutputs(
    route,
    ...(hasBeforeTool ? ['calls', 'parked'] : ['asked']),
    ...(outputKey === undefined ? ['output'] : []),
  );
  return transfers ? trimmed : omitAlternatives(trimmed, 'transfer');
}

/** The first transfer call of an answer. */
function findTransferCall(calls: readonly FunctionCall[]): FunctionCall | undefined {
  return calls.find(({ name }) => name === TRANSFER_TOOL);
}

function readTargetName({ args }: FunctionCall): string {
  // Each prompt format has its own name for the argument.
  const { agent_name: name = args['agentName'] } = args;
  return typeof name === 'string' ? name : JSON.stringify(name ?? null);
}

function notRunResult(call: RequestedCall): CallResult {
  return rejectedResult(call, 'cancelled', 'Not run: the turn was transferred to another agent.');
}

function answerEvent(
  identity: AgentIdentity,
  { invocationId, content, usage, finishReason, providerMetadata, node }: ModelAnswer,
  longRunning: readonly CallId[],
): AgentMessage {
  const details = {
    finishReason,
    usage,
    providerMetadata,
    longRunningToolIds: longRunning.length > 0 ? longRunning : undefined,
    nodeInfo: node,
  };
  return agentMessageEvent(identity, invocationId, content, details);
}

/** The state delta that stores the text of the agent's final answer under its output key. */
function toOutputDelta({ content }: ModelAnswer, key: string | undefined): JsonObject | undefined {
  return key === undefined ? undefined : { [key]: contentText(content) };
}

function toStopReason({ finishReason }: ModelAnswer): StopReason {
  if (finishReason === 'max_tokens') return 'max_tokens';
  return finishReason === 'refusal' ? 'refusal' : 'end_turn';
}
