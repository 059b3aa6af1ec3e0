import { PetrichorError, type PetrichorErrorOptions } from '../../core/index.ts';

/** A tool was defined in a way that cannot work. It is thrown where the tool is defined, before anything runs. */
export class InvalidToolError extends PetrichorError {
  override readonly code = 'invalid_tool' as const;
  readonly toolName: string;

  constructor(toolName: string, problem: string, options?: PetrichorErrorOptions) {
    super(`Tool "${toolName}": ${problem}`, options);
    this.toolName = toolName;
  }
}
