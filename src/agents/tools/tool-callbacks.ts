import { applyWrites, mergeBasedWrites, omitUndefined } from '../../core/internal.ts';
import { allOf, effect, oneOf, upTo } from '../../net/index.ts';
import type { Effect, EffectContext, EffectFailure } from '../../net/index.ts';
import {
  truncateResponse,
  toolError,
  toToolResponse,
  withClientTools,
} from '../../tools/internal.ts';
import type { ToolActions } from '../../tools/index.ts';
import { toCallResult } from '../tool-calls/call-result.ts';
import { CALLBACK_TIMEOUT_MS, openCallbackContext } from '../callbacks/callback-context.ts';
import type { AgentCallbackContext } from '../callbacks/callback-context.ts';
import { callbacksIn, firstResult } from '../callbacks/callbacks.ts';
import type { ToolCallInfo, Callbacks, ToolResultInfo } from '../callbacks/callbacks.ts';
import { getMetadata, getServices, getSessionKey } from '../vocabulary/agent-host.ts';
import { admitCall } from '../tool-calls/admit-call.ts';
import { listRunnableTools, listWaitingTools, sameTool } from '../tool-calls/call-labels.ts';
import { callEvent, callEvents } from '../tool-calls/call-events.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { effectInhibitors, stopRequested } from '../vocabulary/control.ts';
import {
  toolRequested,
  toolCall,
  toolParked,
  toolCompleted,
  toolResult,
} from '../vocabulary/tool-call.ts';
import type { Call, CallResult } from '../vocabulary/tool-call.ts';
import { resultLimit, type ResultLimitOptions } from './result-limit.ts';
import { toToolOutcome, toolOutcomes } from './tool-outcomes.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { omitAlternatives } from '../../net/internal.ts';

/** Options of the effects that run tool callbacks. */
export interface ToolCallbackOptions extends AgentIdentity, ResultLimitOptions {
  readonly callbacks: Callbacks;
}

/** True if there are `beforeTool` callbacks. */
export function hasBeforeTool({ beforeTool }: Callbacks): boolean {
  return callbacksIn(beforeTool).length > 0;
}

/** True if there are `afterTool` or `onToolError` callbacks. */
export function hasAfterTool({ afterTool, onToolError }: Callbacks): boolean {
  return callbacksIn(afterTool).length + callbacksIn(onToolError).length > 0;
}

/**
 * The effect that runs the `beforeTool` callbacks. The call is validated and approved after them, so a person approves
 * the arguments that run. If a callback throws, its error is the result of the call.
 */
export function beforeToolEffect(
  options: ToolCallbackOptions,
): Effect<{ readonly call: typeof toolRequested }> {
  const { agentName, callbacks } = options;
  const hasAfter = hasAfterTool(callbacks);
  const before = effect('tool.before', {
    take: { call: toolRequested },
    read: { state },
    unless: effectInhibitors,
    labels: sameTool(
      'call',
      { alternative: 'run', output: 'call', only: listRunnableTools(options.tools) },
      { alternative: 'park', output: 'parked', known: listWaitingTools(options.tools) },
    ),
    give: oneOf({
      run: allOf({ call: toolCall, events: upTo(2, eventOut), write: upTo(1, sessionWrite) }),
      park: allOf({ parked: toolParked, events: upTo(2, eventOut), write: upTo(1, sessionWrite) }),
      answered: allOf({
        result: toolResult,
        events: upTo(3, eventOut),
        write: upTo(1, sessionWrite),
      }),
      // The callback answered instead of the tool, and the callbacks after tools process its response.
      ran: allOf({ ran: toolCompleted, events: upTo(2, eventOut), write: upTo(1, sessionWrite) }),
      stopped: allOf({
        result: toolResult,
        stop: stopRequested,
        events: upTo(3, eventOut),
        write: upTo(1, sessionWrite),
      }),
    }),
    timeoutMs: CALLBACK_TIMEOUT_MS,
    onCrash: 'rerun',
    failed: (failure, { call }) => {
      const result = failedResult(call, 'beforeTool', failure);
      return { answered: { result, events: callEvents(options, { requested: call, result }) } };
    },
    run: async ({ call, state }, effectContext) => {
      const { invocationId } = call;
      const { clientTools } = getMetadata(effectContext.host, invocationId);
      const tools = withClientTools(options.tools, clientTools);
      const caller = { ...options, tools };
      const { context, take } = openCallbackContext(options, invocationId, state, effectContext);
      const callbackResult = await firstResult(
        callbacksIn(callbacks.beforeTool),
        context,
        toToolCallInfo(call),
      );
      const response =
        callbackResult !== undefined && 'response' in callbackResult
          ? await truncateResponse(
              toToolResponse(callbackResult.response),
              resultLimit(options, call.name, {
                callId: call.callId,
                save: findArtifactSave(context, effectContext),
              }),
            )
          : undefined;
      const { write, actions, actionEvents } = take();
      const actionsField = Object.keys(actions).length > 0 && { actions };
      const requestEvent = callEvent(caller, call);
      if (actions.endInvocation === true || response !== undefined) {
        const answer = response ?? canceledResponse('A callback ended the turn.');
        const result = toCallResult({ ...call, ...answer, ...actionsField });
        if (hasAfter && actions.endInvocation !== true)
          return {
            ran: {
              ran: { args: call.args, result },
              events: [...actionEvents, requestEvent],
              write,
            },
          };
        const outcome = toToolOutcome(options, result);
        if ('stopped' in outcome)
          return {
            stopped: {
              ...outcome.stopped,
              events: [...actionEvents, requestEvent, ...outcome.stopped.events],
              write,
            },
          };
        const events = 'done' in outcome ? outcome.done.events : [];
        return { answered: { result, events: [...actionEvents, requestEvent, ...events], write } };
      }
      const { argsError: _, ...changed } = call;
      const requested =
        callbackResult === undefined || !('args' in callbackResult)
          ? call
          : { ...changed, args: callbackResult.args };
      const facts = { invocationId, agentName, sessionKey: getSessionKey(effectContext.host) };
      const admitted = admitCall(requested, facts, tools);
      const events = [...actionEvents, ...callEvents(caller, admitted)];
      if (admitted.call !== undefined) return { run: { call: admitted.call, events, write } };
      if (admitted.parked !== undefined)
        return { park: { parked: admitted.parked, events, write } };
      if (admitted.result === undefined)
        throw new Error('admitCall returned neither a call, a parked call nor a result.');
      return { answered: { result: admitted.result, events, write } };
    },
  });
  return hasAfter ? before : omitAlternatives(before, 'ran');
}

