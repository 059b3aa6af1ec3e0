import { describeValue, isObject, isPromise } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';

/**
 * Checks a list of agents, for example `subAgents` of an agent or `agents` of a runtime.
 * @throws InvalidInputError for a value that is not a list, and for an entry that is not an agent
 */
export function checkAgents(field: string, agents: unknown): void {
  checkAgentList(field, agents);
  for (const [index, one] of agents.entries()) checkAgent(`${field}[${index}]`, one);
}

/** @throws InvalidInputError for a value that is not an agent */
export function checkAgent(field: string, value: unknown): void {
  if (isObject(value) && typeof value['name'] === 'string' && isObject(value['compiled'])) return;
  const nextStep = isPromise(value) ? 'Await it.' : 'Create it with agent().';
  throw new InvalidInputError(
    field,
    `must be an agent; it is ${describeValue(value)}. ${nextStep}`,
  );
}

/** @throws InvalidInputError for a value that is not a list */
export function checkAgentList(
  field: string,
  agents: unknown,
): asserts agents is readonly unknown[] {
  if (Array.isArray(agents)) return;
  throw new InvalidInputError(
    field,
    `must be a list of agents; it is ${describeValue(agents)}. Write ${field}: [agent].`,
  );
}
