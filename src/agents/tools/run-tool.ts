import { isEmptyWrites, omitUndefined, readOwn } from '../../core/internal.ts';
import { decodeJson, encodeJson, PetrichorError } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import { allOf, effect, oneOf, upTo } from '../../net/index.ts';
import type { Effect, EffectFailure } from '../../net/index.ts';
import {
  truncateResponse,
  jsonSize,
  failedToolResponse,
  toolError,
  toToolResponse,
  callFingerprint,
  openToolContext,
  Pending,
  pending,
} from '../../tools/internal.ts';
import type { Tool } from '../../tools/index.ts';
import { isAgentTool } from './agent-tool.ts';
import { callAgent } from './call-agent.ts';
import { sameTool } from '../tool-calls/call-labels.ts';
import { toCallResult } from '../tool-calls/call-result.ts';
import {
  getAgentHost,
  getServices,
  getSessionKey,
  getToolMetadata,
  isIdentified,
} from '../vocabulary/agent-host.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { state } from '../vocabulary/state.ts';
import { effectInhibitors } from '../vocabulary/control.ts';
import { toolCall, toolParked, toolCompleted } from '../vocabulary/tool-call.ts';
import { pendingEvent } from '../tool-calls/call-events.ts';
import type { Call, CallResult, ParkedCall } from '../vocabulary/tool-call.ts';
import { boundedError, resultLimit, type ResultLimitOptions } from './result-limit.ts';
import { toToolOutcome, toolOutcomes } from './tool-outcomes.ts';
import { resultEvent } from '../tool-calls/call-events.ts';
import { branchField } from '../vocabulary/agent-identity.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { toSessionWrite } from '../state/session-write.ts';
import { findUserContent } from '../vocabulary/find-user-content.ts';
import { omitAlternatives } from '../../net/internal.ts';
import { interceptCall } from '../vocabulary/intercept-call.ts';

/** Options of the effect that runs tools. */
export interface RunToolOptions extends AgentIdentity, ResultLimitOptions {
  /** How many calls run at once. Default: no limit. */
  readonly concurrency?: number;
  /** True if `afterTool` or `onToolError` callbacks process the result. */
  readonly hasAfterTool?: boolean;
  /** The agent's limit of model calls. It applies to the agents that it calls, too. Default: no limit. */
  readonly maxModelCalls?: number;
}

/**
 * A tool wrote to state and then returned `pending`. The writes were not kept.
 * @remedy Put the data in `resume` or `request`, and write it with the result.
 */
export class PendingWritesError extends PetrichorError {
  override readonly code = 'pending_writes' as const;
  readonly toolName: string;

  constructor(toolName: string) {
    super(
      `Tool "${toolName}" wrote to state and then returned pending: the writes were not kept. Put the data in resume, and write it with the result.`,
    );
    this.toolName = toolName;
  }
}

/** The most characters that a waiting call may hold in `request` and `resume` together, as JSON. */
const MAX_PENDING_CHARACTERS = 1_000_000;

/**
 * A tool returned `pending` with a `request` and `resume` too large for the journal.
 * @remedy Store the data elsewhere, and pass a reference.
 */
export class PendingTooLargeError extends PetrichorError {
  override readonly code = 'pending_too_large' as const;
  readonly toolName: string;

  constructor(toolName: string, characters: number) {
    super(
      `Tool "${toolName}" returned pending with ${characters} characters; the limit is ${MAX_PENDING_CHARACTERS}. Store the data elsewhere, and pass a reference.`,
    );
    this.toolName = toolName;
  }
}

/** The timeout of a call whose tool was removed. Its result is made at once, so any value works. */
const NO_TOOL_TIMEOUT_MS = 60_000;

