import type { Content, JsonObject, LogEntry } from '../core/index.ts';
import {
  all,
  allOf,
  append,
  effect,
  matching,
  net,
  oneOf,
  pure,
  running,
  upTo,
} from '../net/index.ts';
import type { Effect, EffectFailure, MapWrites, Net } from '../net/index.ts';
import {
  failedToolResponse,
  fingerprintOf,
  isReadOnly,
  openToolContext,
  toolError,
  toToolResponse,
} from '../tools/index.ts';
import type { StateWrites, Tool } from '../tools/index.ts';
import { isAgentTool, requestOf } from './agent-tool.ts';
import { runChild, sessionKeyOf } from './host.ts';
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
import type { Answer, Batch, Call, CallResult, ParkedCall } from './places.ts';
import { resultEvent } from './result-event.ts';

export interface ToolDispatchOptions {
  readonly agentName: string;
  readonly tools: ReadonlyMap<string, Tool>;
  /** How many calls run at once. */
  readonly concurrency?: number;
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
      answered: allOf({ result: toolResult, events: upTo(3, eventOut) }),
      again: allOf({
        parked: toolParked,
        waiting: upTo(1, turnWaiting),
        events: upTo(1, eventOut),
      }),
    }),
    run: ({ parked, answer, waiting }) => {
      const resumed = resumedEvents(parked, waiting.length);
      const refusal = refusalOf(parked, answer);
      if (refusal !== undefined) {
        return {
          again: {
            parked,
            waiting,
            events: [
              {
                type: 'error',
                invocationId: parked.invocationId,
                code: 'answer_refused',
                message: refusal,
              },
            ],
          },
        };
      }
      const events = [...resumed, answeredEvent(parked, answer)];
      if (answer.decision === 'approved') return { approved: { call: callOf(parked), events } };
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
    give: allOf({ request: modelRequest, said: append(conversation) }),
    run: ({ batch, results }) => ({
      request: { invocationId: batch.invocationId, round: batch.round + 1 },
      said: [answersOf(batch, results)],
    }),
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

function runTool({
  agentName,
  tools,
  concurrency,
}: ToolDispatchOptions): Effect<{ readonly call: typeof toolCall }> {
  return effect('tool.run', {
    take: { call: toolCall },
    read: { state },
    give: oneOf({
      done: allOf({ result: toolResult, events: upTo(1, eventOut) }),
      // It changed state: its result counts when the change does.
      wrote: allOf({ write: sessionWrite }),
      // The process died while it ran, and a person decides what that means.
      ask: allOf({ parked: toolParked }),
    }),
    ...(concurrency !== undefined && { concurrency }),
    timeoutMs: ({ call }) => tools.get(call.name)?.timeoutMs ?? 0,
    onCrash: ({ call }) => (tools.get(call.name)?.onCrash === 'rerun' ? 'rerun' : 'unknown'),
    failed: (failure, { call }) => {
      if (failure.kind === 'unknown' && tools.get(call.name)?.onCrash === 'ask') {
        return {
          ask: {
            parked: {
              ...call,
              needs: 'approval',
              reason: 'crash',
              fingerprint: fingerprintOf(call.name, call.args),
              asks: (call.asks ?? 0) + 1,
            },
          },
        };
      }
      const result: CallResult = { ...call, ...failureOf(failure) };
      return {
        done: { result: resultOf(result), events: [resultEvent(agentName, resultOf(result))] },
      };
    },
    run: async ({ call, state }, { signal, firingId, attempt, emit, host }) => {
      const { invocationId, callId, name } = call;
      const tool = tools.get(name);
      // The agent had this tool when the call was made, and was changed since.
      if (tool === undefined) throw new Error(`There is no tool "${name}" any more.`);
      const parsed = tool.parse(call.args);
      if (!parsed.ok) throw new Error(parsed.message);
      const { context, take } = openToolContext({
        signal,
        firingId,
        attempt,
        callId,
        invocationId,
        agentName,
        sessionKey: sessionKeyOf(host),
        snapshot: { get: (key) => state[key] },
        progress: (text) => emit({ kind: 'progress', text, callId, invocationId }),
      });
      const returned = isAgentTool(tool)
        ? await runChild(host, {
            agentName: tool.agent.name,
            request: requestOf(call.args),
            firingId,
            signal,
          })
        : await tool.execute(parsed.value, context);
      const { outcome, response } = toToolResponse(returned);
      const result = resultOf({ ...call, outcome, response });
      const { writes } = take();
      if (!isReadOnly(writes))
        return {
          wrote: {
            write: {
              writes: mapWritesOf(writes),
              seen: seenBy(writes, state),
              result,
            },
          },
        };
      return { done: { result, events: [resultEvent(agentName, result)] } };
    },
  });
}

function mapWritesOf({ set, delete: removed, increment, append }: StateWrites): MapWrites {
  return { set, delete: removed, increment, append };
}

function seenBy({ read, set, delete: removed }: StateWrites, state: JsonObject): JsonObject {
  const changed = [...Object.keys(set), ...removed];
  return Object.fromEntries(
    read.filter((key) => changed.includes(key)).map((key) => [key, state[key] ?? null]),
  );
}

function failureOf({
  kind,
  message,
  error,
}: EffectFailure): Pick<CallResult, 'outcome' | 'response'> {
  switch (kind) {
    case 'error':
      return { outcome: 'error', response: failedToolResponse(error).response };
    case 'timeout':
      return {
        outcome: 'timeout',
        response: toolError('timeout', `The tool gave no result in time: ${message}.`),
      };
    case 'cancelled':
      return {
        outcome: 'cancelled',
        response: toolError('cancelled', `The tool was stopped: ${message}.`),
      };
    case 'unknown':
      return {
        outcome: 'unknown',
        response: toolError(
          'outcome_unknown',
          `It is not known whether this happened: ${message}. Check before doing it again.`,
        ),
      };
    default:
      return kind satisfies never;
  }
}

function callOf({ invocationId, callId, name, args, index, asks }: ParkedCall): Call {
  return { invocationId, callId, name, args, index, ...(asks !== undefined && { asks }) };
}

function resultOf({
  invocationId,
  callId,
  name,
  index,
  outcome,
  response,
}: CallResult): CallResult {
  return { invocationId, callId, name, index, outcome, response };
}

/** Why an answer does not count; nothing when it does. */
function refusalOf(parked: ParkedCall, answer: Answer): string | undefined {
  if (answer.fingerprint !== undefined && answer.fingerprint !== parked.fingerprint) {
    return `The answer to call "${parked.callId}" was for other arguments: look at the call and answer again.`;
  }
  if (answer.decision === 'answered' && parked.needs === 'approval') {
    return `Call "${parked.callId}" waits for an approval, not for a result: approve or deny it.`;
  }
  if (answer.decision === 'approved' && parked.needs === 'result') {
    return `Call "${parked.callId}" waits for its result: answer it.`;
  }
  return undefined;
}

function answeredResult(parked: ParkedCall, answer: Answer): CallResult {
  const call = callOf(parked);
  if (answer.decision === 'answered') {
    return resultOf({
      ...call,
      outcome: answer.isError === true ? 'error' : 'ok',
      response: answer.response ?? { result: null },
    });
  }
  const reason = answer.message ?? 'No reason was given.';
  if (parked.reason === 'crash') {
    const message = `The process died while this ran, so it may have happened; a person decided not to run it again. ${reason}`;
    return resultOf({
      ...call,
      outcome: 'unknown',
      response: toolError('outcome_unknown', message),
    });
  }
  return resultOf({
    ...call,
    outcome: 'denied',
    response: toolError('denied', `A person denied this call. ${reason}`),
  });
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

/** The results of a batch as the one message the model gets, in the order of its calls; every call has its answer. */
export function answersOf(
  batch: Batch,
  results: readonly CallResult[],
): { readonly invocationId: string; readonly content: Content } {
  const byCall = new Map(results.map((result) => [result.callId, result]));
  const parts = batch.calls.map(({ callId, name }) => {
    const result = byCall.get(callId);
    const response =
      result?.response ?? toolError('cancelled', 'The call was cancelled before it had a result.');
    const failed = result?.outcome !== 'ok';
    return {
      functionResponse: { id: callId, name, response, ...(failed && { isError: true as const }) },
    };
  });
  return { invocationId: batch.invocationId, content: { role: 'tool', parts } };
}
