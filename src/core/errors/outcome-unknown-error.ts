import { PetrichorError } from './petrichor-error.ts';

/**
 * A tool throws it when it cannot know whether its effect happened: a request was cut off after it was sent. The call
 * ends with the outcome `unknown`, or waits for a person when the tool has `onCrash: 'ask'`.
 * Its message is what is known; the model reads it.
 * @example
 * throw new OutcomeUnknownError('The payment request was sent, and no reply came.');
 */
export class OutcomeUnknownError extends PetrichorError {
  override readonly code: string = 'outcome_unknown';
}
