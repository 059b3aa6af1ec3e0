import { omitUndefined, readOwn } from '../../core/internal.ts';
import type { JsonObject, LogEntry } from '../../core/index.ts';
import type { EffectContext } from '../../net/index.ts';
import {
  createActions,
  StateBuffer,
  toolArtifacts,
  toolMemory,
  toToolState,
} from '../../tools/internal.ts';
import type { Actions, ToolActions } from '../../tools/index.ts';
import {
  getAgentHost,
  getServices,
  getSessionKey,
  getToolMetadata,
} from '../vocabulary/agent-host.ts';
import type { SessionWrite } from '../vocabulary/state.ts';
import { branchField } from '../vocabulary/agent-identity.ts';
import { agentMessage } from '../vocabulary/agent-message.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { AgentContext } from './agent-context.ts';
import { toSessionWrite } from '../state/session-write.ts';

/** The context that a callback is called with. */
export interface AgentCallbackContext extends AgentContext {
  readonly agentName: string;
  readonly branch?: string;
  /** 1 for the first attempt. A callback runs again only if its process died before it returned. */
  readonly attempt: number;
  readonly actions: Actions;
}

/** A callback's context, with access to the writes and actions that the callback made through it. */
export interface OpenedCallbackContext {
  readonly context: AgentCallbackContext;
  readonly act: (actions: ToolActions) => void;
  readonly take: () => {
    readonly write: readonly SessionWrite[];
    readonly actions: ToolActions;
    /** Versions of the saved artifacts, by name. */
    readonly artifactDelta: ToolActions['artifactDelta'];
    /** One event with the saved artifacts, or none. */
    readonly actionEvents: readonly LogEntry[];
  };
}

/** Actions that callbacks around an agent or a model do not support. They take effect only in tool results. */
export const UNSUPPORTED_AROUND_AGENTS: Parameters<typeof createActions>[1] = {
  transferToAgent:
    'is not honored in a callback around an agent or a model: call it in a tool or a callback around a tool.',
  skipSummarization:
    'is not honored in a callback around an agent or a model: call it in a tool or a callback around a tool.',
};

/** The total time for the callbacks of one kind at one point, in milliseconds. */
export const CALLBACK_TIMEOUT_MS = 60_000;

/** Opens the context of a callback. Writes and actions are buffered until `take`. */
export function openCallbackContext(
  identity: AgentIdentity,
  invocationId: string,
  entries: JsonObject,
  { signal, firingId, attempt, host }: EffectContext,
  /** False if `entries` already include uncommitted writes, so that the state is not the session's. */
  isState = true,
  /** Actions that have no effect here, with the advice for the error. */
  unsupported: Parameters<typeof createActions>[1] = {},
): OpenedCallbackContext {
  const { agentName, multiAgent } = identity;
  const sessionKey = getSessionKey(host);
  const { artifacts, memory } = getServices(host);
  const state = new StateBuffer({ get: (key) => readOwn(entries, key) });
  let actions: ToolActions = {};
  const act = (more: ToolActions): void => {
    const artifactDelta = { ...actions.artifactDelta, ...more.artifactDelta };
    actions = {
      ...actions,
      ...more,
      ...omitUndefined({
        artifactDelta: Object.keys(artifactDelta).length > 0 ? artifactDelta : undefined,
      }),
    };
  };
  return {
    context: {
      agentName,
      invocationId,
      sessionKey,
      signal,
      firingId,
      attempt,
      ...multiAgent,
      ...getToolMetadata(host, invocationId),
      state: toToolState(state),
      artifacts: toolArtifacts({
        service: artifacts,
        session: sessionKey,
        firingId,
        onSaved: (name, version) => act({ artifactDelta: { [name]: version } }),
      }),
      memory: toolMemory(memory, sessionKey),
      actions: createActions(act, unsupported),
    },
    act,
    take: () => {
      const uncommitted = isState ? getAgentHost(host)?.uncommittedState : undefined;
      const write = toSessionWrite(state.takeWrites(uncommitted?.getValue), entries);
      if (write !== undefined) uncommitted?.addWrite(firingId, write);
      const { artifactDelta, ...otherActions } = actions;
      const actionEvents =
        artifactDelta === undefined
          ? []
          : agentMessage(identity, invocationId, undefined, { actions: { artifactDelta } }).events;
      return {
        write:
          write === undefined
            ? []
            : [{ ...write, invocationId, author: agentName, ...branchField(identity) }],
        actions: otherActions,
        artifactDelta,
        actionEvents,
      };
    },
  };
}
