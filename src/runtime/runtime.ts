import type { Agent } from '../agents/index.ts';
import type { SessionKey } from '../core/index.ts';
import type { SessionRow, Store } from '../store/index.ts';
import type { InputBatch } from './session/input-batch.ts';
import type { Session, SessionOptions } from './session/session.ts';

/**
 * Runs sessions over a store. Several runtimes may share a store, in one process or many. Each session has one owner at
 * a time; every runtime can read it and send to it.
 */
export interface Runtime extends AsyncDisposable {
  readonly app: string;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly store: Store;
  /**
   * Opens the session with this id and resumes its work, or creates it.
   * @throws InvalidInputError when the session is new and its id has the form of a called agent's session id
   * @throws UnknownAgentError when the runtime does not have the agent
   * @throws AgentMismatchError when the session belongs to another agent
   * @throws NetChangedError when the agent has changed and the session's tokens do not fit it
   * @throws SessionQuarantinedError when the session is quarantined
   */
  session(id: string, options?: SessionOptions): Promise<Session>;
  /**
   * Opens the session with this id, quarantined or not. Undefined when there is none.
   * @throws UnknownAgentError when the runtime does not have its agent
   */
  find(id: string, options?: { readonly user?: string }): Promise<Session | undefined>;
  /** Creates a batch of inputs that are written together: all of them or none. */
  batch(): InputBatch;
  /**
   * Lists sessions, last changed first. Sessions of called agents are left out. With `parent`, lists the sessions of
   * the agents that this session called instead.
   */
  sessions(filter?: {
    readonly user?: string;
    readonly agent?: string;
    readonly parent?: string;
    readonly limit?: number;
    readonly after?: SessionKey;
  }): Promise<readonly SessionRow[]>;
  /**
   * Deletes a session, its data, and the sessions of the agents it called. Stops their running effects. Returns false
   * when there was no such session.
   */
  delete(id: string, options?: { readonly user?: string }): Promise<boolean>;
  /**
   * Aborts running effects, waits up to 5 s for them, commits their steps and releases every session. Waits up to 10 s
   * until the inputs that were submitted before are durable, and refuses later ones with RuntimeClosedError.
   */
  close(): Promise<void>;
}
