import { describeValue, isPromise, isRecord, isStateKey, readMember } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import { checkAgents } from '../agent/check-agents.ts';
import { checkAgentName } from '../vocabulary/check-agent-name.ts';
import type { LlmDefinition } from './llm-agent-parts.ts';

/**
 * Checks that the required options of an agent are present, and the types of its main options.
 * @throws InvalidInputError
 */
export function checkAgentDefinition(
  definition: Pick<
    LlmDefinition,
    'name' | 'instruction' | 'leadingInstruction' | 'globalInstruction'
  > & {
    readonly model: unknown;
    readonly fallbackModels?: unknown;
    readonly subAgents?: unknown;
  },
): void {
  const { name, model, subAgents = [] } = definition;
  checkAgentName(name);
  checkModel('model', name, model);
  const fallbackModels: unknown = definition.fallbackModels ?? [];
  if (!Array.isArray(fallbackModels))
    throw new InvalidInputError(
      'fallbackModels',
      `of agent "${name}" must be a list of models; it is ${describeValue(fallbackModels)}.`,
    );
  for (const [index, one] of fallbackModels.entries())
    checkModel(`fallbackModels[${index}]`, name, one);
  for (const field of ['instruction', 'leadingInstruction', 'globalInstruction'] as const)
    checkInstruction(field, name, definition[field]);
  checkAgents('subAgents', subAgents);
  for (const [field, rule] of Object.entries(OPTION_RULES)) {
    const value = readMember(definition, field);
    if (value === undefined || rule.accepts(value)) continue;
    throw new InvalidInputError(
      field,
      `of agent "${name}" must be ${rule.expected}; it is ${describeValue(value)}.`,
    );
  }
}

const isPositive = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;
const isText = (value: unknown): boolean => typeof value === 'string';

/** The options whose type no other check knows. */
const OPTION_RULES: Readonly<
  Record<string, { readonly accepts: (value: unknown) => boolean; readonly expected: string }>
> = {
  description: { accepts: isText, expected: 'a text' },
  budgetMessage: { accepts: isText, expected: 'a text' },
  outputKey: {
    accepts: isStateKey,
    expected:
      "a state key: not empty, at most 256 bytes, without /, \\, '..' or a control character",
  },
  callbacks: { accepts: isRecord, expected: 'an object, such as { beforeModel: fn }' },
  extensions: { accepts: Array.isArray, expected: 'a list of nets' },
  modelTimeoutMs: { accepts: isPositive, expected: 'a number of milliseconds above 0' },
  modelCoolDownMs: { accepts: isPositive, expected: 'a number of milliseconds above 0' },
};

/** Accepts a model and a reference. `parseModelRef` checks the reference itself. */
function checkModel(field: string, agentName: string, model: unknown): void {
  if (typeof readMember(model, 'generate') === 'function') return;
  if (typeof model === 'string' && model !== '') return;
  if (readMember(model, 'provider') !== undefined) return;
  const cause = isPromise(model) ? ' Await it: resolveModel is asynchronous.' : '';
  throw new InvalidInputError(
    field,
    `of agent "${agentName}" must be a model with a generate function, a name such as 'gpt-5', or { provider, model }; it is ${describeValue(model)}.${cause}`,
  );
}

function checkInstruction(field: string, agentName: string, value: unknown): void {
  if (value === undefined || typeof value === 'string' || typeof value === 'function') return;
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries())
      checkInstruction(`${field}[${index}]`, agentName, one ?? null);
    return;
  }
  throw new InvalidInputError(
    field,
    `of agent "${agentName}" must be a text, a function that returns one, or a list of both; it is ${describeValue(value)}.`,
  );
}
