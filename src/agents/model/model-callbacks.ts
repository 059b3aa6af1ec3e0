import { omitUndefined } from '../../core/internal.ts';
import { isPetrichorError } from '../../core/index.ts';
import { allOf, compose, effect, join, net, oneOf, running, upTo } from '../../net/index.ts';
import type { AnyPlace, Effect, EffectFailure, Net, Ports, Transition } from '../../net/index.ts';
import { arcPlace } from '../../net/internal.ts';
import {
  CALLBACK_TIMEOUT_MS,
  UNSUPPORTED_AROUND_AGENTS,
  openCallbackContext,
} from '../callbacks/callback-context.ts';
import { callbacksIn, firstResult } from '../callbacks/callbacks.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import { isCallRefusal } from './model-call-limit.ts';
import { toModelAnswer, createModelRequestBuilder } from './model-step.ts';
import type { ModelStepOptions } from './model-step.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { effectInhibitors, stopRequested, turnStopping } from '../vocabulary/control.ts';
import { sessionPaused } from '../vocabulary/session.ts';
import {
  modelAnswered,
  modelError,
  modelFailed,
  modelReady,
  modelRequest,
  modelResponse,
  toFailedCall,
  toFirstCall,
} from '../vocabulary/model-call.ts';
import type { ModelAnswer, ModelCall, ModelFailure } from '../vocabulary/model-call.ts';
import { noContinuation, restart } from '../turn/continuation.ts';
import type { Continuation } from '../turn/continuation.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';

/** Options of a model step with the agent's identity and callbacks. */
export type ModelCallbackOptions = ModelStepOptions &
  AgentIdentity & { readonly callbacks: Callbacks };

/** A model step with callbacks, and its places whose tokens are discarded when the turn stops. */
export interface WrappedModelStep {
  readonly subnet: Net;
  readonly discardable: readonly AnyPlace[];
  readonly continuation: Continuation;
}

/**
 * Adds the model callbacks to any model step. The step's effects then take their requests from the `beforeModel`
 * callbacks and pass their answers and failures to `afterModel` and `onModelError`. Without callbacks the step is
 * unchanged.
 */
export function withModelCallbacks(subnet: Net, options: ModelCallbackOptions): WrappedModelStep {
  const { callbacks } = options;
  const hasAfter = callbacksIn(callbacks.afterModel).length > 0;
  const before = callbacksIn(callbacks.beforeModel).length > 0 ? [beforeModelEffect(options)] : [];
  const after = hasAfter ? [afterModelEffect(options)] : [];
  const onError =
    callbacksIn(callbacks.onModelError).length > 0 ? [onModelErrorEffect(options, hasAfter)] : [];
  const added = [...before, ...after, ...onError];
  if (added.length === 0) return { subnet, discardable: [], continuation: noContinuation };
  const inner: Ports = omitUndefined({
    modelReady: before.length > 0 ? modelReady : undefined,
    modelAnswered: after.length > 0 ? modelAnswered : undefined,
    modelErred: onError.length > 0 ? modelError : undefined,
  });
  return {
    subnet: net(subnet.name, {
      in: { ...subnet.in, ...inner, turnStopping, sessionPaused },
      out: {
        ...subnet.out,
        ...inner,
        modelResponse,
        modelFailed,
        stopAsked: stopRequested,
        sessionWrite,
        eventOut,
      },
      transitions: [
        ...added,
        ...rewireAsking(subnet, {
          before: before.length > 0,
          after: after.length > 0,
          onError: onError.length > 0,
        }),
        ...subnet.transitions.filter((t) => handlesFailure(t)),
      ],
    }),
    discardable: [...Object.values(inner), ...added.map((t: Effect) => running(t))],
    continuation: {
      kept: after.length > 0 ? [modelAnswered] : [],
      restarts: [
        ...before.flatMap((t) => [
          restart(running(t), modelRequest, ({ inputs }) => toFirstCall(inputs.request)),
          restart(modelReady, modelRequest, toFirstCall),
        ]),
        ...after.map((t) => restart(running(t), modelAnswered, ({ inputs }) => inputs.answer)),
        ...onError.flatMap((t) => [
          restart(running(t), modelRequest, ({ inputs }) => toFailedCall(inputs.failed)),
          restart(modelError, modelRequest, toFailedCall),
        ]),
      ],
    },
  };
}

