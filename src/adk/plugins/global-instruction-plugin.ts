import type { LlmAgentSettings } from './llm-agent-settings.ts';
import { BasePlugin } from './base-plugin.ts';
import type { InstructionProvider } from '../contracts/instruction-provider.ts';

/** Tells something to every agent of the app, before all else. */
export class GlobalInstructionPlugin extends BasePlugin {
  readonly #instruction: string | InstructionProvider;

  /** A template over state, or a function. */
  constructor(instruction: string | InstructionProvider, name = 'global_instruction') {
    super(name);
    this.#instruction = instruction;
  }

  override configureAgent({
    globalInstructions = [],
  }: LlmAgentSettings): Partial<LlmAgentSettings> {
    return { globalInstructions: [this.#instruction, ...globalInstructions] };
  }
}
