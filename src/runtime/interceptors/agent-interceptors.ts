import { composeInterceptors } from './interceptor.ts';
import type { ComposedInterceptor, Interceptor } from './interceptor.ts';

export interface AgentInterceptorsOptions {
  /** Hooks around the sessions of all agents. */
  readonly own: readonly Interceptor[];
  /** Lists the hooks that the source of an agent adds. They run inside `own`. */
  readonly listAdded: (agentName: string) => readonly Interceptor[];
  readonly onError: (error: unknown) => void;
}

/** The hooks around the sessions of each agent, composed once per agent. */
export class AgentInterceptors {
  readonly #options: AgentInterceptorsOptions;
  readonly #own: ComposedInterceptor;
  readonly #byAgent = new Map<string, ComposedInterceptor>();

  constructor(options: AgentInterceptorsOptions) {
    this.#options = options;
    this.#own = composeInterceptors(options.own, options.onError);
  }

  get(agentName: string): ComposedInterceptor {
    const known = this.#byAgent.get(agentName);
    if (known !== undefined) return known;
    const { own, listAdded, onError } = this.#options;
    const added = listAdded(agentName);
    const composed =
      added.length === 0 ? this.#own : composeInterceptors([...own, ...added], onError);
    this.#byAgent.set(agentName, composed);
    return composed;
  }
}
