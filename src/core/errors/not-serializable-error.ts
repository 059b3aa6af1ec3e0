import { PetrichorError, type PetrichorErrorOptions } from './petrichor-error.ts';

/**
 * A value cannot be written to the journal, because JSON cannot hold it: a bigint, a function, a cycle, or a similar
 * value. Nothing was written.
 * @remedy Change the value at `path` to one that JSON has.
 */
export class NotSerializableError extends PetrichorError {
  override readonly code = 'not_serialisable' as const;
  /** The path of the problem in the value, for example `result.rows[3].when`. */
  readonly path: string;
  /** The kind of the value at `path`, for example `a bigint`. */
  readonly problem: string;

  constructor(path: string, problem: string, nextStep: string, options?: PetrichorErrorOptions) {
    super(`${path} is ${problem}, which JSON cannot hold: ${nextStep}.`, options);
    this.path = path;
    this.problem = problem;
  }
}
