/** What every error of ours accepts beside its own fields. */
export interface PetrichorErrorOptions {
  /** The error this one was made from. Kept for people; programs read `code`. */
  readonly cause?: unknown;
}

/**
 * The root of every error Petrichor throws.
 * `code` is for programs and never changes for a given situation; `message` is for people and says the next step.
 * Neither ever holds a secret: a subclass puts names and sizes in its message, not values it was given.
 */
export abstract class PetrichorError extends Error {
  abstract readonly code: string;

  constructor(message: string, options: PetrichorErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = new.target.name;
  }
}

/** True for any error of ours, so that a caller can read `code`. */
export function isPetrichorError(error: unknown): error is PetrichorError {
  return error instanceof PetrichorError;
}
