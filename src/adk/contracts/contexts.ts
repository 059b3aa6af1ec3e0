import type { AgentCallbackContext as NetCallbackContext } from '../../agents/index.ts';
import type { CallId, Content, InvocationId, JsonObject } from '../../core/index.ts';
import type { ToolArtifacts, ToolMemory } from '../../tools/index.ts';
import type { AgentInfo } from './agent-info.ts';
import type { CheckedRunConfig } from './run-config.ts';
import type { GetSessionConfig, Session } from '../sessions/session.ts';

/** What an instruction provider may look at. */
export interface ReadonlyContext {
  readonly invocationId: InvocationId;
  readonly agentName: string;
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
  /** The message that began the invocation. */
  readonly userContent: Content | undefined;
  readonly state: JsonObject;
}

/** What a callback has at hand. `actions.endInvocation()` ends the invocation after what it says is committed. */
export interface CallbackContext
  extends Omit<ReadonlyContext, 'state'>, Omit<NetCallbackContext, 'sessionKey'> {}

/** What a callback around a call of a tool has at hand. */
export interface ToolCallbackContext extends CallbackContext {
  readonly functionCallId: CallId;
}

/** What a plugin sees of an invocation as a whole. */
export interface InvocationContext {
  readonly invocationId: InvocationId;
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly userContent: Content | undefined;
  readonly runConfig: CheckedRunConfig;
  /** The root agent. */
  readonly agent: AgentInfo | undefined;
  /** Of the session. What is saved before the agents run stands in the log of this invocation. */
  readonly artifacts: ToolArtifacts;
  readonly memory: ToolMemory;
  /** True once somebody asked for the end. */
  readonly ended: boolean;
  /** The session as it is now; without its events, unless the config asks for some. */
  readonly session: (config?: GetSessionConfig) => Promise<Session>;
  /**
   * Stops the invocation: what is not committed yet is dropped, open calls are answered. Before the agents run, none does;
   * the message stays in the session.
   */
  readonly endInvocation: () => void;
}
