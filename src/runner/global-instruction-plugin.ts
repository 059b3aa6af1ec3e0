import type { AgentShape } from './agent-shape.ts';
import { BasePlugin } from './base-plugin.ts';
import type { InstructionProvider } from './instruction-provider.ts';

/** Tells something to every agent of the app, before all else. */
export class GlobalInstructionPlugin extends BasePlugin {
  readonly #instruction: string | InstructionProvider;

  /** A template over state, or a function. */
  constructor(instruction: string | InstructionProvider, name = 'global_instruction') {
    super(name);
    this.#instruction = instruction;
  }

  override shapeAgent({ globalInstructions = [] }: AgentShape): Partial<AgentShape> {
    return { globalInstructions: [this.#instruction, ...globalInstructions] };
  }
}
