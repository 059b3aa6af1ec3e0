import { ModelNotResolvedError, NamedModel } from '../../models/internal.ts';
import type { Model } from '../../models/index.ts';
import { getAgentHost } from './agent-host.ts';

/**
 * Returns the model to call: a named model as the host resolves it, any other model itself.
 * @throws ModelNotResolvedError
 */
export async function findModel(
  model: Model,
  agentName: string | undefined,
  host: unknown,
): Promise<Model> {
  if (!(model instanceof NamedModel)) return model;
  const resolve = getAgentHost(host)?.resolveModel;
  const agent = agentName ?? 'unknown';
  if (resolve !== undefined) return resolve(model, agent);
  throw new ModelNotResolvedError(
    agent,
    model.name,
    'this host resolves no names. Run the agent with openRuntime, or pass a model: await resolveModel(…).',
  );
}
