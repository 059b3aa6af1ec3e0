import { isJsonObject, PetrichorError } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import { tool } from '../../tools/index.ts';
import type { InferArgs, ToolParameters } from '../../tools/index.ts';

/**
 * A model's answer does not match the agent's output schema, or is not JSON.
 * @remedy Ask again, state the format in the instruction, or relax the schema.
 */
export class OutputSchemaError extends PetrichorError {
  override readonly code = 'output_schema' as const;
  readonly agentName: string;

  constructor(agentName: string, problem: string) {
    super(`The answer of "${agentName}" does not match its outputSchema: ${problem}`);
    this.agentName = agentName;
  }
}

/**
 * Creates a parser for JSON text of an object schema.
 * @throws InvalidToolError if the schema is not an object schema
 */
export function createOutputParser<S extends ToolParameters>(
  agentName: string,
  schema: S,
): (text: string) => InferArgs<S> {
  const { parse } = tool({ name: 'value', description: 'A value.', parameters: schema });
  return (text) => {
    const parsed = parse(parseObject(agentName, text));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what this schema accepts is its output
    if (parsed.ok) return parsed.value as unknown as InferArgs<S>;
    throw new OutputSchemaError(agentName, parsed.message);
  };
}

function parseObject(agentName: string, text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new OutputSchemaError(agentName, 'it is not JSON.');
  }
  if (isJsonObject(value)) return value;
  throw new OutputSchemaError(agentName, 'it is not an object.');
}
