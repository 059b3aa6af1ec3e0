import { describeValue, isObject, isPromise } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';

/**
 * Checks a list of agents, for example `subAgents` of an agent or `agents` of a runtime.
 * @throws InvalidInputError for a value that is not a list, and for an entry that is not an agent
 */
export function checkAgents(field: string, agents: unknown): void {
  if (!Array.isArray(agents))
    throw new InvalidInputError(
      field,
      `must be a list of agents; it is ${describeValue(agents)}. Write ${field}: [agent].`,
    );
  for (const [index, one] of agents.entries()) {
    if (isObject(one) && typeof one['name'] === 'string' && isObject(one['compiled'])) continue;
    const nextStep = isPromise(one) ? 'Await it.' : 'Create it with agent().';
    throw new InvalidInputError(
      `${field}[${index}]`,
      `must be an agent; it is ${describeValue(one)}. ${nextStep}`,
    );
  }
}
