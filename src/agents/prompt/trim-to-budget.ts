import type { Content } from '../../core/index.ts';
import { BudgetTrimmer } from './budget-trimmer.ts';
import type { TrimOptions } from './trim-options.ts';

/**
 * The latest part of a conversation that fits. Whole turns go first, the oldest before the others; of a turn that alone
 * is too large, its message stays and its oldest rounds go. A call stays or goes with its results, and a message with
 * its signatures, so nothing of what is left differs from what was said.
 *
 * It cuts as seldom as it can: not at each message, but down to `trimToTokens`, and then at the same place until
 * `maxTokens` is reached again, so that the beginning of the prompt stays what the provider has in its cache.
 *
 * Above the budget is only what cannot be less: the last round of a turn with the message it began with (and, if it is
 * kept, the first of all).
 * @throws InvalidInputError when an option is out of its range.
 */
export function trimToBudget(
  contents: readonly Content[],
  options: TrimOptions,
): readonly Content[] {
  return new BudgetTrimmer().trim(contents, options);
}
