/**
 * A third check, with time: the expanded net as a time Petri net, analyzed with libpetri's state classes. Each number
 * of tokens that a firing may output is a separate transition. Inputs from outside arrive at any moment. A timer fires
 * exactly at its time. Keys and priorities are omitted, so it has all behaviors of the net and possibly more.
 */
import * as lp from 'libpetri';
import { MarkingState, StateClassGraph } from 'libpetri/verification';
import type { CompiledNet } from '../../src/net/build/compile.ts';
import { expand } from '../../src/verify/system/expand.ts';
import type { ExpandedNet, ExpandedTransition } from '../../src/verify/system/expand.ts';
import type { Bounds } from '../../src/verify/index.ts';
import type { Property, QuiescentMarking } from '../../src/verify/properties/property.ts';
import { Variants } from '../../src/verify/system/variants.ts';

export interface StateClasses {
  /** The number of state classes; undefined if there are too many. */
  readonly count: number | undefined;
  /** @throws RangeError if the property is not a property of markings */
  readonly breaks: (property: Property) => boolean;
}

/** The maximum number of tokens that are distinguished in a place that is taken with `all`. */
const MAX_TAKEN = 2;
const SHORT_MS = 1e-4;

/** @throws RangeError if a time Petri net cannot express the net */
export function computeStateClasses(
  net: CompiledNet,
  bounds: Bounds,
  mostClasses: number,
): StateClasses {
  const expanded = expand(net, { ...bounds, faults: 0, shutdowns: false });
  const places = expanded.places.map(({ name }) => name);
  const { graph, count } = new TimedNet(expanded).graph(mostClasses);
  return {
    count: graph.isComplete() ? graph.size() : undefined,
    breaks: (property) =>
      graph.stateClasses().some(({ marking, enabledTransitions }) =>
        breaks(
          property,
          places,
          (place) => count(marking, place),
          enabledTransitions.every(({ name }) => name.startsWith(ARRIVES)),
        ),
      ),
  };
}

const ARRIVES = 'arrives: ';

class TimedNet {
  readonly #net: ExpandedNet;
  readonly #places: readonly lp.Place<unknown>[];
  /** The places through which further tokens of one firing to the same place arrive. */
  readonly #more = new Map<number, lp.Place<unknown>[]>();
  readonly #transitions: lp.Transition[] = [];

  constructor(net: ExpandedNet) {
    this.#net = net;
    this.#places = net.places.map(({ name }) => lp.place(name));
    for (const t of net.transitions) this.#add(t);
  }

