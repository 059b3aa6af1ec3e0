import { PetrichorError } from './petrichor-error.ts';

/**
 * A tool cannot know whether its effect happened, for example because a request was cut off after it was sent. Tools
 * throw it. The call ends with the outcome `unknown`, or waits for a person if the tool has `onCrash: 'ask'`. The model
 * reads the message, so put the known facts in it.
 * @remedy Check whether the effect happened before you repeat the call.
 * @example
 * throw new OutcomeUnknownError('The payment request was sent, and no reply came.');
 */
export class OutcomeUnknownError extends PetrichorError {
  override readonly code: string = 'outcome_unknown';
}