/** True for a transition that handles the failure of a call. It runs after the callbacks. */
function handlesFailure({ take }: Transition): boolean {
  return Object.values(take).some((input) => arcPlace(input).name === modelFailed.name);
}

/** The transitions of a step that ask the model, moved to the places between the callbacks. */
function rewireAsking(
  subnet: Net,
  around: { readonly before: boolean; readonly after: boolean; readonly onError: boolean },
): readonly Transition[] {
  const asking = net('asking', {
    in: { ...subnet.in, modelRequest },
    out: { ...subnet.out, modelResponse, modelFailed },
    transitions: subnet.transitions.filter((t) => !handlesFailure(t)),
  });
  return compose('asking', {
    nets: [asking],
    join: [
      ...(around.before ? [join(modelReady, modelRequest)] : []),
      ...(around.after ? [join(modelAnswered, modelResponse)] : []),
      ...(around.onError ? [join(modelError, modelFailed)] : []),
    ],
  }).transitions;
}

function beforeModelEffect(
  options: ModelCallbackOptions,
): Effect<{ readonly request: typeof modelRequest }> {
  const buildRequest = createModelRequestBuilder(options);
  return effect('model.before', {
    take: { request: modelRequest },
    read: { conversation, state },
    unless: effectInhibitors,
    give: oneOf({
      ask: allOf({ call: modelReady, events: upTo(1, eventOut), write: upTo(1, sessionWrite) }),
      answered: allOf({
        response: modelResponse,
        events: upTo(1, eventOut),
        write: upTo(1, sessionWrite),
      }),
      failed: modelFailed,
      stopped: allOf({
        stop: stopRequested,
        response: upTo(1, modelResponse),
        events: upTo(1, eventOut),
        write: upTo(1, sessionWrite),
      }),
    }),
    timeoutMs: CALLBACK_TIMEOUT_MS,
    onCrash: 'rerun',
    failed: (failure, { request }) => ({
      failed: { ...callbackFailure(request.invocationId, 'beforeModel', failure), request },
    }),
    run: async ({ request, ...tokens }, effectContext) => {
      const { invocationId } = request;
      const { context, take } = openCallbackContext(
        options,
        invocationId,
        tokens.state,
        effectContext,
        true,
        UNSUPPORTED_AROUND_AGENTS,
      );
      const modelRequestValue = await buildRequest(request, tokens, effectContext);
      const callbackResult = await firstResult(
        callbacksIn(options.callbacks.beforeModel),
        context,
        modelRequestValue,
      );
      const { write, actions, actionEvents: events } = take();
      const response =
        callbackResult !== undefined && 'response' in callbackResult
          ? toModelAnswer(options, request, callbackResult.response)
          : undefined;
      if (actions.endInvocation === true) {
        const stop = { stopReason: 'end_turn' as const };
        return {
          stopped: { stop, response: response === undefined ? [] : [response], events, write },
        };
      }
      if (response !== undefined)
        return { answered: { response: withEscalation(response, actions), events, write } };
      const changes = callbackResult !== undefined &&
        'request' in callbackResult && { changes: callbackResult.request };
      return { ask: { call: withEscalation({ ...request, ...changes }, actions), events, write } };
    },
  });
}

function afterModelEffect(
  options: ModelCallbackOptions,
): Effect<{ readonly answer: typeof modelAnswered }> {
  return effect('model.after', {
    take: { answer: modelAnswered },
    read: { state },
    unless: effectInhibitors,
    give: oneOf({
      kept: allOf({
        response: modelResponse,
        events: upTo(1, eventOut),
        write: upTo(1, sessionWrite),
      }),
      failed: modelFailed,
      stopped: allOf({
        stop: stopRequested,
        response: modelResponse,
        events: upTo(1, eventOut),
        write: upTo(1, sessionWrite),
      }),
    }),
    timeoutMs: CALLBACK_TIMEOUT_MS,
    onCrash: 'rerun',
    failed: (failure, { answer }) => ({
      failed: {
        ...callbackFailure(answer.invocationId, 'afterModel', failure),
        request: toAnsweredCall(answer),
      },
    }),
    run: async ({ answer, state }, effectContext) => {
      const { invocationId, content, finishReason, usage, providerMetadata } = answer;
      const opened = openCallbackContext(
        options,
        invocationId,
        state,
        effectContext,
        true,
        UNSUPPORTED_AROUND_AGENTS,
      );
      const callbackResult = await firstResult(
        callbacksIn(options.callbacks.afterModel),
        opened.context,
        {
          content,
          finishReason,
          ...omitUndefined({ usage, providerMetadata }),
        },
      );
      const { write, actions, actionEvents: events } = opened.take();
      const response: ModelAnswer =
        callbackResult === undefined
          ? answer
          : // The model was called, so its usage counts even if the response is replaced.
            {
              ...toModelAnswer(options, answer, callbackResult.response),
              ...omitUndefined({
                usage:
                  callbackResult.response.usage === undefined && usage !== undefined
                    ? usage
                    : undefined,
              }),
            };
      return actions.endInvocation === true
        ? { stopped: { stop: { stopReason: 'end_turn' as const }, response, events, write } }
        : { kept: { response: withEscalation(response, actions), events, write } };
    },
  });
}

