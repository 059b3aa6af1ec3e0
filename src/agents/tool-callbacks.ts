import { allOf, effect, oneOf, upTo } from '../net/index.ts';
import type { Effect, EffectContext, EffectFailure } from '../net/index.ts';
import { boundedResponse } from '../tools/bounded-response.ts';
import { toolError, toToolResponse } from '../tools/tool-response.ts';
import type { ToolActions } from '../tools/index.ts';
import { resultOf } from './call-result.ts';
import { CALLBACK_TIMEOUT_MS, openCallbackContext } from './callback-context.ts';
import type { CallbackContext } from './callback-context.ts';
import { callbacksIn, firstSaid } from './callbacks.ts';
import type { CalledTool, Callbacks, DoneTool } from './callbacks.ts';
import { servicesOf, sessionKeyOf } from './host.ts';
import { callEvent, callEvents, judgeCall } from './judge-call.ts';
import {
  eventOut,
  sessionWrite,
  state,
  stopAsked,
  toolAsked,
  toolCall,
  toolParked,
  toolRan,
  toolResult,
  turnStopping,
} from './places.ts';
import type { Call, CallResult } from './places.ts';
import { resultLimit, type ResultLimitOptions } from './result-limit.ts';
import { givenFor, resultGives } from './result-gives.ts';
import type { Speaking } from './speaking.ts';
import { bothWrites, stateAfter } from './write-merge.ts';
import { withoutAlternatives } from './trimmed-give.ts';

export interface ToolCallbackOptions extends Speaking, ResultLimitOptions {
  readonly callbacks: Callbacks;
}

/** True when callbacks see each call before it is judged. */
export function isGuarded({ beforeTool }: Callbacks): boolean {
  return callbacksIn(beforeTool).length > 0;
}

/** True when callbacks see what tools give. */
export function isObserved({ afterTool, onToolError }: Callbacks): boolean {
  return callbacksIn(afterTool).length + callbacksIn(onToolError).length > 0;
}

/**
 * Asks the callbacks that come before a tool. Only then is the call judged: what a person approves is what runs. A
 * callback that throws answers the call with its error.
 */
export function beforeToolEffect(
  options: ToolCallbackOptions,
): Effect<{ readonly call: typeof toolAsked }> {
  const { agentName, tools, callbacks } = options;
  const observed = isObserved(callbacks);
  const before = effect('tool.before', {
    take: { call: toolAsked },
    read: { state },
    unless: [turnStopping],
    give: oneOf({
      run: allOf({ call: toolCall, events: upTo(2, eventOut), write: upTo(1, sessionWrite) }),
      park: allOf({ parked: toolParked, events: upTo(2, eventOut), write: upTo(1, sessionWrite) }),
      answered: allOf({
        result: toolResult,
        events: upTo(3, eventOut),
        write: upTo(1, sessionWrite),
      }),
      // It answered in the tool's place, and other callbacks see what tools give.
      ran: allOf({ ran: toolRan, events: upTo(2, eventOut), write: upTo(1, sessionWrite) }),
      stopped: allOf({
        result: toolResult,
        stop: stopAsked,
        events: upTo(3, eventOut),
        write: upTo(1, sessionWrite),
      }),
    }),
    timeoutMs: CALLBACK_TIMEOUT_MS,
    onCrash: 'rerun',
    failed: (failure, { call }) => {
      const result = failedResult(call, 'beforeTool', failure);
      return { answered: { result, events: callEvents(options, { asked: call, result }) } };
    },
    run: async ({ call, state }, effectContext) => {
      const { invocationId } = call;
      const { context, take } = openCallbackContext(options, invocationId, state, effectContext);
      const said = await firstSaid(callbacksIn(callbacks.beforeTool), context, calledOf(call));
      const response =
        said !== undefined && 'response' in said
          ? await boundedResponse(
              toToolResponse(said.response),
              resultLimit(options, call.name, {
                callId: call.callId,
                save: keeping(context, effectContext),
              }),
            )
          : undefined;
      const { write, actions, acted: saved } = take();
      const acted = Object.keys(actions).length > 0 && { actions };
      const called = callEvent(options, call);
      if (actions.endInvocation === true || response !== undefined) {
        const answer = response ?? stoppedResponse('A callback ended the turn.');
        const result = resultOf({ ...call, ...answer, ...acted });
        if (observed && actions.endInvocation !== true)
          return { ran: { ran: { args: call.args, result }, events: [...saved, called], write } };
        const given = givenFor(options, result);
        if ('stopped' in given)
          return {
            stopped: {
              ...given.stopped,
              events: [...saved, called, ...given.stopped.events],
              write,
            },
          };
        const events = 'done' in given ? given.done.events : [];
        return { answered: { result, events: [...saved, called, ...events], write } };
      }
      const { argsError: _, ...changed } = call;
      const asked =
        said === undefined || !('args' in said) ? call : { ...changed, args: said.args };
      const facts = { invocationId, agentName, sessionKey: sessionKeyOf(effectContext.host) };
      const judged = judgeCall(asked, facts, tools);
      const events = [...saved, ...callEvents(options, judged)];
      if (judged.call !== undefined) return { run: { call: judged.call, events, write } };
      if (judged.parked !== undefined) return { park: { parked: judged.parked, events, write } };
      if (judged.result === undefined) throw new Error('A call was judged and has no outcome.');
      return { answered: { result: judged.result, events, write } };
    },
  });
  return observed ? before : withoutAlternatives(before, 'ran');
}

