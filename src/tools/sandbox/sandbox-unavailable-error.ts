import { PetrichorError, type PetrichorErrorOptions } from '../../core/index.ts';

/** A command was to run in a sandbox that cannot be had. It has not run. */
export class SandboxUnavailableError extends PetrichorError {
  override readonly code = 'sandbox_unavailable' as const;

  constructor(problem: string, options?: PetrichorErrorOptions) {
    super(`No sandbox: ${problem}`, options);
  }
}
