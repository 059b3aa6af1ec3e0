import type {
  CalledAgentWait,
  InvocationId,
  Json,
  JsonObject,
  SessionKey,
  StateDelta,
} from '../../core/index.ts';
import type { ToolServices } from '../../tools/index.ts';
import type { SessionWrite } from './state.ts';
import type { CallInterceptor } from './call-interceptor.ts';

/** What an agent's net may know of where it runs. */
export interface AgentHost {
  readonly sessionKey: SessionKey;
  readonly services?: ToolServices;
  /** Runs one request in a session of its own until that agent is done, or waits. Asked again, it goes on. */
  readonly runChildAgent?: (request: ChildAgentRequest) => Promise<ChildAgentOutcome>;
  readonly uncommittedState?: UncommittedState;
  /** Sees calls of models and tools while they are made. */
  readonly interceptCall?: CallInterceptor;
  /** Counts one more model call of an invocation and returns its number in it, from 1. */
  readonly countModelCall?: (invocation: InvocationId) => Promise<number>;
}

/** State as it will be when all that has ended is written, though none of that is committed yet. */
export interface UncommittedState {
  readonly getValue: (key: string) => Json | undefined;
  /** A firing is about to end with this write. */
  readonly addWrite: (firingId: string, write: SessionWrite) => void;
}

/** A call of an agent as a tool. */
export interface ChildAgentRequest {
  readonly agentName: string;
  readonly request: string;
  /** Names the child session and its message: the same at every attempt. */
  readonly firingId: string;
  readonly signal: AbortSignal;
  /** The invocation that calls. */
  readonly invocationId: InvocationId;
  /** State of the caller, as the call sees it: the agent begins with it. */
  readonly state: JsonObject;
  /** The caller waits when the agent does. Otherwise the agent's answers are awaited here. */
  readonly parks: boolean;
}

/** What a called agent came to. */
export type ChildAgentOutcome =
  | {
      readonly kind: 'done';
      /** What the agent said last. */
      readonly response: JsonObject;
      /** State that the agent set, without `temp:` keys. */
      readonly stateDelta: StateDelta;
      /** State that the agent removed. */
      readonly removed: readonly string[];
      /** Versions of the artifacts that the agent saved, by name. */
      readonly artifactDelta: Readonly<Record<string, number>>;
    }
  | { readonly kind: 'waiting'; readonly waits: readonly CalledAgentWait[] };

/** A net that runs outside a session, in a test or a proof, has no key of its own. */
const NO_SESSION: SessionKey = { appName: 'none', userId: 'none', sessionId: 'none' };

/** The session that a firing's `host` stands for; `none` in each member for a net that runs outside a session. */
export function getSessionKey(host: unknown): SessionKey {
  return isAgentHost(host) ? host.sessionKey : NO_SESSION;
}

export function getServices(host: unknown): ToolServices {
  return isAgentHost(host) ? (host.services ?? {}) : {};
}

export function getAgentHost(host: unknown): AgentHost | undefined {
  return isAgentHost(host) ? host : undefined;
}

function isAgentHost(host: unknown): host is AgentHost {
  return typeof host === 'object' && host !== null && 'sessionKey' in host;
}

/** @throws Error outside a runtime */
export async function runChildAgent(
  host: unknown,
  request: ChildAgentRequest,
): Promise<ChildAgentOutcome> {
  if (!isAgentHost(host) || host.runChildAgent === undefined)
    throw new Error('An agent runs as a tool only inside a runtime.');
  return host.runChildAgent(request);
}
