import { PetrichorError } from '../../core/internal.ts';

/**
 * A property as text or JSON is not well-formed: a character is out of place, a property or an argument is unknown, or
 * an argument is missing or has the wrong type.
 * @remedy Correct the property at `at`. The message names the form of the property.
 */
export class PropertySyntaxError extends PetrichorError {
  override readonly code = 'property_syntax' as const;
  /** Where the problem is: `character 12` of a text, counted from 1, or a path in JSON, such as `places`. */
  readonly at: string;

  constructor(at: string, problem: string, nextStep: string) {
    super(`At ${at}: ${problem}. ${nextStep}`);
    this.at = at;
  }
}
