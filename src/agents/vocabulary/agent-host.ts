import type {
  CalledAgentWait,
  InvocationId,
  Json,
  JsonObject,
  SessionKey,
  StateDelta,
} from '../../core/index.ts';
import type { NamedModel } from '../../models/internal.ts';
import type { Model } from '../../models/index.ts';
import type { ToolMetadata, ToolServices } from '../../tools/index.ts';
import type { MessageMetadata } from './message-metadata.ts';
import type { PromptFormat } from './prompt-format.ts';
import type { SessionWrite } from './state.ts';
import type { CallInterceptor, InterceptedCall } from './call-interceptor.ts';

/** Services and context that the runtime gives to an agent's net. */
export interface AgentHost {
  readonly sessionKey: SessionKey;
  readonly services?: ToolServices;
  /**
   * Runs one request in a child session until the called agent is done or waits. A repeated request with the same
   * `firingId` resumes the same child session.
   */
  readonly runChildAgent?: (request: ChildAgentRequest) => Promise<ChildAgentOutcome>;
  readonly uncommittedState?: UncommittedState;
  /** Resolves a model that an agent names. @throws ModelNotResolvedError */
  readonly resolveModel?: (model: NamedModel, agentName: string) => Promise<Model>;
  /** The metadata of the message that started an invocation, while its turn runs. */
  readonly readMetadata?: (invocation: InvocationId) => MessageMetadata;
  /** The prompt format of the session; undefined if it has none. */
  readonly readPromptFormat?: () => PromptFormat | undefined;
  /** Called before every call of a model or a tool. */
  readonly onCall?: (
    call: Pick<InterceptedCall, 'kind' | 'name' | 'invocationId' | 'agentName'>,
  ) => void;
  /** Wraps every call of a model or a tool. */
  readonly interceptCall?: CallInterceptor;
  /** What the runtime attached to the session in memory, such as its live connections. */
  readonly attachment?: unknown;
  /** Counts one more model call of an invocation. Returns the number of the call within the invocation, from 1. */
  readonly countModelCall?: (invocation: InvocationId) => Promise<number>;
  /** Called before every call of a model, with its name. @throws QuotaExceededError when no call may be made */
  readonly checkQuota?: (model: string) => Promise<void>;
}

/** State including the writes of firings that have ended but are not committed yet. */
export interface UncommittedState {
  readonly getValue: (key: string) => Json | undefined;
  /** Adds the write with which a firing is about to end. */
  readonly addWrite: (firingId: string, write: SessionWrite) => void;
}

/** A call of an agent as a tool. */
export interface ChildAgentRequest {
  readonly agentName: string;
  readonly request: string;
  /** Identifies the child session and its message. The same for every attempt. */
  readonly firingId: string;
  readonly signal: AbortSignal;
  /** The invocation of the caller. */
  readonly invocationId: InvocationId;
  /** The caller's state as the call sees it. The called agent begins with it. */
  readonly state: JsonObject;
  /** The caller's limit of model calls. It applies to the called agent, too. Default: no limit. */
  readonly maxModelCalls?: number;
  /** True: when the called agent waits, the request returns `waiting`. False: the request stays open until it is done. */
  readonly parks: boolean;
}

/** The outcome of a called agent. */
export type ChildAgentOutcome =
  | {
      readonly kind: 'done';
      /** The last message of the agent. */
      readonly response: JsonObject;
      /** State keys that the agent set, without `temp:` keys. */
      readonly stateDelta: StateDelta;
      /** State keys that the agent removed. */
      readonly removed: readonly string[];
      /** Versions of the artifacts that the agent saved, by name. */
      readonly artifactDelta: Readonly<Record<string, number>>;
    }
  | { readonly kind: 'waiting'; readonly waits: readonly CalledAgentWait[] };

/** The key for a net that runs outside a session, in a test or a proof. */
const NO_SESSION: SessionKey = { appName: 'none', userId: 'none', sessionId: 'none' };

/** Reads the session key from a firing's `host`. Each member is `none` for a net that runs outside a session. */
export function getSessionKey(host: unknown): SessionKey {
  return isAgentHost(host) ? host.sessionKey : NO_SESSION;
}

/** The services of the host; none outside a runtime. */
export function getServices(host: unknown): ToolServices {
  return isAgentHost(host) ? (host.services ?? {}) : {};
}

/** The metadata of the message that started an invocation; empty outside a runtime. */
export function getMetadata(host: unknown, invocationId: InvocationId): MessageMetadata {
  return getAgentHost(host)?.readMetadata?.(invocationId) ?? {};
}

/** True if the prompts of this agent state its identity in this session. False outside a runtime. */
export function isIdentified(host: unknown, agentName: string): boolean {
  return getAgentHost(host)?.readPromptFormat?.()?.identified.includes(agentName) ?? false;
}

/** The metadata of a message that tools, callbacks and nodes see. */
export function getToolMetadata(host: unknown, invocationId: InvocationId): ToolMetadata {
  const { runConfig = {}, custom = {} } = getMetadata(host, invocationId);
  return { runConfig, metadata: custom };
}

export function getAgentHost(host: unknown): AgentHost | undefined {
  return isAgentHost(host) ? host : undefined;
}

function isAgentHost(host: unknown): host is AgentHost {
  return typeof host === 'object' && host !== null && 'sessionKey' in host;
}

/**
 * Runs a called agent in a child session.
 * @throws Error outside a runtime
 */
export async function runChildAgent(
  host: unknown,
  request: ChildAgentRequest,
): Promise<ChildAgentOutcome> {
  if (!isAgentHost(host) || host.runChildAgent === undefined)
    throw new Error('The host cannot run a called agent. Run the caller in a runtime.');
  return host.runChildAgent(request);
}