function onModelErrorEffect(
  options: ModelCallbackOptions,
  hasAfter: boolean,
): Effect<{ readonly failed: typeof modelError }> {
  const buildRequest = createModelRequestBuilder(options);
  const to = hasAfter ? modelAnswered : modelResponse;
  return effect('model.on-error', {
    take: { failed: modelError },
    read: { conversation, state },
    unless: effectInhibitors,
    give: oneOf({
      answered: allOf({ response: to, events: upTo(1, eventOut), write: upTo(1, sessionWrite) }),
      failed: allOf({
        failed: modelFailed,
        events: upTo(1, eventOut),
        write: upTo(1, sessionWrite),
      }),
      stopped: allOf({
        stop: stopRequested,
        response: upTo(1, modelResponse),
        events: upTo(1, eventOut),
        write: upTo(1, sessionWrite),
      }),
    }),
    timeoutMs: CALLBACK_TIMEOUT_MS,
    onCrash: 'rerun',
    failed: (failure, { failed }) => ({
      failed: {
        failed: {
          ...callbackFailure(failed.invocationId, 'onModelError', failure),
          ...omitUndefined({ request: failed.request }),
        },
      },
    }),
    run: async ({ failed, ...tokens }, effectContext) => {
      const {
        invocationId,
        request = { invocationId, round: 0 },
        code,
        message,
        retryable,
      } = failed;
      // A response in its place would let the turn continue past the limit.
      if (isCallRefusal(code)) return { failed: { failed, events: [], write: [] } };
      const opened = openCallbackContext(
        options,
        invocationId,
        tokens.state,
        effectContext,
        true,
        UNSUPPORTED_AROUND_AGENTS,
      );
      // The call may have failed because its request could not be built. The callback then sees an empty request.
      const modelRequestValue = await buildRequest(request, tokens, effectContext).catch(() => ({
        contents: [],
        tools: options.tools,
      }));
      const callbackResult = await firstResult(
        callbacksIn(options.callbacks.onModelError),
        opened.context,
        {
          request: { ...modelRequestValue, ...request.changes },
          code,
          message,
          retryable,
        },
      );
      const { write, actions, actionEvents: events } = opened.take();
      const response =
        callbackResult === undefined
          ? undefined
          : toModelAnswer(options, request, callbackResult.response);
      if (actions.endInvocation === true) {
        const stop = { stopReason: 'end_turn' as const };
        return {
          stopped: { stop, response: response === undefined ? [] : [response], events, write },
        };
      }
      return response === undefined
        ? { failed: { failed, events, write } }
        : { answered: { response: withEscalation(response, actions), events, write } };
    },
  });
}

/** The call that an answer is for. */
function toAnsweredCall({ invocationId, round, escalate, node }: ModelAnswer): ModelCall {
  return { invocationId, round, ...omitUndefined({ escalate, node }) };
}

/** Adds `escalate` to the call or answer if a callback requested it. */
function withEscalation<T extends { readonly escalate?: boolean | undefined }>(
  token: T,
  { escalate }: { readonly escalate?: boolean },
): T {
  return escalate === true ? { ...token, escalate } : token;
}

function callbackFailure(
  invocationId: string,
  callback: keyof Callbacks,
  { error, message }: EffectFailure,
): ModelFailure {
  // A PetrichorError keeps its code and message; it describes the problem better than `callback_failed`.
  const details = isPetrichorError(error)
    ? { code: error.code, message: error.message }
    : { code: 'callback_failed', message: `${callback} failed: ${message}` };
  return { invocationId, ...details, retryable: false };
}
