import type { CompiledNet } from '../../net/index.ts';
import { parseTokenValue } from '../../net/internal.ts';
import type { AnyPlace } from '../../net/index.ts';
import type { CompiledOutput, CompiledTransition } from '../../net/internal.ts';

/** The color of a token whose place has no label, or whose label is not tracked. */
export const NO_COLOR = 0;

/**
 * The labels that a search tracks, as colors from 1. Each tracked label has a color of its own. Other labels share one if
 * every rule that lists labels and copies the label of an input treats them alike.
 */
export class TrackedLabels {
  readonly labels: readonly string[];
  /** All colors of tokens with a label. */
  readonly colors: readonly number[];
  readonly #net: CompiledNet;
  /** By color, from 1: its labels. The last color also has all labels that no rule names. */
  readonly #members: readonly (readonly string[])[];

  constructor(net: CompiledNet, labels: readonly string[]) {
    this.#net = net;
    this.labels = labels;
    this.#members = labels.length === 0 ? [] : listClasses(net, labels);
    this.colors = this.#members.map((_, index) => index + 1);
  }

  /** The color of a label. */
  toColor(label: string): number {
    const index = this.#members.findIndex((members) => members.includes(label));
    return index < 0 ? this.#members.length : index + 1;
  }

  /** True if tokens of this place have a color. */
  isColored(place: string): boolean {
    return this.labels.length > 0 && this.#net.places.get(place)?.label !== undefined;
  }

  /** The color of an initial token. */
  toInitialColor(place: AnyPlace, value: unknown): number {
    if (!this.isColored(place.name)) return NO_COLOR;
    const { label } = this.#net.places.get(place.name) ?? place;
    return this.toColor(label?.(parseTokenValue(place, value)) ?? '');
  }

  /** Which labels the tokens of an output may have. Undefined for a place without labels. */
  toOutputColors(
    { takes }: CompiledTransition,
    { place, labels: rules = [] }: CompiledOutput,
  ): OutputColors | undefined {
    if (!this.isColored(place.name)) return undefined;
    const lists = rules.flatMap(({ only }) => (only === undefined ? [] : [only]));
    return {
      allowed: this.colors.filter((color) =>
        (this.#members[color - 1] ?? []).some((label) =>
          lists.every((only) => only.includes(label)),
        ),
      ),
      sources: rules.flatMap(({ as }) => {
        const index = takes.findIndex((input) => input.key === as);
        return index < 0 ? [] : [index];
      }),
    };
  }

  /** The index of the input whose color a firing of an effect keeps; -1 for none. */
  findKeptInput({ spec, takes }: CompiledTransition): number {
    if (spec.kind !== 'effect') return -1;
    return takes.findIndex(({ place, mode }) => mode === 'one' && this.isColored(place));
  }
}

/** A label that no rule names. */
const UNNAMED = '';

/** The classes of labels that need a color each: first those of `labels`, then others, last the labels of no rule. */
function listClasses(net: CompiledNet, labels: readonly string[]): readonly (readonly string[])[] {
  const lists = listCopyingLists(net);
  const toSignature = (label: string): string =>
    lists.map((only) => (only.includes(label) ? '1' : '0')).join('');
  const classes = new Map<string, string[]>();
  for (const label of [...listKnownLabels(net), UNNAMED]) {
    if (labels.includes(label)) continue;
    const signature = toSignature(label);
    classes.set(signature, [...(classes.get(signature) ?? []), label]);
  }
  const last = toSignature(UNNAMED);
  return [
    ...labels.map((label) => [label]),
    ...[...classes].flatMap(([signature, members]) => (signature === last ? [] : [members])),
    classes.get(last) ?? [],
  ];
}

/** The lists of labels for outputs that also copy the label of an input. */
function listCopyingLists(net: CompiledNet): readonly (readonly string[])[] {
  return net.transitions.flatMap(({ alternatives }) =>
    [...alternatives.values()].flatMap(({ outputs }) =>
      outputs.flatMap(({ labels: rules = [] }) => {
        if (rules.every(({ as }) => as === undefined)) return [];
        return rules.flatMap(({ only }) => (only === undefined ? [] : [only]));
      }),
    ),
  );
}

/** The colors that the tokens of an output may have. */
export interface OutputColors {
  readonly allowed: readonly number[];
  /** The inputs whose token has the same color. */
  readonly sources: readonly number[];
}

/** A name with a label, such as `tool.run(charge)`: firings with, or tokens of, this label. */
export interface LabeledName {
  readonly name: string;
  readonly label: string;
}

/** Splits a name with a label. Undefined for a name of the net. */
export function parseLabeledName(net: CompiledNet, full: string): LabeledName | undefined {
  // A name of the net may look like a name with a label.
  if (net.byName.has(full) || net.places.has(full)) return undefined;
  const [, name = '', label = ''] = /^([^()]+)\(([^()]+)\)$/.exec(full) ?? [];
  return net.byName.has(name) || net.places.has(name) ? { name, label } : undefined;
}

/** The labels that rules of the net name. */
export function listKnownLabels(net: CompiledNet): readonly string[] {
  const rules = net.transitions.flatMap(({ spec }) => spec.labels ?? []);
  return [...new Set(rules.flatMap(({ only = [], known = [] }) => [...only, ...known]))];
}
