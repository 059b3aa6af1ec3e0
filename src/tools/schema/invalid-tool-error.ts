import { PetrichorError, type PetrichorErrorOptions } from '../../core/index.ts';

/** Thrown where a tool is defined, before anything runs: the definition cannot work. */
export class InvalidToolError extends PetrichorError {
  override readonly code = 'invalid_tool' as const;
  readonly toolName: string;

  constructor(toolName: string, problem: string, options?: PetrichorErrorOptions) {
    super(`Tool "${toolName}": ${problem}`, options);
    this.toolName = toolName;
  }
}
