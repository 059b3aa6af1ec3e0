import { decodeJson, encodeJson, PetrichorError } from '../core/index.ts';
import type { Json } from '../core/index.ts';
import { allOf, effect, oneOf, upTo } from '../net/index.ts';
import type { Effect, EffectFailure } from '../net/index.ts';
import { boundedResponse, jsonSize } from '../tools/bounded-response.ts';
import { failedToolResponse, toolError, toToolResponse } from '../tools/tool-response.ts';
import { fingerprintOf } from '../tools/fingerprint.ts';
import { isReadOnly } from '../tools/state-writes.ts';
import { openToolContext } from '../tools/tool-context.ts';
import { Pending, pending } from '../tools/pending.ts';
import type { Tool } from '../tools/index.ts';
import { isAgentTool } from './agent-tool.ts';
import { callAgent } from './call-agent.ts';
import { resultOf } from './call-result.ts';
import { agentHostOf, servicesOf, sessionKeyOf } from './host.ts';
import {
  conversation,
  eventOut,
  state,
  toolCall,
  toolParked,
  toolRan,
  turnStopping,
} from './places.ts';
import { pendingEvent } from './pending-event.ts';
import type { Call, CallResult, ParkedCall } from './places.ts';
import { boundedError, resultLimit, type ResultLimitOptions } from './result-limit.ts';
import { givenFor, resultGives } from './result-gives.ts';
import { resultEvent } from './result-event.ts';
import { branchOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';
import { writeOf } from './state-change.ts';
import { userContentOf } from './user-content.ts';
import { withoutAlternatives } from './trimmed-give.ts';
import { watched } from './watched-call.ts';

export interface RunToolOptions extends Speaking, ResultLimitOptions {
  /** How many calls run at once; any number when missing. */
  readonly concurrency?: number;
  /** A callback sees what a tool gave before it counts. */
  readonly observed?: boolean;
}

/** A tool wrote to state and then said that its result comes later. Keep what it knows in `resume` or `request` instead. */
export class PendingWritesError extends PetrichorError {
  override readonly code = 'pending_writes' as const;
  readonly toolName: string;

  constructor(toolName: string) {
    super(
      `Tool "${toolName}" wrote to state and then waits: what it wrote was not kept. Put it in resume, and write it with the result.`,
    );
    this.toolName = toolName;
  }
}

/** How much a waiting call may hold: what it asks, and what the tool keeps for itself. */
const MAX_PENDING_CHARACTERS = 1_000_000;

/** A tool waits, and what it asks or keeps meanwhile is too large for the journal. Keep it elsewhere, and a reference in its place. */
export class PendingTooLargeError extends PetrichorError {
  override readonly code = 'pending_too_large' as const;
  readonly toolName: string;

  constructor(toolName: string, characters: number) {
    super(
      `Tool "${toolName}" waits with ${characters} characters; at most ${MAX_PENDING_CHARACTERS} are kept. Put the data elsewhere, and a reference in its place.`,
    );
    this.toolName = toolName;
  }
}

/** Saying that a tool is gone takes no time of its own. */
const NO_TOOL_TIMEOUT_MS = 60_000;

/** The effect that runs a call's tool, as often as the tool's crash policy allows. */
export function runTool(options: RunToolOptions): Effect<{ readonly call: typeof toolCall }> {
  const { agentName, tools, concurrency, observed = false } = options;
  const run = effect('tool.run', {
    take: { call: toolCall },
    read: { conversation, state },
    unless: [turnStopping],
    give: oneOf({
      ...resultGives,
      // A callback is to see what it gave.
      ran: toolRan,
      // Its result comes later, from outside; or it asks, and runs again with the answer.
      pending: allOf({ parked: toolParked, events: upTo(1, eventOut) }),
      // The process died while it ran, and a person decides what that means.
      ask: allOf({ parked: toolParked }),
    }),
    ...(concurrency !== undefined && { concurrency }),
    timeoutMs: ({ call }) => tools.get(call.name)?.timeoutMs ?? NO_TOOL_TIMEOUT_MS,
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
      const result = resultOf({ ...call, ...failureOf(failure) });
      if (observed) return { ran: { args: call.args, result } };
      return { done: { result, events: [resultEvent(options, result)] } };
    },
    run: async ({ call, conversation, state }, { signal, firingId, attempt, emit, host }) => {
      const { invocationId, callId, name } = call;
      const tool = tools.get(name);
      if (tool === undefined) {
        const result = removedTool(call);
        return observed ? { ran: { args: call.args, result } } : givenFor(options, result);
      }
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
        userContent: userContentOf(conversation, invocationId),
        snapshot: { get: (key) => state[key] },
        services: servicesOf(host),
        ...(call.answer !== undefined && { answer: call.answer }),
        progress: (text) =>
          emit({
            kind: 'progress',
            text: text.slice(0, MAX_PROGRESS_CHARACTERS),
            callId,
            invocationId,
            author: agentName,
            ...branchOf(options),
            ...(call.node !== undefined && { nodeInfo: call.node }),
          }),
      });
      const { description } = tool;
      const limit = resultLimit(options, name, {
        callId,
        save: servicesOf(host).artifacts === undefined ? undefined : context.artifacts.save,
      });
      const made = { invocationId, agentName, attempt, signal, name, callId, description };
      const returned = await watched(host, state, { kind: 'tool', ...made }, async () =>
        isAgentTool(tool)
          ? callAgent({ host, tool, call, context, state })
          : tool.execute(parsed.value, context),
      ).catch(async (error: unknown) => {
        throw await boundedError(error, limit);
      });
      const wait = waitOf(tool, returned);
      const { outcome, response } = await boundedResponse(
        toToolResponse(wait === undefined ? returned : null),
        limit,
      );
      const ahead = agentHostOf(host)?.stateAhead;
      const { writes, actions } = take(ahead?.valueOf);
      if (wait !== undefined) {
        if (!isReadOnly(writes)) throw new PendingWritesError(name);
        const parked = parkedBy(wait, call);
        return { pending: { parked, events: [pendingEvent(options, parked)] } };
      }
      const acted = Object.keys(actions).length > 0 && { actions };
      const result = resultOf({ ...call, outcome, response, ...acted });
      const write = writeOf(writes, state);
      if (write !== undefined) ahead?.ending(firingId, write);
      return observed
        ? { ran: { args: call.args, result, ...(write !== undefined && { write }) } }
        : givenFor(options, result, write);
    },
  });
  return observed
    ? withoutAlternatives(run, ...Object.keys(resultGives))
    : withoutAlternatives(run, 'ran');
}

