import type {
  CallId,
  Content,
  FiringId,
  InvocationId,
  Json,
  JsonObject,
  SessionKey,
} from '../../core/index.ts';
import type { ArtifactService } from '../artifacts/artifact-service.ts';
import type { MemoryService } from '../memory/memory-service.ts';
import type { ToolAnswer } from './pending.ts';
import {
  StateBuffer,
  toToolState,
  type BufferedWrites,
  type StateSnapshot,
  type ToolState,
} from '../state/state-buffer.ts';
import { createActions, type Actions, type ToolActions } from './tool-actions.ts';
import { toolArtifacts, type ToolArtifacts } from './tool-artifacts.ts';
import { toolMemory, type ToolMemory } from './tool-memory.ts';

/**
 * Options that the sender of a message passes for its invocation. Tools can read them; Petrichor acts on `maxLlmCalls`
 * alone.
 */
export type RunConfigJson = JsonObject;

/** Identifies a call. All members are known before the tool runs, and equal at every attempt. */
export interface ToolCallFacts {
  readonly callId: CallId;
  readonly invocationId: InvocationId;
  readonly sessionKey: SessionKey;
  readonly agentName: string;
}

/** What the sender of a message passes to the tools of its invocation. */
export interface ToolMetadata {
  /** The run config that was sent with the message that started the invocation. Default: `{}`. */
  readonly runConfig: RunConfigJson;
  /** The custom metadata that was sent with that message. Default: `{}`. */
  readonly metadata: JsonObject;
}

/** The context that `execute` receives. */
export interface ToolContext extends ToolCallFacts, ToolMetadata {
  /**
   * Aborts at the timeout, at an interrupt, and at shutdown. The call does not wait for a tool that
   * ignores it.
   */
  readonly signal: AbortSignal;
  /**
   * Stable over retries and crashes: use it as the idempotency key of requests to other services.
   */
  readonly firingId: FiringId;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The message that started the invocation. */
  readonly userContent: Content | undefined;
  readonly state: ToolState;
  readonly artifacts: ToolArtifacts;
  readonly memory: ToolMemory;
  /**
   * Set when the tool returned `pending({ resume })` earlier and now runs again with the answer.
   */
  readonly answer?: ToolAnswer;
  /** Reports progress. It is shown live and never journaled. */
  readonly progress: (text: string) => void;
  /** Adds actions to the event of the result. The last value of each action wins. */
  readonly act: (actions: ToolActions) => void;
  /** The same actions as methods. */
  readonly actions: Actions;
}

/** What the caller of a tool supplies for one run. */
export interface ToolRun extends ToolCallFacts, Partial<ToolMetadata> {
  readonly signal: AbortSignal;
  readonly firingId: FiringId;
  readonly attempt: number;
  readonly userContent?: Content | undefined;
  readonly snapshot: StateSnapshot;
  readonly services?: ToolServices;
  readonly answer?: ToolAnswer;
  readonly progress: (text: string) => void;
}

/** Optional services of a runtime for tools and instructions. */
export interface ToolServices {
  readonly artifacts?: ArtifactService;
  readonly memory?: MemoryService;
}

/** The context of one run, and the way to collect its writes and actions. */
export interface OpenedToolContext {
  readonly context: ToolContext;
  /** Call it once, when the tool has settled. What the tool does later has no effect. */
  readonly take: (current?: (key: string) => Json | undefined) => {
    readonly writes: BufferedWrites;
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
      runConfig: run.runConfig ?? {},
      metadata: run.metadata ?? {},
      state: toToolState(state),
      artifacts: toolArtifacts({ service: services.artifacts, session, firingId, onSaved }),
      memory: toolMemory(services.memory, session),
      act,
      actions: createActions(act),
    },
    take: (current) => ({ writes: state.takeWrites(current), actions }),
  };
}
