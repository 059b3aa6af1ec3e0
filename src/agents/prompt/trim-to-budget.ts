import type { Content } from '../../core/index.ts';
import { BudgetTrimmer } from './budget-trimmer.ts';
import type { TrimOptions } from './trim-options.ts';

/**
 * Returns the latest part of a conversation that fits the budget. Whole turns are removed first, oldest first. If one
 * turn alone is too large, its user message is kept and its oldest rounds are removed. A call is kept or removed
 * together with its results, and a message together with its signatures; the remaining messages are unchanged.
 *
 * It cuts as rarely as possible: when `maxTokens` is exceeded it cuts down to `trimToTokens`, then keeps the same cut
 * until `maxTokens` is exceeded again. The beginning of the prompt stays the same between cuts, which preserves the
 * provider's prompt cache.
 *
 * The result exceeds the budget only if the minimum does: the last round of a turn and the turn's user message, plus the
 * first user message with `keepFirst`.
 * @throws InvalidInputError when an option is out of range
 */
export function trimToBudget(
  contents: readonly Content[],
  options: TrimOptions,
): readonly Content[] {
  return new BudgetTrimmer().trim(contents, options);
}
