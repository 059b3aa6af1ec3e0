import { PetrichorError } from '../../core/index.ts';

/**
 * The command line is invalid. Nothing was done.
 * @remedy Read `petrichor help`, and correct the command line.
 */
export class UsageError extends PetrichorError {
  override readonly code = 'usage' as const;

  constructor(problem: string, command?: string) {
    const help = command === undefined ? 'petrichor help' : `petrichor help ${command}`;
    super(`${problem} Try: ${help}`);
  }
}
