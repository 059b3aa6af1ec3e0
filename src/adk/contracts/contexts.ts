import type { AgentCallbackContext as NetCallbackContext } from '../../agents/index.ts';
import type { CallId, Content, InvocationId, JsonObject } from '../../core/index.ts';
import type { ToolArtifacts, ToolMemory } from '../../tools/index.ts';
import type { CheckedRunConfig } from './run-config.ts';
import type { GetSessionConfig, Session } from '../sessions/session.ts';

/** What an instruction provider can read. */
export interface ReadonlyContext {
  readonly invocationId: InvocationId;
  readonly agentName: string;
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
  /** The message that started the invocation. */
  readonly userContent: Content | undefined;
  readonly state: JsonObject;
}

/**
 * The context of a callback. `actions.endInvocation()` ends the invocation after the callback's result is committed.
 */
export interface CallbackContext
  extends Omit<ReadonlyContext, 'state'>, Omit<NetCallbackContext, 'sessionKey'> {}

/** The context of a callback around a tool call. */
export interface ToolCallbackContext extends CallbackContext {
  readonly functionCallId: CallId;
}

/** What a plugin sees of a whole invocation. */
export interface InvocationContext {
  readonly invocationId: InvocationId;
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly userContent: Content | undefined;
  readonly runConfig: CheckedRunConfig;
  /** The root agent. */
  readonly agent: AgentInfo | undefined;
  /** Artifacts of the session. Artifacts saved before the agents run are recorded in the log of this invocation. */
  readonly artifacts: ToolArtifacts;
  readonly memory: ToolMemory;
  /** True once `endInvocation` was called. */
  readonly ended: boolean;
  /** Reads the current session. Default: without events. */
  readonly session: (config?: GetSessionConfig) => Promise<Session>;
  /**
   * Stops the invocation: uncommitted work is dropped and open calls are answered. If called before the agents run, no
   * agent runs, and the message stays in the session.
   */
  readonly endInvocation: () => void;
}

/** An agent as its contexts and plugins see it. */
export interface AgentInfo {
  readonly name: string;
  readonly description: string;
  readonly subAgents: readonly AgentInfo[];
  /** Finds this agent or one of its descendants by name. */
  readonly findAgent: (name: string) => AgentInfo | undefined;
}
