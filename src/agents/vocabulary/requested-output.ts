import type { GenerationConfig, JsonSchema } from '../../models/index.ts';

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
  requested: RequestedOutput | undefined,
): GenerationConfig | undefined {
  const isAsked = requested?.agents.some((name) => name === agentName) === true;
  return isAsked ? { ...config, responseSchema: requested.schema } : config;
}
