import type { AgentDefinition } from '../../agents/index.ts';
import type { Model } from '../../models/index.ts';
import type { InstructionProvider } from '../contracts/instruction-provider.ts';

/** The settings of an agent with a model that a plugin may change before any session runs. */
export interface LlmAgentSettings extends Pick<
  AgentDefinition,
  'name' | 'context' | 'tools' | 'config' | 'modelCoolDownMs'
> {
  /** Placed before the agent's own instruction, in this order. */
  readonly globalInstructions?: readonly (string | InstructionProvider)[];
  /** A name is resolved by the runner. */
  readonly model: string | Model;
  /** Called in this order when `model` fails. */
  readonly fallbackModels?: readonly (string | Model)[];
}
