import { parseOrigins } from '../../egress/index.ts';
import { checkModelOrigin } from '../../models/index.ts';
import type { Agent } from '../../agents/index.ts';
import type { ModelRef } from '../../models/index.ts';
import type { AgentSource, AgentSourceHost, OpenAgentSource } from '../../runtime/index.ts';
import type { Store } from '../../store/index.ts';
import { AgentCatalog } from '../catalogs/agent-catalog.ts';
import { deriveAgentId, parseAgentName } from '../catalogs/agent-name.ts';
import { SessionCatalog } from '../catalogs/session-catalog.ts';
import { createIdGenerator } from '../catalogs/sortable-id.ts';
import { AgentArchivedError } from '../interface/managed-errors.ts';
import { toAgentServices } from './definition-options.ts';
import type { DefinitionOptions } from './definition-options.ts';
import type { AgentServices } from './compile-agent.ts';
import { CompiledAgentCache } from './compiled-agent-cache.ts';

/** The stored definitions of agents, as a source of agents. Each version is compiled when a session first needs it. */
export class DefinitionSource implements AgentSource {
  readonly services: AgentServices;
  readonly #options: DefinitionOptions;
  readonly #compiled = new WeakMap<Store, CompiledAgentCache>();

  /** @throws InvalidInputError if `modelOrigins` is invalid */
  constructor(options: DefinitionOptions) {
    parseOrigins(options.modelOrigins ?? [], 'modelOrigins');
    this.#options = options;
    this.services = toAgentServices(options);
  }

  readonly open = async ({ app, store, clock }: AgentSourceHost): Promise<OpenAgentSource> => {
    const newId = createIdGenerator(clock);
    const agents = new AgentCatalog({ documents: store, clock, newId: () => newId('agent') });
    const compiled = new CompiledAgentCache(agents, new SessionCatalog(store, app), this.services);
    this.#compiled.set(store, compiled);
    return {
      agents: [],
      find: async (name) => compiled.get(name),
      checkNewSession: async (name) => {
        const id = parseAgentName(name)?.agentId;
        const definition = id === undefined ? undefined : await agents.find(id);
        const found = definition ?? (await agents.find(deriveAgentId(name)));
        const isAgent = found?.source === 'code' || definition !== undefined;
        if (isAgent && found?.archivedAt !== undefined) throw new AgentArchivedError(found.id);
      },
      close: async () => compiled.close(),
    };
  };

  /** @throws InvalidInputError if the model is at an origin that the options do not allow */
  checkModel(ref: ModelRef): void {
    const { env = {}, modelOrigins = [] } = this.#options;
    checkModelOrigin(ref, env, modelOrigins);
  }

  /** Compiles the agent of this name. Undefined if there is none. @throws errors of compiling */
  async compile(store: Store, name: string): Promise<Agent | undefined> {
    return this.#compiled.get(store)?.get(name);
  }
}
