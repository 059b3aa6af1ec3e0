import { isJsonObject } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import type { GenerationConfig, JsonSchema } from '../../models/index.ts';

/** The state key of the output that the sender of a message requests. Its prefix removes it when the turn ends. */
export const REQUESTED_OUTPUT_KEY = 'temp:requested_output';

/** The output that the sender of a message requests. */
export type RequestedOutput = {
  readonly schema: JsonSchema;
  /** The agents whose answers can be the final answer. */
  readonly agents: readonly string[];
};

/** The generation options of an agent for this turn: its own, with the schema that the sender of the message requests. */
export function withRequestedOutput(
  config: GenerationConfig | undefined,
  agentName: string | undefined,
  state: JsonObject,
): GenerationConfig | undefined {
  const requested = state[REQUESTED_OUTPUT_KEY];
  if (!isJsonObject(requested)) return config;
  const { schema, agents } = requested;
  const isAsked = Array.isArray(agents) && agents.some((name) => name === agentName);
  return isAsked && isJsonObject(schema) ? { ...config, responseSchema: schema } : config;
}
