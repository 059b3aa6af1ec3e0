import type { ExpandedAlternative, ExpandedTransition } from './expand.ts';
import type { Variant } from './move.ts';

interface PartialVariant extends Variant {
  /** The number of tokens of its `upTo` outputs so far. */
  readonly free: number;
}

/**
 * Lists the possible outputs of a firing: every alternative with every declared multiplicity. Results are cached by the
 * numbers of tokens that the inputs took. Tokens to an outlet are counted only if `counted` contains the outlet.
 */
export class Variants {
  readonly #counted: ReadonlySet<string>;
  readonly #together: number;
  readonly #ordered: boolean;
  readonly #known = new Map<string, readonly Variant[]>();

  constructor(counted: ReadonlySet<string>, together: number, ordered: boolean) {
    this.#counted = counted;
    this.#together = together;
    this.#ordered = ordered;
  }

  list(t: ExpandedTransition, taken: readonly number[]): readonly Variant[] {
    const key = `${t.index}|${taken.join()}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const variants = t.alternatives.flatMap((alternative) =>
      this.#listAlternative(alternative, taken),
    );
    this.#known.set(key, variants);
    return variants;
  }

  #listAlternative(
    { name, outputs }: ExpandedAlternative,
    taken: readonly number[],
  ): readonly Variant[] {
    const isColored = outputs.some(({ colors }) => colors !== undefined);
    let variants: PartialVariant[] = [
      { alternative: name, deposits: [], outlets: [], counts: {}, free: 0 },
    ];
    for (const output of outputs) {
      const each = output.each >= 0 ? (taken[output.each] ?? 0) : undefined;
      const ignored = output.place < 0 && !this.#counted.has(output.name);
      const min = each ?? output.min;
      const max = output.max === 0 ? 0 : (each ?? (ignored ? min : output.max));
      const longer: PartialVariant[] = [];
      for (const variant of variants) {
        for (let tokens = min; tokens <= max; tokens++) {
          const counts = { ...variant.counts, [output.key]: tokens };
          if (output.place < 0) {
            const outlets = ignored
              ? variant.outlets
              : [...variant.outlets, [output.name, tokens] as const];
            longer.push({ ...variant, outlets, counts });
            continue;
          }
          const free = variant.free + (output.isUpTo ? tokens : 0);
          if (free > this.#together) break;
          longer.push({
            ...variant,
            free,
            counts,
            deposits: [...variant.deposits, ...Array.from({ length: tokens }, () => output.place)],
            ...(isColored && {
              colors: [
                ...(variant.colors ?? []),
                ...Array.from({ length: tokens }, () => output.colors),
              ],
            }),
          });
        }
      }
      variants = longer;
    }
    return this.#distinct(variants);
  }

  #distinct(variants: readonly PartialVariant[]): readonly Variant[] {
    const seen = new Set<string>();
    return variants.filter(({ deposits, outlets, colors }) => {
      // Equal deposits may have different colors.
      if (colors !== undefined) return true;
      const order = this.#ordered ? deposits : deposits.toSorted((a, b) => a - b);
      const key = `${order.join()}|${outlets.map(([name, tokens]) => `${name}:${tokens}`).join()}`;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
  }
}
