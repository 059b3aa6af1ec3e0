import { InvalidInputError } from '../core/index.ts';
import type { Content } from '../core/index.ts';
import { contextUnits } from './context-units.ts';
import { estimateTokens } from './estimate-tokens.ts';

/**
 * How much of a conversation a model is shown. As the `context` of an agent it is a budget for the whole prompt:
 * instruction and tools count too.
 */
export interface TrimOptions {
  /** How much the model is shown at most, in tokens. */
  readonly maxTokens: number;
  /** How much is left when something must go; three quarters of `maxTokens` unless said. What lies between is not sent anew. */
  readonly trimToTokens?: number;
  /** Whether the first message of the user stays, though what was answered to it goes; `false` unless said. */
  readonly keepFirst?: boolean;
  /** Counts one message; four characters a token unless said. */
  readonly countTokens?: (content: Content) => number;
}

const TRIMMED_PART = 0.75;

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
  const { maxTokens, keepFirst = false, countTokens = estimateTokens } = options;
  const trimToTokens = options.trimToTokens ?? maxTokens * TRIMMED_PART;
  checkTrimOptions(options);
  const units = contextUnits(contents);
  const costs = units.map(({ from, to }) =>
    contents.slice(from, to).reduce((sum, content) => sum + countTokens(content), 0),
  );
  const first = keepFirst ? units.findIndex(({ isUser }) => isUser) : -1;
  const turnStarts = turnStartsOf(units.map(({ isUser }) => isUser));
  /** The cost of units `from` to `to`, before them. */
  const before = [0];
  for (const cost of costs) before.push((before.at(-1) ?? 0) + cost);

  /** What stays although it lies before the cut: the message of the turn that is cut, and the first of all. */
  const keptBefore = (cut: number): readonly number[] => {
    const asked = turnStarts[cut] ?? cut;
    const message = asked < cut && units[asked]?.isUser === true ? [asked] : [];
    return first >= 0 && first < cut && first !== asked ? [first, ...message] : message;
  };
  const costFrom = (cut: number, last: number): number =>
    (before[last + 1] ?? 0) -
    (before[cut] ?? 0) +
    keptBefore(cut).reduce((sum, index) => sum + (costs[index] ?? 0), 0);

  let cut = 0;
  for (const last of units.keys()) {
    if (costFrom(cut, last) <= maxTokens) continue;
    const turn = turnStarts[last] ?? last;
    const isEnough = (at: number): boolean => costFrom(at, last) <= trimToTokens;
    while (cut < turn && !(cut === turnStarts[cut] && isEnough(cut))) cut++;
    if (costFrom(cut, last) <= maxTokens) continue;
    // The turn that goes on is too large by itself: its rounds go.
    while (cut < last && !isEnough(cut)) cut++;
  }
  const kept = keptBefore(cut).flatMap((index) =>
    contents.slice(units[index]?.from, units[index]?.to),
  );
  return [...kept, ...contents.slice(units[cut]?.from)];
}

/** For each unit, the one its turn began with. What stands before the first message of a user is a turn too. */
function turnStartsOf(isUser: readonly boolean[]): readonly number[] {
  let start = 0;
  return isUser.map((begins, index) => {
    if (begins) start = index;
    return start;
  });
}

/** @throws InvalidInputError */
export function checkTrimOptions({ maxTokens, trimToTokens = maxTokens }: TrimOptions): void {
  if (!(maxTokens > 0)) {
    throw new InvalidInputError('context.maxTokens', `must be above 0; it is ${maxTokens}.`);
  }
  if (!(trimToTokens > 0 && trimToTokens <= maxTokens)) {
    throw new InvalidInputError(
      'context.trimToTokens',
      `must be above 0 and at most maxTokens (${maxTokens}); it is ${trimToTokens}.`,
    );
  }
}
