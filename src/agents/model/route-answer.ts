import { TRANSFER_TOOL } from '../../tools/tool/reserved-tool-names.ts';
import { addUsage, getFunctionCalls, noUsage } from '../../core/index.ts';
import type { FunctionCall, JsonObject, LogEntry, StopReason } from '../../core/index.ts';
import { contentText } from '../../core/index.ts';
import { allOf, append, net, oneOf, pure, put, upTo } from '../../net/index.ts';
import type { Net, Transition } from '../../net/index.ts';
import type { Tool } from '../../tools/index.ts';
import { getSessionKey } from '../vocabulary/agent-host.ts';
import {
  toRequestedCall,
  admitCall,
  MAX_PARALLEL_CALLS,
  rejectedResult,
  rejectUnknown,
} from '../calls/admit-call.ts';
import { callEvent, callEvents } from '../calls/call-events.ts';
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
import { resultEvent } from '../calls/call-events.ts';
import { branchField, toConversationItem } from '../vocabulary/agent-identity.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { turnTransfer } from '../transfer/transfer.ts';
import { omitAlternatives, omitOutputs } from '../vocabulary/omit-outputs.ts';

/** What decides which answers an agent's router can tell apart, and what it does with calls. */
export interface RouterOptions extends AgentIdentity {
  readonly tools: ReadonlyMap<string, Tool>;
  /** State that keeps the agent's last words. */
  readonly outputKey?: string;
  /** A callback looks at each call before it is judged. */
  readonly hasBeforeTool?: boolean;
  /** There are agents to hand the turn to. */
  readonly transfers?: boolean;
}

/**
 * Decides what a model's answer means: the turn goes to another agent, calls are to be made, or the agent is done. A
 * transfer goes before all other calls: those are answered, and not made.
 */
export function router(options: RouterOptions): Net {
  const { agentName, tools, outputKey, hasBeforeTool = false, transfers = false } = options;
  const route = pure('model.route', {
    take: { response: modelResponse, turn: turnCurrent },
    unless: [turnStopping],
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
        // Above the bound the model's surplus is answered, so this has no bound of its own worth proving.
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
      const { invocationId, round, content, escalate, node, usage = noUsage } = response;
      const calls = getFunctionCalls(response);
      const next = { invocationId, round: turn.round + 1, usage: addUsage(turn.usage, usage) };
      const said =
        content.parts.length === 0 ? [] : [toConversationItem(options, { invocationId, content })];
      const message = answerEvent(options, response);
      const continuation = { round: round + 1, ...(escalate === true && { escalate }) };
      if (calls.length === 0) {
        const output = toOutputDelta(response, outputKey);
        return {
          done: {
            turn: next,
            ending: { stopReason: toStopReason(response), invocationId, ...continuation },
            said,
            ...(output !== undefined && { output: { set: output } }),
            events: [
              output === undefined ? message : { ...message, actions: { stateDelta: output } },
            ],
          },
        };
      }
      const facts = { invocationId, agentName, sessionKey: getSessionKey(host) };
      const requested = calls.map((call, index) => ({
        ...toRequestedCall(call, index, facts),
        ...(node !== undefined && { node }),
      }));
      const batch: Batch = {
        invocationId,
        round,
        ...(escalate === true && { escalate }),
        ...(node !== undefined && { node }),
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
              ...requested.map((call) => callEvent(options, call)),
              ...results.map((result) => resultEvent(options, result)),
            ],
          },
        };
      }
      if (hasBeforeTool) {
        const judged = requested.map((call) => ({
          requested: call,
          result: rejectUnknown(call, tools),
        }));
        const refusals = judged.flatMap(({ requested: call, result }) =>
          result === undefined ? [] : [{ requested: call, result }],
        );
        return {
          calls: {
            turn: next,
            batch,
            asked: judged.flatMap((one) => (one.result === undefined ? [one.requested] : [])),
            results: refusals.map(({ result }) => result),
            said,
            events: [message, ...refusals.flatMap((one) => callEvents(options, one))],
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
          events: [message, ...admitted.flatMap((one) => callEvents(options, one))],
        },
      };
    },
  });
  return net('router', {
    in: { modelResponse, turnCurrent, turnStopping },
    out: {
      ...(hasBeforeTool && { toolAsked: toolRequested }),
      ...(transfers && { turnTransfer }),
      ...(outputKey !== undefined && { state }),
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

/** The router with what this agent can give. */
function omitUnused(route: Transition, options: RouterOptions): Transition {
  const { outputKey, hasBeforeTool = false, transfers = false } = options;
  const trimmed = omitOutputs(
    route,
    ...(hasBeforeTool ? ['calls', 'parked'] : ['asked']),
    ...(outputKey === undefined ? ['output'] : []),
  );
  return transfers ? trimmed : omitAlternatives(trimmed, 'transfer');
}

/** The first call that hands the turn over. */
function findTransferCall(calls: readonly FunctionCall[]): FunctionCall | undefined {
  return calls.find(({ name }) => name === TRANSFER_TOOL);
}

function readTargetName({ args }: FunctionCall): string {
  const { agent_name: name } = args;
  return typeof name === 'string' ? name : JSON.stringify(name ?? null);
}

function notRunResult(call: RequestedCall): CallResult {
  return rejectedResult(call, 'cancelled', 'Not made: the turn was handed to another agent.');
}

function answerEvent(
  identity: AgentIdentity,
  { invocationId, content, usage, finishReason, providerMetadata, node }: ModelAnswer,
): Extract<LogEntry, { readonly type: 'agent.message' }> {
  return {
    type: 'agent.message',
    invocationId,
    author: identity.agentName,
    ...branchField(identity),
    content,
    finishReason,
    ...(usage !== undefined && { usage }),
    ...(providerMetadata !== undefined && { providerMetadata }),
    ...(node !== undefined && { nodeInfo: node }),
  };
}

/** What the agent's last words are kept as. */
function toOutputDelta({ content }: ModelAnswer, key: string | undefined): JsonObject | undefined {
  return key === undefined ? undefined : { [key]: contentText(content) };
}

function toStopReason({ finishReason }: ModelAnswer): StopReason {
  if (finishReason === 'max_tokens') return 'max_tokens';
  return finishReason === 'refusal' ? 'refusal' : 'end_turn';
}
