import type { Agent } from '../../agents/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { Model, ModelRef, ResolveModelOptions } from '../../models/index.ts';
import type { Clock } from '../../net/index.ts';
import type { Store } from '../../store/index.ts';
import type { ArtifactService, MemoryService } from '../../tools/index.ts';
import type { Interceptor } from '../interceptors/interceptor.ts';

/** What a runtime offers to the sources of its agents. */
export interface AgentSourceHost {
  /** The name of the runtime's application. */
  readonly app: string;
  /** Belongs to the runtime: a source must not close it. */
  readonly store: Store;
  readonly clock: Clock;
  readonly artifacts?: ArtifactService | undefined;
  readonly memory?: MemoryService | undefined;
  /** Resolves a model by the option `models` of the runtime. `options` are for models that it resolves by name. */
  readonly resolveModel: (
    model: ModelRef,
    options?: Pick<ResolveModelOptions, 'contextCache'>,
  ) => Promise<Model>;
  /** Receives errors that no call can report. */
  readonly onError: (error: unknown, key?: SessionKey) => void;
}

/**
 * Where agents of a runtime come from, besides `agent()`: an ADK `App`, or stored definitions. Pass it to `openRuntime`
 * in `agents`. Several runtimes can open a source, but an `App` closes its plugins with the first of them.
 */
export interface AgentSource {
  /**
   * Called when a runtime opens. If it rejects, the runtime does not open.
   */
  readonly open: (host: AgentSourceHost) => Promise<OpenAgentSource>;
}

/** A source that a runtime has opened. */
export interface OpenAgentSource {
  /** The agents that are known when the runtime opens. */
  readonly agents: readonly Agent[];
  /**
   * Finds an agent that is not in `agents`, by the name that its sessions store. Called each time a session needs its
   * agent. Default: there are no others.
   */
  readonly find?: ((name: string) => Promise<Agent | undefined>) | undefined;
  /**
   * Called before a schedule starts a session of an agent, also of another source. Rejects if the agent must not start
   * sessions. Default: it may.
   */
  readonly checkNewSession?: ((name: string) => Promise<void>) | undefined;
  /** Hooks around the sessions of this source's agents, inside those of the runtime. Default: none. */
  readonly interceptors?: readonly Interceptor[] | undefined;
  /**
   * Called when the runtime closes, after its sessions have stopped. The runtime waits for it, up to `closeTimeoutMs`.
   */
  readonly close?: (() => Promise<void>) | undefined;
}
