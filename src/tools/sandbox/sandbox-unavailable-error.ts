import { PetrichorError, type PetrichorErrorOptions } from '../../core/index.ts';

/** Thrown when the sandbox for a command is not available. The command has not run. */
export class SandboxUnavailableError extends PetrichorError {
  override readonly code = 'sandbox_unavailable' as const;

  constructor(problem: string, options?: PetrichorErrorOptions) {
    super(`The sandbox is not available: ${problem}`, options);
  }
}
