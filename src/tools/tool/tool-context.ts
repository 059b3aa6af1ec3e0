import type {
  CallId,
  Content,
  FiringId,
  InvocationId,
  Json,
  SessionKey,
} from '../../core/index.ts';
import type { ArtifactService } from '../artifacts/artifact-service.ts';
import type { MemoryService } from '../memory/memory-service.ts';
import type { ToolAnswer } from './pending.ts';
import { readRunConfig, type RunConfigJson } from '../state/run-config-json.ts';
import { StateBuffer, type StateSnapshot, type ToolState } from '../state/state-buffer.ts';
import type { StateWrites } from '../state/state-writes.ts';
import { createActions, type Actions, type ToolActions } from './tool-actions.ts';
import { toolArtifacts, type ToolArtifacts } from './tool-artifacts.ts';
import { toolMemory, type ToolMemory } from './tool-memory.ts';

/** Which call it is. All of it is known before the tool runs, and the same at every attempt. */
export interface ToolCallFacts {
  readonly callId: CallId;
  readonly invocationId: InvocationId;
  readonly sessionKey: SessionKey;
  readonly agentName: string;
}

/** What a tool has at hand while it runs. */
export interface ToolContext extends ToolCallFacts {
  /** Aborts at the timeout, at an interrupt, and at shutdown. The call does not wait for a tool that ignores it. */
  readonly signal: AbortSignal;
  /** Stable over retries and crashes: the idempotency key for what the tool asks of others. */
  readonly firingId: FiringId;
  /** 1 for the first. */
  readonly attempt: number;
  /** The message that began the invocation. */
  readonly userContent: Content | undefined;
  /** What was sent with that message for tools to know; empty when nothing was. */
  readonly runConfig: RunConfigJson;
  readonly state: ToolState;
  readonly artifacts: ToolArtifacts;
  readonly memory: ToolMemory;
  /** There when the tool asked with `pending({ resume })` and runs again with the answer. */
  readonly answer?: ToolAnswer;
  /** Shows how far it is. Never journaled. */
  readonly progress: (text: string) => void;
  /** Adds actions to the event of the result. The last word on each counts. */
  readonly act: (actions: ToolActions) => void;
  /** The same, one word each. */
  readonly actions: Actions;
}

/** What a tool run needs from the one who runs it. */
export interface ToolRun extends ToolCallFacts {
  readonly signal: AbortSignal;
  readonly firingId: FiringId;
  readonly attempt: number;
  readonly userContent?: Content | undefined;
  readonly snapshot: StateSnapshot;
  readonly services?: ToolServices;
  readonly answer?: ToolAnswer;
  readonly progress: (text: string) => void;
}

/** What a runtime may have beside its store, for tools and instructions. */
export interface ToolServices {
  readonly artifacts?: ArtifactService;
  readonly memory?: MemoryService;
}

/** The context of one run, and what the tool did with it. */
export interface OpenedToolContext {
  readonly context: ToolContext;
  /** Taken once, when the tool has settled: what it does later goes nowhere. */
  readonly take: (current?: (key: string) => Json | undefined) => {
    readonly writes: StateWrites;
    readonly actions: ToolActions;
  };
}

/** Opens the context of one run of a tool. */
export function openToolContext(run: ToolRun): OpenedToolContext {
  const { snapshot, services = {}, ...facts } = run;
  const state = new StateBuffer(snapshot);
  let actions: ToolActions = {};
  const act = (more: ToolActions): void => {
    actions = { ...actions, ...more };
  };
  const { sessionKey: session, firingId } = run;
  const onSaved = (name: string, version: number): void =>
    act({ artifactDelta: { ...actions.artifactDelta, [name]: version } });
  return {
    context: {
      ...facts,
      userContent: run.userContent,
      runConfig: readRunConfig(snapshot),
      state: toToolState(state),
      artifacts: toolArtifacts({ service: services.artifacts, session, firingId, onSaved }),
      memory: toolMemory(services.memory, session),
      act,
      actions: createActions(act),
    },
    take: (current) => ({ writes: state.takeWrites(current), actions }),
  };
}

// A tool gets no way to take its own writes away.
function toToolState({
  get,
  set,
  delete: remove,
  update,
  increment,
  append,
}: StateBuffer): ToolState {
  return { get, set, delete: remove, update, increment, append };
}
