/** Options of every Petrichor error. */
export interface PetrichorErrorOptions {
  /** The error that caused this one. It is for people; programs should read `code`. */
  readonly cause?: unknown;
}

/**
 * The base class of all errors that Petrichor throws.
 * `code` is for programs and never changes for a given situation. `message` is for people and describes the next step.
 * Neither contains a secret: a subclass puts names and sizes in its message, not values from outside.
 */
export abstract class PetrichorError extends Error {
  abstract readonly code: string;

  constructor(message: string, options: PetrichorErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = new.target.name;
  }
}

/** True for any Petrichor error. Use it before reading `code`. */
export function isPetrichorError(error: unknown): error is PetrichorError {
  return error instanceof PetrichorError;
}