/** What the text of one step of progress is cut to: it is shown, and kept nowhere. */
const MAX_PROGRESS_CHARACTERS = 2_000;

/** The result of a call whose tool the agent had when the call was made, and has no more. */
function removedTool(call: Call): CallResult {
  const message = `There is no tool "${call.name}" any more: the agent was changed after this call was made. Nothing was done.`;
  return resultOf({ ...call, outcome: 'not_found', response: toolError('not_found', message) });
}

/** What a tool that is not done says: that it waits. A long-running one says its first word by returning it. */
function waitOf({ longRunning }: Tool, returned: unknown): Pending | undefined {
  if (returned instanceof Pending) return returned;
  if (!longRunning) return undefined;
  return returned === undefined ? pending() : pending({ request: asJson(returned) });
}

function parkedBy({ request, resume, timeoutMs }: Pending, call: Call): ParkedCall {
  const { invocationId, callId, name, args, index, node, asks = 0 } = call;
  const characters = jsonSize([asJson(request ?? null), asJson(resume ?? null)]);
  if (characters > MAX_PENDING_CHARACTERS) throw new PendingTooLargeError(name, characters);
  return {
    invocationId,
    callId,
    name,
    args,
    index,
    ...(node !== undefined && { node }),
    needs: 'result',
    reason: 'policy',
    fingerprint: fingerprintOf(name, args),
    asks: asks + 1,
    ...(request !== undefined && { request: asJson(request) }),
    ...(resume !== undefined && { resume: asJson(resume) }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

// What a tool hands out goes to the journal: it must be JSON, and nobody else's to change.
function asJson(value: unknown): Json {
  return decodeJson(encodeJson(value, 'pending'), 'pending');
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
