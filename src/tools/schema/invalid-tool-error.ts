import { PetrichorError, type PetrichorErrorOptions } from '../../core/index.ts';

/**
 * The definition of a tool cannot work. Thrown where the tool is defined, before anything runs.
 * @remedy Correct the definition as the message explains.
 */
export class InvalidToolError extends PetrichorError {
  override readonly code = 'invalid_tool' as const;
  readonly toolName: string;

  constructor(toolName: string, problem: string, options?: PetrichorErrorOptions) {
    super(`Tool "${toolName}": ${problem}`, options);
    this.toolName = toolName;
  }
}
