import { omitUndefined } from '../../core/internal.ts';
import type { Content, LogEntry } from '../../core/index.ts';
import { allOf, effect, oneOf, upTo } from '../../net/index.ts';
import type { Effect, EffectFailure, TokenPlace } from '../../net/index.ts';
import {
  CALLBACK_TIMEOUT_MS,
  UNSUPPORTED_AROUND_AGENTS,
  openCallbackContext,
} from './callback-context.ts';
import { callbacksIn, firstResult } from './callbacks.ts';
import type { Callbacks } from './callbacks.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { effectInhibitors, stopRequested } from '../vocabulary/control.ts';
import { agentEnded } from '../vocabulary/handover.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import { agentMessage, messageArcs } from '../vocabulary/agent-message.ts';
import type { MessageTokens } from '../vocabulary/agent-message.ts';
import type { ToolActions } from '../../tools/index.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';

export interface BeforeAgentOptions extends AgentIdentity {
  readonly callbacks: Callbacks;
  /** The place with the agent's start token. */
  readonly from: TokenPlace<ModelCall>;
  /** The place for the start token after the callbacks let the agent begin. */
  readonly startPlace: TokenPlace<ModelCall>;
  /** The place for the ending when a callback answers instead of the agent. */
  readonly endPlace: TokenPlace<Ending>;
}

/** True if there are `beforeAgent` callbacks. */
export function hasBeforeAgent({ beforeAgent }: Callbacks): boolean {
  return callbacksIn(beforeAgent).length > 0;
}

/** True if there are `afterAgent` callbacks. */
export function hasAfterAgent({ afterAgent }: Callbacks): boolean {
  return callbacksIn(afterAgent).length > 0;
}

/** The effect that runs the `beforeAgent` callbacks. A callback that throws ends the turn with its error. */
export function beforeAgentEffect(
  options: BeforeAgentOptions,
): Effect<{ readonly start: TokenPlace<ModelCall> }> {
  const { callbacks, from, startPlace, endPlace } = options;
  return effect('agent.before', {
    take: { start: from },
    read: { state },
    unless: effectInhibitors,
    give: oneOf({
      begin: allOf({
        call: startPlace,
        events: upTo(1, eventOut),
        write: upTo(1, sessionWrite),
      }),
      answered: allOf({
        ending: endPlace,
        ...messageArcs,
      }),
      stopped: allOf({
        stop: stopRequested,
        ...messageArcs,
      }),
    }),
    timeoutMs: CALLBACK_TIMEOUT_MS,
    onCrash: 'rerun',
    failed: (failure, { start }) => ({
      stopped: callbackFailed(start.invocationId, 'beforeAgent', failure),
    }),
    run: async ({ start, state }, effectContext) => {
      const { invocationId, round } = start;
      const opened = openCallbackContext(
        options,
        invocationId,
        state,
        effectContext,
        true,
        UNSUPPORTED_AROUND_AGENTS,
      );
      const content = await firstResult(callbacksIn(callbacks.beforeAgent), opened.context);
      const { write, actions, actionEvents } = opened.take();
      const escalate = (actions.escalate ?? start.escalate) === true && { escalate: true };
      const { said, events } = toMessage(options, invocationId, content, actions);
      const outputs = { said, events: [...events, ...actionEvents], write };
      if (actions.endInvocation === true)
        return { stopped: { stop: { stopReason: 'end_turn' as const }, ...outputs } };
      return content === undefined
        ? { begin: { call: { ...start, ...escalate }, events: actionEvents, write } }
        : {
            answered: {
              ending: { stopReason: 'end_turn' as const, invocationId, round, ...escalate },
              ...outputs,
            },
          };
    },
  });
}

export interface AfterAgentOptions extends AgentIdentity {
  readonly callbacks: Callbacks;
  /** The place for the ending after the callbacks. */
  readonly endPlace: TokenPlace<Ending>;
}

/** The effect that runs the `afterAgent` callbacks. A callback that throws ends the turn with its error. */
export function afterAgentEffect(
  options: AfterAgentOptions,
): Effect<{ readonly ending: typeof agentEnded }> {
  const { callbacks, endPlace } = options;
  return effect('agent.after', {
    take: { ending: agentEnded },
    read: { state },
    unless: effectInhibitors,
    give: oneOf({
      ended: allOf({
        ending: endPlace,
        ...messageArcs,
      }),
      stopped: allOf({
        stop: stopRequested,
        ...messageArcs,
      }),
    }),
    timeoutMs: CALLBACK_TIMEOUT_MS,
    onCrash: 'rerun',
    failed: (failure, { ending: { invocationId = '' } }) => ({
      stopped: callbackFailed(invocationId, 'afterAgent', failure),
    }),
    run: async ({ ending, state }, effectContext) => {
      const { invocationId = '' } = ending;
      const opened = openCallbackContext(
        options,
        invocationId,
        state,
        effectContext,
        true,
        UNSUPPORTED_AROUND_AGENTS,
      );
      const content = await firstResult(callbacksIn(callbacks.afterAgent), opened.context);
      const { write, actions, actionEvents } = opened.take();
      const { said, events } = toMessage(options, invocationId, content, actions);
      const outputs = { said, events: [...events, ...actionEvents], write };
      return actions.endInvocation === true
        ? { stopped: { stop: { stopReason: 'end_turn' as const }, ...outputs } }
        : {
            ended: {
              ending: {
                ...ending,
                ...omitUndefined({ escalate: actions.escalate === true ? true : undefined }),
              },
              ...outputs,
            },
          };
    },
  });
}

/** The message of a callback. Its event has the escalation, which readers of the events would not see elsewhere. */
function toMessage(
  identity: AgentIdentity,
  invocationId: string,
  content: Content | undefined,
  { escalate }: ToolActions,
): MessageTokens {
  return agentMessage(
    identity,
    invocationId,
    content,
    content !== undefined && escalate === true ? { actions: { escalate } } : {},
  );
}

function callbackFailed(
  invocationId: string,
  callback: keyof Callbacks,
  { message }: EffectFailure,
): { readonly stop: Ending; readonly events: readonly LogEntry[] } {
  const error = {
    /**
     * A callback threw. The turn ends with an error; a tool call ends with the outcome `error`.
     * @remedy Correct the callback that the message names.
     */
    code: 'callback_failed',
    message: `${callback} failed: ${message}`,
  };
  return {
    stop: { stopReason: 'error' },
    events: [{ type: 'error', invocationId, ...error }],
  };
}