  graph(mostClasses: number): {
    readonly graph: StateClassGraph;
    readonly count: (marking: MarkingState, place: string) => number;
  } {
    const begin = MarkingState.builder();
    for (const { place, times } of this.#net.net.initial) {
      const index = this.#net.placeIndex.get(place.name);
      if (index !== undefined) begin.tokens(this.#at(index), times);
    }
    for (const { place, tokens } of this.#net.environment) {
      const outside = lp.place(`outside ${this.#at(place).name}`);
      begin.tokens(outside, tokens);
      const arrives = lp.Transition.builder(`${ARRIVES}${this.#at(place).name}`)
        .inputs(lp.one(outside))
        .timing(lp.delayed(0));
      this.#finish(arrives, [place]);
    }
    const built = lp.PetriNet.builder(this.#net.net.name)
      .transitions(...this.#transitions)
      .build();
    const graph = StateClassGraph.build(built, begin.build(), mostClasses);
    const count = (marking: MarkingState, name: string): number => {
      const index = this.#net.placeIndex.get(name) ?? -1;
      const all = [this.#at(index), ...(this.#more.get(index) ?? [])];
      return all.reduce((sum, place) => sum + marking.tokens(place), 0);
    };
    return { graph, count };
  }

  #at(index: number): lp.Place<unknown> {
    const place = this.#places[index];
    if (place === undefined) throw new RangeError(`no place ${index}`);
    return place;
  }

  #add(t: ExpandedTransition): void {
    if (t.timed === 'never') return;
    const whole = t.takes.findIndex(({ mode }, index) => mode === 'all' && isCounted(t, index));
    if (t.takes.some(({ mode }, index) => mode === 'all' && index !== whole && isCounted(t, index)))
      throw new RangeError(`"${t.name}" counts what it takes twice`);
    const least = t.takes[whole]?.count ?? 0;
    const numbers = whole < 0 ? [undefined] : range(least, MAX_TAKEN);
    for (const taken of numbers) {
      const counts = t.takes.map(({ count }, index) => (index === whole ? (taken ?? 0) : count));
      const variants = new Variants(new Set(), this.#net.bounds.together, false).list(t, counts);
      if (t.kind === 'effect') {
        if (taken !== undefined) throw new RangeError(`"${t.name}" remembers what it took`);
        this.#finish(this.#taking(t, `started ${t.name}`, whole, taken), [t.running]);
        variants.forEach(({ deposits }, index) => {
          const ended = lp.Transition.builder(`ended ${t.name} ${index}`)
            .inputs(lp.one(this.#at(t.running)))
            .timing(lp.delayed(0));
          this.#finish(ended, deposits);
        });
      } else {
        variants.forEach(({ deposits }, index) =>
          this.#finish(
            this.#taking(t, `${t.name} ${taken ?? ''} ${index}`, whole, taken),
            deposits,
          ),
        );
      }
    }
  }

  #taking(
    t: ExpandedTransition,
    name: string,
    whole: number,
    taken: number | undefined,
  ): lp.TransitionBuilder {
    const inputs: lp.In[] = [];
    const reads = t.reads.filter(({ count }) => count > 0).map(({ place }) => this.#at(place));
    const emptied = new Set(t.resets);
    const unless = new Set(t.unless);
    for (const { place, mode } of t.takes) if (mode === 'all') emptied.add(place);
    t.takes.forEach(({ place, count }, index) => {
      const least = index === whole ? (taken ?? 0) : count;
      // libpetri cannot take from a place and reset it. Reading and resetting it is equivalent.
      if (least === 1 && emptied.has(place)) reads.push(this.#at(place));
      else if (least > 0) {
        inputs.push(lp.exactly(least, this.#at(place)));
        emptied.delete(place);
      } else if (index === whole) unless.add(place);
    });
    if (t.reads.some(({ count }) => count > 1)) throw new RangeError(`"${t.name}" reads several`);
    if (t.concurrency === 1) unless.add(t.running);
    else if (Number.isFinite(t.concurrency)) throw new RangeError(`"${t.name}" is limited`);
    const builder = lp.Transition.builder(name)
      .inputs(...inputs)
      .reads(...reads)
      .inhibitors(...[...unless].map((place) => this.#at(place)))
      .resets(...[...emptied].map((place) => this.#at(place)));
    return builder.timing(toTiming(this.#net, t));
  }

  /** Two tokens to one place need two arcs: the second arrives immediately through a separate place. */
  #finish(builder: lp.TransitionBuilder, deposits: readonly number[]): void {
    const outputCounts = new Map<number, number>();
    const outputs = deposits.map((index) => {
      const before = outputCounts.get(index) ?? 0;
      outputCounts.set(index, before + 1);
      return lp.outPlace(before === 0 ? this.#at(index) : this.#through(index, before - 1));
    });
    const action = async (): Promise<void> => {};
    const [only] = outputs;
    builder.action(action);
    if (only !== undefined) builder.outputs(outputs.length === 1 ? only : lp.and(...outputs));
    this.#transitions.push(builder.build());
  }

  #through(index: number, nth: number): lp.Place<unknown> {
    const known = this.#more.get(index) ?? [];
    this.#more.set(index, known);
    const place = known[nth];
    if (place !== undefined) return place;
    const more = lp.place(`${this.#at(index).name} ${nth + 2}`);
    known.push(more);
    this.#finish(
      lp.Transition.builder(`comes: ${more.name}`).inputs(lp.one(more)).timing(lp.exact(0)),
      [index],
    );
    return more;
  }
}

/**
 * An untimed transition fires at once, a timer at its time, and a timer whose delay depends on the token at any time.
 * libpetri's state classes have no priorities, so a lower priority is a delay that is too short to matter otherwise.
 */
function toTiming({ net, byPriority }: ExpandedNet, t: ExpandedTransition): lp.Timing {
  const { after } = net.byName.get(t.name)?.spec ?? {};
  const rank = byPriority.findIndex((group) => group.includes(t));
  if (t.timed === 'no') return lp.exact(rank === 0 ? 0 : SHORT_MS * 10 ** rank);
  return typeof after === 'number' ? lp.exact(after) : lp.delayed(0);
}

/** True if an output depends on the number of tokens that this input took. */
function isCounted({ alternatives }: ExpandedTransition, input: number): boolean {
  return alternatives.some(({ outputs }) =>
    outputs.some(({ each, place }) => each === input && place >= 0),
  );
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

function breaks(
  property: Property,
  places: readonly string[],
  count: (place: string) => number,
  isStuck: boolean,
): boolean {
  const rests = ({ marked, allowed = [] }: QuiescentMarking): boolean =>
    marked.every((place) => count(place) > 0) &&
    places.every((place) => count(place) === 0 || [...marked, ...allowed].includes(place));
  switch (property.kind) {
    case 'placeBound':
      return property.places.reduce((sum, place) => sum + count(place), 0) > property.max;
    case 'mutualExclusion':
      return property.places.filter((place) => count(place) > 0).length > 1;
    case 'unreachable':
      return (
        Object.entries(property.marked).every(([place, least]) => count(place) >= least) &&
        property.empty.every((place) => count(place) === 0)
      );
    case 'deadlockFree':
      return isStuck && !property.resting.some(rests);
    default:
      throw new RangeError(`"${property.name}" is no property of markings`);
  }
}
