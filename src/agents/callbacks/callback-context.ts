import type {
  EventActions,
  FiringId,
  InvocationId,
  JsonObject,
  LogEntry,
  SessionKey,
} from '../../core/index.ts';
import type { EffectContext } from '../../net/index.ts';
import { createActions } from '../../tools/tool/tool-actions.ts';
import { StateBuffer } from '../../tools/state/state-buffer.ts';
import { toolArtifacts } from '../../tools/tool/tool-artifacts.ts';
import { toolMemory } from '../../tools/tool/tool-memory.ts';
import type {
  Actions,
  ToolActions,
  ToolArtifacts,
  ToolMemory,
  ToolState,
} from '../../tools/index.ts';
import { getAgentHost, getServices, getSessionKey } from '../vocabulary/agent-host.ts';
import type { SessionWrite } from '../vocabulary/state.ts';
import { branchField } from '../vocabulary/agent-identity.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { toSessionWrite } from '../state/session-write.ts';

/** What a callback has at hand. */
export interface AgentCallbackContext {
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
  /** What is saved is kept at once; the log says so with what the callback says. */
  readonly artifacts: ToolArtifacts;
  readonly memory: ToolMemory;
  readonly actions: Actions;
}

/** A callback's context, and what was done with it. */
export interface OpenedCallbackContext {
  readonly context: AgentCallbackContext;
  readonly act: (actions: ToolActions) => void;
  readonly take: () => {
    readonly write: readonly SessionWrite[];
    readonly actions: ToolActions;
    /** The artifacts that were saved, and what the log is to say of that: nothing, or one event. */
    readonly artifactDelta: ToolActions['artifactDelta'];
    readonly actionEvents: readonly LogEntry[];
  };
}

/** What callbacks around an agent or its model cannot ask for: only results of tools are looked at for it. */
export const UNSUPPORTED_AROUND_AGENTS: Parameters<typeof createActions>[1] = {
  transferToAgent:
    'is not honored in a callback around an agent or a model: call it in a tool or a callback around a tool.',
  skipSummarization:
    'is not honored in a callback around an agent or a model: call it in a tool or a callback around a tool.',
};

/** How long the callbacks of one place may take together, milliseconds. */
export const CALLBACK_TIMEOUT_MS = 60_000;

export function openCallbackContext(
  identity: AgentIdentity,
  invocationId: string,
  entries: JsonObject,
  { signal, firingId, attempt, host }: EffectContext,
  /** Whether `entries` are the session's state, and not what is yet to come of it. */
  isState = true,
  /** Actions that nobody would take here. */
  unsupported: Parameters<typeof createActions>[1] = {},
): OpenedCallbackContext {
  const { agentName, multiAgent } = identity;
  const sessionKey = getSessionKey(host);
  const { artifacts, memory } = getServices(host);
  const state = new StateBuffer({ get: (key) => entries[key] });
  let actions: ToolActions = {};
  const act = (more: ToolActions): void => {
    const artifactDelta = { ...actions.artifactDelta, ...more.artifactDelta };
    actions = {
      ...actions,
      ...more,
      ...(Object.keys(artifactDelta).length > 0 && { artifactDelta }),
    };
  };
  const { get, set, delete: remove, update, increment, append } = state;
  return {
    context: {
      agentName,
      invocationId,
      sessionKey,
      signal,
      firingId,
      attempt,
      ...multiAgent,
      state: { get, set, delete: remove, update, increment, append },
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
          : [actionsEvent(identity, invocationId, { artifactDelta })];
      return {
        write:
          write === undefined
            ? []
            : [{ ...write, invocationId, author: agentName, ...branchField(identity) }],
        actions: otherActions,
        artifactDelta: artifactDelta,
        actionEvents,
      };
    },
  };
}

/** An event with actions and no content, for an agent that acted without a message. */
function actionsEvent(
  identity: AgentIdentity,
  invocationId: string,
  actions: Partial<EventActions>,
): LogEntry {
  return {
    type: 'agent.message',
    invocationId,
    author: identity.agentName,
    ...branchField(identity),
    content: { role: 'model', parts: [] },
    actions,
  };
}
