import { PetrichorError, type PetrichorErrorOptions } from '../../core/index.ts';

/**
 * The sandbox for a command is not available. The command has not run.
 * @remedy Install the program that the message names, or correct the folder. `unsandboxed: true` runs commands with all
 * rights of the process.
 */
export class SandboxUnavailableError extends PetrichorError {
  override readonly code = 'sandbox_unavailable' as const;

  constructor(problem: string, options?: PetrichorErrorOptions) {
    super(`The sandbox is not available: ${problem}`, options);
  }
}