/** The effect that runs a call's tool. After a crash it follows the tool's `onCrash` policy. */
export function runTool(options: RunToolOptions): Effect<{ readonly call: typeof toolCall }> {
  const { agentName, tools, concurrency, hasAfterTool = false, maxModelCalls } = options;
  const run = effect('tool.run', {
    take: { call: toolCall },
    read: { conversation, state },
    unless: effectInhibitors,
    labels: sameTool(
      'call',
      { alternative: 'pending', output: 'parked' },
      { alternative: 'ask', output: 'parked' },
    ),
    give: oneOf({
      ...toolOutcomes,
      // Callbacks process the result.
      ran: toolCompleted,
      // The result comes later from outside, or the tool asks a question and runs again with the answer.
      pending: allOf({ parked: toolParked, events: upTo(1, eventOut) }),
      // The process died while the tool ran, and a person decides whether it runs again.
      ask: allOf({ parked: toolParked }),
    }),
    ...omitUndefined({ concurrency }),
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
              fingerprint: callFingerprint(call.name, call.args),
              asks: (call.asks ?? 0) + 1,
            },
          },
        };
      }
      const result = toCallResult({ ...call, ...toFailedOutcome(failure) });
      if (hasAfterTool) return { ran: { args: call.args, result } };
      return { done: { result, events: [resultEvent(options, result)] } };
    },
    run: async ({ call, conversation, state }, { signal, firingId, attempt, emit, host }) => {
      const { invocationId, callId, name } = call;
      const tool = tools.get(name);
      if (tool === undefined) {
        const result = removedToolResult(call);
        return hasAfterTool ? { ran: { args: call.args, result } } : toToolOutcome(options, result);
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
        sessionKey: getSessionKey(host),
        userContent: findUserContent(conversation, invocationId),
        snapshot: { get: (key) => readOwn(state, key) },
        services: getServices(host),
        ...getToolMetadata(host, invocationId),
        ...omitUndefined({ answer: call.answer }),
        progress: (text) =>
          emit({
            kind: 'progress',
            text: text.slice(0, MAX_PROGRESS_CHARACTERS),
            callId,
            invocationId,
            author: agentName,
            ...branchField(options),
            ...omitUndefined({ nodeInfo: call.node }),
          }),
      });
      const { description } = tool;
      const limit = resultLimit(options, name, {
        callId,
        save: getServices(host).artifacts === undefined ? undefined : context.artifacts.save,
      });
      const callDetails = { invocationId, agentName, attempt, signal, name, callId, description };
      const returned = await interceptCall(host, { kind: 'tool', ...callDetails }, async () =>
        isAgentTool(tool)
          ? callAgent({ host, tool, call, context, state, maxModelCalls })
          : tool.execute(parsed.value, context),
      ).catch(async (error: unknown) => {
        throw await boundedError(error, limit);
      });
      const wait = toPending(tool, returned, isIdentified(host, agentName));
      const { outcome, response } = await truncateResponse(
        toToolResponse(wait === undefined ? returned : null),
        limit,
      );
      const uncommitted = getAgentHost(host)?.uncommittedState;
      const { writes, actions } = take(uncommitted?.getValue);
      if (wait !== undefined) {
        if (!isEmptyWrites(writes)) throw new PendingWritesError(name);
        const parked = toParkedCall(wait, call);
        return { pending: { parked, events: [pendingEvent(options, parked)] } };
      }
      const actionsField = Object.keys(actions).length > 0 && { actions };
      const result = toCallResult({ ...call, outcome, response, ...actionsField });
      const write = toSessionWrite(writes, state);
      if (write !== undefined) uncommitted?.addWrite(firingId, write);
      return hasAfterTool
        ? { ran: { args: call.args, result, ...omitUndefined({ write }) } }
        : toToolOutcome(options, result, write);
    },
  });
  return hasAfterTool
    ? omitAlternatives(run, ...Object.keys(toolOutcomes))
    : omitAlternatives(run, 'ran');
}

/** The length to which the text of a progress report is cut. Progress is shown, not stored. */
const MAX_PROGRESS_CHARACTERS = 2_000;

/** The result of a call whose tool was removed from the agent after the call was made. */
function removedToolResult(call: Call): CallResult {
  const message = `There is no tool "${call.name}" any more: the agent was changed after this call was made. Nothing was done.`;
  return toCallResult({ ...call, outcome: 'not_found', response: toolError('not_found', message) });
}

/**
 * The `Pending` that a tool returned, if any. For a long-running tool any other returned value is its first progress
 * report. In ADK's format it is the first result, and the turn goes on.
 */
function toPending(
  { longRunning }: Tool,
  returned: unknown,
  hasAdkFormat: boolean,
): Pending | undefined {
  if (returned instanceof Pending) return returned;
  if (!longRunning) return undefined;
  if (returned === undefined || (hasAdkFormat && returned === null)) return pending();
  return hasAdkFormat ? undefined : pending({ request: toJson(returned) });
}

function toParkedCall({ request, resume, timeoutMs }: Pending, call: Call): ParkedCall {
  const { invocationId, callId, name, args, index, node, asks = 0 } = call;
  const characters = jsonSize([toJson(request ?? null), toJson(resume ?? null)]);
  if (characters > MAX_PENDING_CHARACTERS) throw new PendingTooLargeError(name, characters);
  return {
    invocationId,
    callId,
    name,
    args,
    index,
    ...omitUndefined({ node }),
    needs: 'result',
    reason: 'policy',
    fingerprint: callFingerprint(name, args),
    asks: asks + 1,
    ...omitUndefined({
      request: request === undefined ? undefined : toJson(request),
      resume: resume === undefined ? undefined : toJson(resume),
      timeoutMs,
    }),
  };
}

// A copy, because the value goes to the journal: it must be JSON, and the tool must not change it later.
function toJson(value: unknown): Json {
  return decodeJson(encodeJson(value, 'pending'), 'pending');
}

function toFailedOutcome({
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
