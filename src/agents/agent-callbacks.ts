import type { Content, LogEntry } from '../core/index.ts';
import { allOf, append, effect, oneOf, upTo } from '../net/index.ts';
import type { Effect, EffectFailure, TokenPlace } from '../net/index.ts';
import { CALLBACK_TIMEOUT_MS, NOT_AROUND_AGENTS, openCallbackContext } from './callback-context.ts';
import { callbacksIn, firstSaid } from './callbacks.ts';
import type { Callbacks } from './callbacks.ts';
import {
  agentEnded,
  conversation,
  eventOut,
  sessionWrite,
  state,
  stopAsked,
  turnStopping,
} from './places.ts';
import type { ConversationItem, Ending, ModelCall } from './places.ts';
import { branchOf, lineOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';

export interface BeforeAgentOptions extends Speaking {
  readonly callbacks: Callbacks;
  /** Where the agent is to begin. */
  readonly from: TokenPlace<ModelCall>;
  /** Where it begins when the callbacks agree. */
  readonly begins: TokenPlace<ModelCall>;
  /** Where it is done when they answer in its place. */
  readonly ends: TokenPlace<Ending>;
}

/** True when callbacks come before the agent. */
export function hasBeforeAgent({ beforeAgent }: Callbacks): boolean {
  return callbacksIn(beforeAgent).length > 0;
}

/** True when callbacks come after the agent. */
export function hasAfterAgent({ afterAgent }: Callbacks): boolean {
  return callbacksIn(afterAgent).length > 0;
}

/** Where goes what a callback says: to the conversation, the log and the state. */
const spoken = {
  said: append(conversation),
  events: upTo(2, eventOut),
  write: upTo(1, sessionWrite),
};

/** Asks the callbacks that come before an agent. One that throws ends the turn with its error. */
export function beforeAgentEffect(
  options: BeforeAgentOptions,
): Effect<{ readonly start: TokenPlace<ModelCall> }> {
  const { callbacks, from, begins, ends } = options;
  return effect('agent.before', {
    take: { start: from },
    read: { state },
    unless: [turnStopping],
    give: oneOf({
      begin: allOf({
        call: begins,
        events: upTo(1, eventOut),
        write: upTo(1, sessionWrite),
      }),
      answered: allOf({
        ending: ends,
        ...spoken,
      }),
      stopped: allOf({
        stop: stopAsked,
        ...spoken,
      }),
    }),
    timeoutMs: CALLBACK_TIMEOUT_MS,
    onCrash: 'rerun',
    failed: (failure, { start }) => ({
      stopped: failedAgent(start.invocationId, 'beforeAgent', failure),
    }),
    run: async ({ start, state }, effectContext) => {
      const { invocationId, round } = start;
      const opened = openCallbackContext(
        options,
        invocationId,
        state,
        effectContext,
        true,
        NOT_AROUND_AGENTS,
      );
      const content = await firstSaid(callbacksIn(callbacks.beforeAgent), opened.context);
      const { write, actions, acted } = opened.take();
      const escalate = (actions.escalate ?? start.escalate) === true && { escalate: true };
      const { said, events } = wordsOf(options, invocationId, content);
      const words = { said, events: [...events, ...acted], write };
      if (actions.endInvocation === true)
        return { stopped: { stop: { stopReason: 'end_turn' as const }, ...words } };
      return content === undefined
        ? { begin: { call: { ...start, ...escalate }, events: acted, write } }
        : {
            answered: {
              ending: { stopReason: 'end_turn' as const, invocationId, round, ...escalate },
              ...words,
            },
          };
    },
  });
}

export interface AfterAgentOptions extends Speaking {
  readonly callbacks: Callbacks;
  /** Where the agent is done at last. */
  readonly ends: TokenPlace<Ending>;
}

/** Asks the callbacks that come after an agent. One that throws ends the turn with its error. */
export function afterAgentEffect(
  options: AfterAgentOptions,
): Effect<{ readonly ending: typeof agentEnded }> {
  const { callbacks, ends } = options;
  return effect('agent.after', {
    take: { ending: agentEnded },
    read: { state },
    unless: [turnStopping],
    give: oneOf({
      ended: allOf({
        ending: ends,
        ...spoken,
      }),
      stopped: allOf({
        stop: stopAsked,
        ...spoken,
      }),
    }),
    timeoutMs: CALLBACK_TIMEOUT_MS,
    onCrash: 'rerun',
    failed: (failure, { ending: { invocationId = '' } }) => ({
      stopped: failedAgent(invocationId, 'afterAgent', failure),
    }),
    run: async ({ ending, state }, effectContext) => {
      const { invocationId = '' } = ending;
      const opened = openCallbackContext(
        options,
        invocationId,
        state,
        effectContext,
        true,
        NOT_AROUND_AGENTS,
      );
      const content = await firstSaid(callbacksIn(callbacks.afterAgent), opened.context);
      const { write, actions, acted } = opened.take();
      const { said, events } = wordsOf(options, invocationId, content);
      const words = { said, events: [...events, ...acted], write };
      return actions.endInvocation === true
        ? { stopped: { stop: { stopReason: 'end_turn' as const }, ...words } }
        : {
            ended: {
              ending: { ...ending, ...(actions.escalate === true && { escalate: true }) },
              ...words,
            },
          };
    },
  });
}

/** What an agent says, in the conversation and in the log. */
export function wordsOf(
  speaking: Speaking,
  invocationId: string,
  content: Content | undefined,
): { readonly said: readonly ConversationItem[]; readonly events: readonly LogEntry[] } {
  if (content === undefined) return { said: [], events: [] };
  const words: Content = { ...content, role: 'model' };
  return {
    said: [lineOf(speaking, { invocationId, content: words })],
    events: [
      {
        type: 'agent.message',
        invocationId,
        author: speaking.agentName,
        ...branchOf(speaking),
        content: words,
      },
    ],
  };
}

function failedAgent(
  invocationId: string,
  callback: keyof Callbacks,
  { message }: EffectFailure,
): { readonly stop: Ending; readonly events: readonly LogEntry[] } {
  const error = { code: 'callback_failed', message: `${callback} failed: ${message}` };
  return {
    stop: { stopReason: 'error' },
    events: [{ type: 'error', invocationId, ...error }],
  };
}
