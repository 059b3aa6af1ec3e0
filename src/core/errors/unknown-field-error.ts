import { InvalidInputError } from './invalid-input-error.ts';
import { memberPath } from './member-path.ts';

/**
 * An object has an unknown field, most often a misspelled one. Nothing was changed.
 * @remedy Rename or remove the field. `suggestion` is the most similar known name.
 */
export class UnknownFieldError extends InvalidInputError {
  /** The known name that is most similar, if one is similar enough. */
  readonly suggestion: string | undefined;

  /**
   * @param path the path of the object that has the unknown field
   * @param name the name of the unknown field
   * @param known the known names of this object
   * @param value the value of the field; shown only if it cannot be a secret
   * @param suggestion the known name to suggest. Default: the most similar one.
   */
  constructor(
    path: string,
    name: string,
    known: readonly string[],
    value?: unknown,
    suggestion: string | undefined = nearestName(name, known),
  ) {
    super(
      memberPath(path, name),
      `is unknown${formatValue(value)}. ${formatNextStep(suggestion, known)}`,
    );
    this.suggestion = suggestion;
  }
}

/** Returns the known name that is most similar to a wrong name. Undefined if none is similar enough. */
export function nearestName(wrong: string, known: readonly string[]): string | undefined {
  const plain = plainName(wrong);
  const distances = known
    .map((name) => ({
      name,
      distance: editDistance(plain, plainName(name)),
      // Breaks ties by the spelling with case and separators.
      asWritten: editDistance(wrong.slice(0, 100), name),
    }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length / 3)))
    .toSorted((a, b) => a.distance - b.distance || a.asWritten - b.asWritten);
  return distances[0]?.name;
}

const MAX_LISTED = 40;

function formatNextStep(suggestion: string | undefined, known: readonly string[]): string {
  if (suggestion !== undefined) return `Did you mean \`${suggestion}\`?`;
  if (known.length === 0) return 'No fields are allowed here: remove it.';
  const names = known.slice(0, MAX_LISTED).map((name) => `\`${name}\``);
  const more = known.length > MAX_LISTED ? ', and more' : '';
  return `Known: ${names.join(', ')}${more}.`;
}

/** Shows only booleans, numbers and null, because texts and objects may contain secrets. */
function formatValue(value: unknown): string {
  const isHarmless = typeof value === 'boolean' || typeof value === 'number' || value === null;
  return isHarmless ? ` (it is ${String(value)})` : '';
}

/** Normalizes a name, so that snake case and camel case are equal. */
function plainName(name: string): string {
  return name
    .replaceAll(/[_\-\s]/g, '')
    .toLowerCase()
    .slice(0, 100);
}

/** The number of characters to add, remove, replace or swap with the next one (Damerau–Levenshtein distance). */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Infinity;
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced, swapped));
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
