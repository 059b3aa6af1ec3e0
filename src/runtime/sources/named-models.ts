import type { Agent } from '../../agents/index.ts';
import { describeValue } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import { ModelNotResolvedError, NamedModel } from '../../models/internal.ts';

import type { Model, ModelRef, ModelResolver, ResolveModelOptions } from '../../models/index.ts';

/** How a runtime resolves the models that agents name: a function, or the options of `resolveModel`. */
export type ModelsOption = ModelResolver | Omit<ResolveModelOptions, 'name'>;

type ReferenceOptions = Pick<ResolveModelOptions, 'contextCache'>;

/** The models that agents name, each resolved once. */
export class NamedModels {
  readonly #resolver: (
    ref: Parameters<ModelResolver>[0],
    options: ReferenceOptions,
  ) => Promise<Model>;
  readonly #resolved = new WeakMap<NamedModel, Promise<Model>>();

  /** @throws InvalidInputError */
  constructor(models: ModelsOption = { env: globalThis.process?.env ?? {} }) {
    if (typeof models !== 'function' && (typeof models !== 'object' || models === null))
      throw new InvalidInputError(
        'models',
        `must be a function that returns a model, or the options of resolveModel, such as { env: process.env }; it is ${describeValue(models)}.`,
      );
    this.#resolver =
      typeof models === 'function'
        ? models
        : async (ref, options) => {
            // Imported here, so that programs that name no model load no provider.
            const { resolveModel } = await import('../../models/index.ts');
            return resolveModel(ref, { ...models, ...options });
          };
  }

  /** Resolves a model that no agent names. @throws errors of the resolver */
  async resolveReference(model: ModelRef, options: ReferenceOptions): Promise<Model> {
    return new NamedModel(model).resolve(async (ref) => this.#resolver(ref, options));
  }

  /** @throws ModelNotResolvedError */
  async resolve(model: NamedModel, agentName: string): Promise<Model> {
    const resolving =
      this.#resolved.get(model) ?? model.resolve(async (ref) => this.#resolver(ref, {}));
    this.#resolved.set(model, resolving);
    try {
      return await resolving;
    } catch (cause) {
      // The next call tries again: the key may be there by then.
      this.#resolved.delete(model);
      throw new ModelNotResolvedError(agentName, model.name, describeFailure(cause), { cause });
    }
  }

  /**
   * Resolves the models of an agent, of its sub-agents and of the agents that it calls.
   * @throws ModelNotResolvedError
   */
  async check(agent: Agent, checked: Set<Agent> = new Set()): Promise<void> {
    if (checked.has(agent)) return;
    checked.add(agent);
    for (const model of agent.role.namedModels ?? []) await this.resolve(model, agent.name);
    for (const other of [...agent.role.subAgents, ...agent.children.values()])
      await this.check(other, checked);
  }
}

function describeFailure(cause: unknown): string {
  if (!(cause instanceof Error)) return 'the resolver of `models` failed.';
  if (!('variables' in cause) || !Array.isArray(cause.variables)) return cause.message;
  const variables = cause.variables.join(' or ');
  return `it needs a key. Set ${variables} in the environment, or pass models: { apiKey: () => key } to openRuntime.`;
}
