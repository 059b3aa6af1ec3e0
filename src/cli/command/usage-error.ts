import { PetrichorError } from '../../core/index.ts';

/** The command line is invalid. Nothing was done. `petrichor help` shows the usage. */
export class UsageError extends PetrichorError {
  override readonly code = 'usage' as const;

  constructor(problem: string, command?: string) {
    const help = command === undefined ? 'petrichor help' : `petrichor help ${command}`;
    super(`${problem} Try: ${help}`);
  }
}
