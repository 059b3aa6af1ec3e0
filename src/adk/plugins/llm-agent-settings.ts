import type { AgentDefinition } from '../../agents/index.ts';
import type { Model } from '../../models/index.ts';
import type { InstructionProvider } from '../contracts/instruction-provider.ts';

/** How an agent with a model is made, as a plugin may change it before any session runs. */
export interface LlmAgentSettings extends Pick<
  AgentDefinition,
  'name' | 'context' | 'tools' | 'config' | 'modelCoolDownMs'
> {
  /** Told before the agent's own instruction, in this order. */
  readonly globalInstructions?: readonly (string | InstructionProvider)[];
  /** Names are resolved by the runner. */
  readonly model: string | Model;
  /** Asked in their order when `model` fails. */
  readonly fallbackModels?: readonly (string | Model)[];
}
