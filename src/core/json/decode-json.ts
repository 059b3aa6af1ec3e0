import { PetrichorError } from '../errors/petrichor-error.ts';
import type { Json } from './json.ts';

/**
 * A text from outside or from a file is not valid JSON.
 * @remedy Correct the program that wrote the text. `what` is the name of the text.
 */
export class InvalidJsonError extends PetrichorError {
  override readonly code = 'invalid_json' as const;
  /** The name of the text, for example `result`. */
  readonly what: string;

  constructor(what: string, cause: unknown) {
    super(`${what} is not valid JSON: check the program that wrote it.`, { cause });
    this.what = what;
  }
}

/**
 * Parses JSON text.
 * @param what the name of the text in the error.
 * @throws InvalidJsonError if the text is not valid JSON.
 */
export function decodeJson(text: string, what: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch (error) {
    throw new InvalidJsonError(what, error);
  }
}
