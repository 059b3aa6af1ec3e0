import type { FiringId, InvocationId, JsonObject, LogEntry, SessionKey } from '../core/index.ts';
import type { EffectContext } from '../net/index.ts';
import { actionsOf } from '../tools/tool-actions.ts';
import { StateBuffer } from '../tools/state-buffer.ts';
import { toolArtifacts } from '../tools/tool-artifacts.ts';
import { toolMemory } from '../tools/tool-memory.ts';
import type { Actions, ToolActions, ToolArtifacts, ToolMemory, ToolState } from '../tools/index.ts';
import { actedEvents } from './acted-events.ts';
import { agentHostOf, servicesOf, sessionKeyOf } from './host.ts';
import type { SessionWrite } from './places.ts';
import { branchOf } from './speaking.ts';
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
  /** What is saved is kept at once; the log says so with what the callback says. */
  readonly artifacts: ToolArtifacts;
  readonly memory: ToolMemory;
  readonly actions: Actions;
}

/** A callback's context, and what was done with it. */
export interface OpenedCallbackContext {
  readonly context: CallbackContext;
  readonly act: (actions: ToolActions) => void;
  readonly take: () => {
    readonly write: readonly SessionWrite[];
    readonly actions: ToolActions;
    /** The artifacts that were saved, and what the log is to say of that: nothing, or one event. */
    readonly saved: ToolActions['artifactDelta'];
    readonly acted: readonly LogEntry[];
  };
}

/** What callbacks around an agent or its model cannot ask for: only results of tools are looked at for it. */
export const NOT_AROUND_AGENTS: Parameters<typeof actionsOf>[1] = {
  transferToAgent:
    'is not honored in a callback around an agent or a model: call it in a tool or a callback around a tool.',
  skipSummarization:
    'is not honored in a callback around an agent or a model: call it in a tool or a callback around a tool.',
};

/** How long the callbacks of one place may take together, milliseconds. */
export const CALLBACK_TIMEOUT_MS = 60_000;

export function openCallbackContext(
  speaking: Speaking,
  invocationId: string,
  entries: JsonObject,
  { signal, firingId, attempt, host }: EffectContext,
  /** Whether `entries` are the session's state, and not what is yet to come of it. */
  isState = true,
  /** Actions that nobody would take here. */
  refused: Parameters<typeof actionsOf>[1] = {},
): OpenedCallbackContext {
  const { agentName, among } = speaking;
  const sessionKey = sessionKeyOf(host);
  const { artifacts, memory } = servicesOf(host);
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
      ...among,
      state: { get, set, delete: remove, update, increment, append },
      artifacts: toolArtifacts({
        service: artifacts,
        session: sessionKey,
        firingId,
        saved: (name, version) => act({ artifactDelta: { [name]: version } }),
      }),
      memory: toolMemory(memory, sessionKey),
      actions: actionsOf(act, refused),
    },
    act,
    take: () => {
      const ahead = isState ? agentHostOf(host)?.stateAhead : undefined;
      const write = writeOf(state.takeWrites(ahead?.valueOf), entries);
      if (write !== undefined) ahead?.ending(firingId, write);
      const { artifactDelta, ...wishes } = actions;
      const acted =
        artifactDelta === undefined ? [] : actedEvents(speaking, invocationId, { artifactDelta });
      return {
        write:
          write === undefined
            ? []
            : [{ ...write, invocationId, author: agentName, ...branchOf(speaking) }],
        actions: wishes,
        saved: artifactDelta,
        acted,
      };
    },
  };
}
