import { addUsage, functionCallsOf, noUsage } from '../core/index.ts';
import type { FunctionCall, LogEntry, StopReason } from '../core/index.ts';
import { allOf, append, net, oneOf, pure, upTo } from '../net/index.ts';
import type { Net } from '../net/index.ts';
import { fingerprintOf, toolError } from '../tools/index.ts';
import type { Tool, ToolCallFacts, ValidArgs } from '../tools/index.ts';
import { sessionKeyOf } from './host.ts';
import {
  conversation,
  eventOut,
  modelResponse,
  toolBatch,
  toolCall,
  toolParked,
  toolResult,
  turnCurrent,
  turnEnding,
} from './places.ts';
import type { Call, CallResult, ModelAnswer, ParkedCall } from './places.ts';
import { resultEvent } from './result-event.ts';

/** More calls than this in one answer are answered with an error each. */
export const MAX_PARALLEL_CALLS = 64;

export interface RouterOptions {
  readonly agentName: string;
  readonly tools: ReadonlyMap<string, Tool>;
}

/** Decides what a model's answer means: calls to make, or the end of the turn. (Seed name: RouterSubnet.) */
export function router({ agentName, tools }: RouterOptions): Net {
  const route = pure('model.route', {
    take: { response: modelResponse, turn: turnCurrent },
    give: oneOf({
      calls: allOf({
        turn: turnCurrent,
        batch: toolBatch,
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
        events: upTo(1, eventOut),
      }),
    }),
    run: ({ response, turn }, { host }) => {
      const { invocationId, round, content, usage = noUsage } = response;
      const calls = functionCallsOf(response);
      const next = { invocationId, round: turn.round + 1, usage: addUsage(turn.usage, usage) };
      const said = content.parts.length === 0 ? [] : [{ invocationId, content }];
      const message = messageEvent(agentName, response);
      if (calls.length === 0) {
        return {
          done: {
            turn: next,
            ending: { stopReason: stopReasonOf(response) },
            said,
            events: [message],
          },
        };
      }
      const judged = calls.map((call, index) =>
        judge(call, index, { invocationId, agentName, sessionKey: sessionKeyOf(host) }, tools),
      );
      return {
        calls: {
          turn: next,
          batch: {
            invocationId,
            round,
            calls: calls.map(({ id, name }) => ({ callId: id, name })),
          },
          calls: judged.flatMap(({ call }) => call ?? []),
          parked: judged.flatMap(({ parked }) => parked ?? []),
          results: judged.flatMap(({ result }) => result ?? []),
          said,
          events: [message, ...judged.flatMap((one) => callEvents(agentName, one))],
        },
      };
    },
  });
  return net('router', {
    in: { modelResponse, turnCurrent },
    out: {
      toolBatch,
      toolCall,
      toolParked,
      toolResult,
      conversation,
      turnCurrent,
      turnEnding,
      eventOut,
    },
    transitions: [route],
  });
}

/** What becomes of a call: it runs, it waits for someone, or it is answered at once. */
interface Judged {
  readonly asked: Call;
  readonly call?: Call;
  readonly parked?: ParkedCall;
  readonly result?: CallResult;
}

function judge(
  call: FunctionCall,
  index: number,
  facts: Omit<ToolCallFacts, 'callId'>,
  tools: ReadonlyMap<string, Tool>,
): Judged {
  const { id: callId, name, args, argsError } = call;
  const { invocationId } = facts;
  const asked: Call = { invocationId, callId, name, args, index };
  const refuse = (outcome: CallResult['outcome'], message: string): Judged => ({
    asked,
    result: { invocationId, callId, name, index, outcome, response: toolError(outcome, message) },
  });
  const tool = tools.get(name);
  if (tool === undefined) {
    return refuse(
      'not_found',
      `There is no tool "${name}". The tools are: ${[...tools.keys()].join(', ') || '(none)'}.`,
    );
  }
  if (index >= MAX_PARALLEL_CALLS) {
    return refuse(
      'error',
      `Too many calls in one answer: only the first ${MAX_PARALLEL_CALLS} were run. Call this one again.`,
    );
  }
  if (argsError !== undefined)
    return refuse('invalid', `The arguments are not JSON: ${argsError.message}`);
  const parsed = tool.parse(args);
  if (!parsed.ok) return refuse('invalid', parsed.message);
  const { external, timeoutMs } = tool;
  let approval: boolean;
  try {
    approval = approvalOf(tool, parsed.value, { ...facts, callId });
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it threw something that is no error';
    return refuse('error', `Whether a person must approve this could not be decided: ${why}`);
  }
  if (!approval && !external) return { asked, call: asked };
  const wait = approval ? { needs: 'approval' as const } : { needs: 'result' as const, timeoutMs };
  return {
    asked,
    parked: { ...asked, ...wait, reason: 'policy', fingerprint: fingerprintOf(name, args) },
  };
}

function approvalOf({ needsApproval }: Tool, args: ValidArgs, call: ToolCallFacts): boolean {
  return typeof needsApproval === 'function' ? needsApproval(args, call) : needsApproval;
}

function callEvents(author: string, { asked, parked, result }: Judged): readonly LogEntry[] {
  const { invocationId, callId, name, args } = asked;
  const call: LogEntry = {
    type: 'tool.call',
    invocationId,
    author,
    callId,
    name,
    args,
    needs: parked?.needs ?? 'nothing',
    ...(parked !== undefined && { fingerprint: parked.fingerprint }),
  };
  return result === undefined ? [call] : [call, resultEvent(author, result)];
}

function messageEvent(
  author: string,
  { invocationId, content, usage, finishReason, providerMetadata }: ModelAnswer,
): LogEntry {
  return {
    type: 'agent.message',
    invocationId,
    author,
    content,
    finishReason,
    ...(usage !== undefined && { usage }),
    ...(providerMetadata !== undefined && { providerMetadata }),
  };
}

function stopReasonOf({ finishReason }: ModelAnswer): StopReason {
  if (finishReason === 'max_tokens') return 'max_tokens';
  return finishReason === 'refusal' ? 'refusal' : 'end_turn';
}
