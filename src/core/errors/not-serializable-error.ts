import { PetrichorError, type PetrichorErrorOptions } from './petrichor-error.ts';

/** A value cannot be written to the journal as JSON. Nothing was written: change what stands at `path`. */
export class NotSerializableError extends PetrichorError {
  override readonly code = 'not_serialisable' as const;
  /** Where in the value, for example `result.rows[3].when`. */
  readonly path: string;
  /** What stands there, for example `a bigint`. */
  readonly problem: string;

  constructor(path: string, problem: string, nextStep: string, options?: PetrichorErrorOptions) {
    super(`${path} is ${problem}, which JSON cannot hold: ${nextStep}.`, options);
    this.path = path;
    this.problem = problem;
  }
}