/**
 * The effect that runs the callbacks after a tool: `onToolError` if it failed, then `afterTool` if there is a response.
 * If a callback throws, the result becomes an error.
 */
export function afterToolEffect(
  options: ToolCallbackOptions,
): Effect<{ readonly ran: typeof toolCompleted }> {
  const { callbacks } = options;
  return effect('tool.after', {
    take: { ran: toolCompleted },
    read: { state },
    unless: effectInhibitors,
    give: oneOf(toolOutcomes),
    timeoutMs: CALLBACK_TIMEOUT_MS,
    onCrash: 'rerun',
    failed: (failure, { ran: { args, result } }) =>
      toToolOutcome(options, failedResult({ ...result, args }, 'afterTool', failure)),
    run: async ({ ran: { args, result, write }, state }, effectContext) => {
      const { invocationId } = result;
      const stateSoFar = write === undefined ? state : applyWrites(state, write.writes);
      const opened = openCallbackContext(options, invocationId, stateSoFar, effectContext, false);
      const after = await truncateResponse(
        await applyAfterTool(callbacks, opened.context, { ...result, args }),
        resultLimit(options, result.name, {
          callId: result.callId,
          save: findArtifactSave(opened.context, effectContext),
        }),
      );
      const {
        write: [written],
        actions,
        artifactDelta,
      } = opened.take();
      const together =
        write !== undefined && written !== undefined
          ? mergeBasedWrites(write, written, state)
          : (write ?? written);
      const actionsTogether = {
        ...result.actions,
        ...actions,
        ...mergeArtifactDelta(result, artifactDelta),
      };
      const done = toCallResult({
        ...after,
        ...omitUndefined({
          actions: Object.keys(actionsTogether).length > 0 ? actionsTogether : undefined,
        }),
      });
      return toToolOutcome(options, done, together);
    },
  });
}

async function applyAfterTool(
  { afterTool, onToolError }: Callbacks,
  context: AgentCallbackContext,
  result: CallResult & ToolCallInfo,
): Promise<CallResult> {
  const failed = ['error', 'timeout', 'unknown'].includes(result.outcome);
  const replacement = failed
    ? await firstResult(callbacksIn(onToolError), context, toToolResultInfo(result))
    : undefined;
  const current =
    replacement === undefined ? result : { ...result, ...toToolResponse(replacement.response) };
  if (current.outcome !== 'ok') return current;
  const callbackResult = await firstResult(
    callbacksIn(afterTool),
    context,
    toToolResultInfo(current),
  );
  return callbackResult === undefined
    ? current
    : { ...current, ...toToolResponse(callbackResult.response) };
}

/** The function that saves the whole result when it is truncated; undefined without an artifact service. */
function findArtifactSave(
  { artifacts }: AgentCallbackContext,
  { host }: EffectContext,
): AgentCallbackContext['artifacts']['save'] | undefined {
  return getServices(host).artifacts === undefined ? undefined : artifacts.save;
}

/** The artifacts that the tool and the callbacks after it saved. */
function mergeArtifactDelta(
  { actions }: CallResult,
  artifactDelta: ToolActions['artifactDelta'],
): Pick<ToolActions, 'artifactDelta'> {
  return artifactDelta === undefined
    ? {}
    : { artifactDelta: { ...actions?.artifactDelta, ...artifactDelta } };
}

function toToolCallInfo({ callId, name, args }: Call): ToolCallInfo {
  return { callId, name, args };
}

function toToolResultInfo({
  callId,
  name,
  args,
  outcome,
  response,
}: CallResult & ToolCallInfo): ToolResultInfo {
  return { callId, name, args, outcome, response };
}

function failedResult(
  call: Call,
  callback: 'beforeTool' | 'afterTool',
  { message }: EffectFailure,
): CallResult {
  const { invocationId, callId, name, index, node } = call;
  const within = node !== undefined && { node };
  const response = toolError('callback_failed', `${callback} failed: ${message}`);
  return { invocationId, callId, name, index, outcome: 'error', response, ...within };
}

function canceledResponse(message: string): Pick<CallResult, 'outcome' | 'response'> {
  return { outcome: 'cancelled', response: toolError('cancelled', message) };
}
