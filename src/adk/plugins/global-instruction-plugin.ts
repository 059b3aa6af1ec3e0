import type { LlmAgentSettings } from './base-plugin.ts';
import { BasePlugin } from './base-plugin.ts';
import type { InstructionProvider } from '../contracts/instruction-provider.ts';

/** Adds an instruction for every agent of the app, before all other instructions. */
export class GlobalInstructionPlugin extends BasePlugin {
  readonly #instruction: string | InstructionProvider;

  /** @param instruction a template over state, or a function */
  constructor(instruction: string | InstructionProvider, name = 'global_instruction') {
    super(name);
    this.#instruction = instruction;
  }

  override configureAgent({
    leadingInstructions = [],
  }: LlmAgentSettings): Partial<LlmAgentSettings> {
    return { leadingInstructions: [this.#instruction, ...leadingInstructions] };
  }
}
