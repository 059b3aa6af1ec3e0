import { PetrichorError, type PetrichorErrorOptions } from './petrichor-error.ts';

/** Something that came in from outside is not what it must be. Nothing was changed: correct `field` and send it again. */
export class InvalidInputError extends PetrichorError {
  override readonly code = 'invalid_input' as const;
  /** The path of the offending value, for example `content.parts[2].inlineData.data`. */
  readonly field: string;

  constructor(field: string, problem: string, options?: PetrichorErrorOptions) {
    super(`${field}: ${problem}`, options);
    this.field = field;
  }
}
