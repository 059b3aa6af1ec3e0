import { TRANSFER_TOOL } from '../tools/reserved-tool-names.ts';
import { addUsage, functionCallsOf, noUsage } from '../core/index.ts';
import type { FunctionCall, JsonObject, LogEntry, StopReason } from '../core/index.ts';
import { textOf } from '../core/index.ts';
import { allOf, append, net, oneOf, pure, put, upTo } from '../net/index.ts';
import type { Net, Transition } from '../net/index.ts';
import type { Tool } from '../tools/index.ts';
import { sessionKeyOf } from './host.ts';
import {
  askedCallOf,
  callEvent,
  callEvents,
  judgeCall,
  MAX_PARALLEL_CALLS,
  refused,
  refusedAtOnce,
} from './judge-call.ts';
import {
  conversation,
  eventOut,
  modelResponse,
  state,
  toolAsked,
  toolBatch,
  toolCall,
  toolParked,
  toolResult,
  turnCurrent,
  turnEnding,
  turnStopping,
} from './places.ts';
import type { AskedCall, Batch, CallResult, ModelAnswer } from './places.ts';
import { resultEvent } from './result-event.ts';
import { branchOf, lineOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';
import { turnTransfer } from './transfer.ts';
import { withoutAlternatives, withoutOutputs } from './trimmed-give.ts';

/** What decides which answers an agent's router can tell apart, and what it does with calls. */
export interface RouterOptions extends Speaking {
  readonly tools: ReadonlyMap<string, Tool>;
  /** State that keeps the agent's last words. */
  readonly outputKey?: string;
  /** A callback looks at each call before it is judged. */
  readonly guarded?: boolean;
  /** There are agents to hand the turn to. */
  readonly transfers?: boolean;
}

/**
 * Decides what a model's answer means: the turn goes to another agent, calls are to be made, or the agent is done. A
 * transfer goes before all other calls: those are answered, and not made. (Seed name: RouterSubnet.)
 */
export function router(options: RouterOptions): Net {
  const { agentName, tools, outputKey, guarded = false, transfers = false } = options;
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
        asked: upTo(MAX_PARALLEL_CALLS, toolAsked),
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
      const calls = functionCallsOf(response);
      const next = { invocationId, round: turn.round + 1, usage: addUsage(turn.usage, usage) };
      const said = content.parts.length === 0 ? [] : [lineOf(options, { invocationId, content })];
      const message = messageEvent(options, response);
      const goesOn = { round: round + 1, ...(escalate === true && { escalate }) };
      if (calls.length === 0) {
        const output = outputOf(response, outputKey);
        return {
          done: {
            turn: next,
            ending: { stopReason: stopReasonOf(response), invocationId, ...goesOn },
            said,
            ...(output !== undefined && { output: { set: output } }),
            events: [
              output === undefined ? message : { ...message, actions: { stateDelta: output } },
            ],
          },
        };
      }
      const facts = { invocationId, agentName, sessionKey: sessionKeyOf(host) };
      const asked = calls.map((call, index) => ({
        ...askedCallOf(call, index, facts),
        ...(node !== undefined && { node }),
      }));
      const batch: Batch = {
        invocationId,
        round,
        ...(escalate === true && { escalate }),
        ...(node !== undefined && { node }),
        calls: calls.map(({ id, name }) => ({ callId: id, name })),
      };
      const to = transfers ? transferIn(calls) : undefined;
      if (to !== undefined) {
        const results = asked.flatMap((call) => (call.callId === to.id ? [] : notMade(call)));
        const callId = to.id;
        return {
          transfer: {
            turn: next,
            transfer: { invocationId, to: nameIn(to), batch, results, callId },
            said,
            events: [
              message,
              ...asked.map((call) => callEvent(options, call)),
              ...results.map((result) => resultEvent(options, result)),
            ],
          },
        };
      }
      if (guarded) {
        const judged = asked.map((call) => ({ asked: call, result: refusedAtOnce(call, tools) }));
        const refusals = judged.flatMap(({ asked: call, result }) =>
          result === undefined ? [] : [{ asked: call, result }],
        );
        return {
          calls: {
            turn: next,
            batch,
            asked: judged.flatMap((one) => (one.result === undefined ? [one.asked] : [])),
            results: refusals.map(({ result }) => result),
            said,
            events: [message, ...refusals.flatMap((one) => callEvents(options, one))],
          },
        };
      }
      const judged = asked.map((call) => judgeCall(call, facts, tools));
      return {
        calls: {
          turn: next,
          batch,
          calls: judged.flatMap(({ call }) => call ?? []),
          parked: judged.flatMap(({ parked }) => parked ?? []),
          results: judged.flatMap(({ result }) => result ?? []),
          said,
          events: [message, ...judged.flatMap((one) => callEvents(options, one))],
        },
      };
    },
  });
  return net('router', {
    in: { modelResponse, turnCurrent, turnStopping },
    out: {
      ...(guarded && { toolAsked }),
      ...(transfers && { turnTransfer }),
      ...(outputKey !== undefined && { state }),
      toolBatch,
      ...(!guarded && { toolCall, toolParked }),
      toolResult,
      conversation,
      turnCurrent,
      turnEnding,
      eventOut,
    },
    transitions: [asConfigured(route, options)],
  });
}

/** The router with what this agent can give. */
function asConfigured(route: Transition, options: RouterOptions): Transition {
  const { outputKey, guarded = false, transfers = false } = options;
  const given = withoutOutputs(
    route,
    ...(guarded ? ['calls', 'parked'] : ['asked']),
    ...(outputKey === undefined ? ['output'] : []),
  );
  return transfers ? given : withoutAlternatives(given, 'transfer');
}

/** The first call that hands the turn over. */
function transferIn(calls: readonly FunctionCall[]): FunctionCall | undefined {
  return calls.find(({ name }) => name === TRANSFER_TOOL);
}

function nameIn({ args }: FunctionCall): string {
  const { agent_name: name } = args;
  return typeof name === 'string' ? name : JSON.stringify(name ?? null);
}

function notMade(call: AskedCall): CallResult {
  return refused(call, 'cancelled', 'Not made: the turn was handed to another agent.');
}

function messageEvent(
  speaking: Speaking,
  { invocationId, content, usage, finishReason, providerMetadata, node }: ModelAnswer,
): Extract<LogEntry, { readonly type: 'agent.message' }> {
  return {
    type: 'agent.message',
    invocationId,
    author: speaking.agentName,
    ...branchOf(speaking),
    content,
    finishReason,
    ...(usage !== undefined && { usage }),
    ...(providerMetadata !== undefined && { providerMetadata }),
    ...(node !== undefined && { nodeInfo: node }),
  };
}

/** What the agent's last words are kept as. */
function outputOf({ content }: ModelAnswer, key: string | undefined): JsonObject | undefined {
  return key === undefined ? undefined : { [key]: textOf(content) };
}

function stopReasonOf({ finishReason }: ModelAnswer): StopReason {
  if (finishReason === 'max_tokens') return 'max_tokens';
  return finishReason === 'refusal' ? 'refusal' : 'end_turn';
}
