import { InvalidInputError } from './invalid-input-error.ts';
import { memberPath } from './member-path.ts';

/** A field that nobody knows there, most often a known one misspelled. Nothing was changed: rename it or leave it out. */
export class UnknownFieldError extends InvalidInputError {
  /** The known name that was most likely meant, if one is near. */
  readonly suggestion: string | undefined;

  /**
   * @param path where the unknown field stands
   * @param name the name of the unknown field
   * @param known the names that are known in its place
   * @param value what the field held; shown only when it cannot be a secret
   * @param suggestion the known name, when the unknown one is another's word for it
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

/** The name that differs least from a wrong one; undefined when none is near. */
function nearestName(wrong: string, known: readonly string[]): string | undefined {
  const plain = plainName(wrong);
  const distances = known
    .map((name) => ({
      name,
      distance: editDistance(plain, plainName(name)),
      // Of two that are equally near, the one that is written more like it.
      asWritten: editDistance(wrong.slice(0, 100), name),
    }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length / 3)))
    .toSorted((a, b) => a.distance - b.distance || a.asWritten - b.asWritten);
  return distances[0]?.name;
}

const MAX_LISTED = 40;

function formatNextStep(suggestion: string | undefined, known: readonly string[]): string {
  if (suggestion !== undefined) return `Did you mean \`${suggestion}\`?`;
  if (known.length === 0) return 'Nothing is known here: leave it out.';
  const names = known.slice(0, MAX_LISTED).map((name) => `\`${name}\``);
  const more = known.length > MAX_LISTED ? ', and more' : '';
  return `Known: ${names.join(', ')}${more}.`;
}

/** Text and objects may hold secrets. */
function formatValue(value: unknown): string {
  const isHarmless = typeof value === 'boolean' || typeof value === 'number' || value === null;
  return isHarmless ? ` (it is ${String(value)})` : '';
}

/** Snake and camel case are one. */
function plainName(name: string): string {
  return name
    .replaceAll(/[_\-\s]/g, '')
    .toLowerCase()
    .slice(0, 100);
}

/** How many letters are to be added, removed, replaced or swapped with the next. */
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