/**
 * Asks the callbacks that come after a tool: when it failed, whether there is a response all the same, and then about
 * the response. A callback that throws makes the result an error.
 */
export function afterToolEffect(
  options: ToolCallbackOptions,
): Effect<{ readonly ran: typeof toolRan }> {
  const { callbacks } = options;
  return effect('tool.after', {
    take: { ran: toolRan },
    read: { state },
    unless: [turnStopping],
    give: oneOf(resultGives),
    timeoutMs: CALLBACK_TIMEOUT_MS,
    onCrash: 'rerun',
    failed: (failure, { ran: { args, result } }) =>
      givenFor(options, failedResult({ ...result, args }, 'afterTool', failure)),
    run: async ({ ran: { args, result, write }, state }, effectContext) => {
      const { invocationId } = result;
      const seen = stateAfter(state, write);
      const opened = openCallbackContext(options, invocationId, seen, effectContext, false);
      const after = await boundedResponse(
        await observedResult(callbacks, opened.context, { ...result, args }),
        resultLimit(options, result.name, {
          callId: result.callId,
          save: keeping(opened.context, effectContext),
        }),
      );
      const { write: written, actions, saved } = opened.take();
      const acted = { ...result.actions, ...actions, ...withSaved(result, saved) };
      const done = resultOf({
        ...after,
        ...(Object.keys(acted).length > 0 && { actions: acted }),
      });
      return givenFor(options, done, bothWrites(write, written[0], state));
    },
  });
}

async function observedResult(
  { afterTool, onToolError }: Callbacks,
  context: CallbackContext,
  result: CallResult & CalledTool,
): Promise<CallResult> {
  const failed = ['error', 'timeout', 'unknown'].includes(result.outcome);
  const instead = failed
    ? await firstSaid(callbacksIn(onToolError), context, doneOf(result))
    : undefined;
  const now = instead === undefined ? result : { ...result, ...toToolResponse(instead.response) };
  if (now.outcome !== 'ok') return now;
  const said = await firstSaid(callbacksIn(afterTool), context, doneOf(now));
  return said === undefined ? now : { ...now, ...toToolResponse(said.response) };
}

/** How a result that is cut is kept whole, where there are artifacts. */
function keeping(
  { artifacts }: CallbackContext,
  { host }: EffectContext,
): CallbackContext['artifacts']['save'] | undefined {
  return servicesOf(host).artifacts === undefined ? undefined : artifacts.save;
}

/** What the tool saved, and what the callbacks after it did. */
function withSaved(
  { actions }: CallResult,
  saved: ToolActions['artifactDelta'],
): Pick<ToolActions, 'artifactDelta'> {
  return saved === undefined ? {} : { artifactDelta: { ...actions?.artifactDelta, ...saved } };
}

function calledOf({ callId, name, args }: Call): CalledTool {
  return { callId, name, args };
}

function doneOf({ callId, name, args, outcome, response }: CallResult & CalledTool): DoneTool {
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

function stoppedResponse(why: string): Pick<CallResult, 'outcome' | 'response'> {
  return { outcome: 'cancelled', response: toolError('cancelled', why) };
}
