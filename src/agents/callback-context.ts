import type { FiringId, InvocationId, JsonObject, SessionKey } from '../core/index.ts';
import type { EffectContext } from '../net/index.ts';
import { actionsOf, StateBuffer } from '../tools/index.ts';
import type { Actions, ToolActions, ToolState } from '../tools/index.ts';
import { sessionKeyOf } from './host.ts';
import type { SessionWrite } from './places.ts';
import type { Speaking } from './speaking.ts';
import { writeOf } from './state-change.ts';

/** What a callback has at hand. */
export interface CallbackContext {
  readonly agentName: string;
  readonly branch?: string;
  readonly invocationId: InvocationId;
  readonly sessionKey: SessionKey;
  /** Aborts at the timeout, at an interrupt, and at shutdown. */
  readonly signal: AbortSignal;
  /** Stable over retries and crashes. */
  readonly firingId: FiringId;
  /** 1 for the first. A callback is asked again only when its process died before it had answered. */
  readonly attempt: number;
  /** Its writes are committed with what it says, or not at all. */
  readonly state: ToolState;
  readonly actions: Actions;
}

/** A callback's context, and what was done with it. */
export interface OpenedCallbackContext {
  readonly context: CallbackContext;
  readonly act: (actions: ToolActions) => void;
  readonly take: () => {
    readonly write: readonly SessionWrite[];
    readonly actions: ToolActions;
  };
}

/** How long the callbacks of one place may take together, milliseconds. */
export const CALLBACK_TIMEOUT_MS = 60_000;

export function openCallbackContext(
  { agentName, among }: Speaking,
  invocationId: string,
  entries: JsonObject,
  { signal, firingId, attempt, host }: EffectContext,
): OpenedCallbackContext {
  const state = new StateBuffer({ get: (key) => entries[key] });
  let actions: ToolActions = {};
  const act = (more: ToolActions): void => {
    actions = { ...actions, ...more };
  };
  const { get, set, delete: remove, update, increment, append } = state;
  return {
    context: {
      agentName,
      invocationId,
      sessionKey: sessionKeyOf(host),
      signal,
      firingId,
      attempt,
      ...among,
      state: { get, set, delete: remove, update, increment, append },
      actions: actionsOf(act),
    },
    act,
    take: () => {
      const write = writeOf(state.takeWrites(), entries);
      return { write: write === undefined ? [] : [write], actions };
    },
  };
}
