import { listActivations } from './child-activity.ts';
import { listMoves } from './view.ts';
import type { View, ViewBlock, ViewMove } from './view.ts';

/** What of a state a permutation of children exchanges: the state of a contract, and the counts of its own places. */
interface PermutedState {
  readonly contracts: readonly string[];
  readonly counts: readonly number[];
}

/**
 * The children of a component that can be exchanged in its view: the view with two of them exchanged is the same view. So
 * one state stands for all that differ only in the order of these children, and many equal children cost little more
 * than a few.
 */
export class ViewSymmetry {
  readonly #view: View;
  /** Blocks of the same size that can be exchanged with each other. */
  readonly #groups: readonly (readonly ViewBlock[])[];

  /** @param asked positions of places that the question of the search names: blocks with them stay apart. */
  constructor(view: View, asked: ReadonlySet<number>) {
    this.#view = view;
    const groups: ViewBlock[][] = [];
    const keys = countKeys(listMoves(view).map((move) => toKey(move)));
    for (const block of view.blocks) {
      if (block.places.some((place) => asked.has(place))) continue;
      const group = groups.find(([first]) => first && canExchange(view, keys, first, block));
      if (group === undefined) groups.push([block]);
      else group.push(block);
    }
    this.#groups = groups.filter(({ length }) => length > 1);
  }

  get isEmpty(): boolean {
    return this.#groups.length === 0;
  }

  /** Sorts the exchangeable children of a state, in place. The positions are those of contracts and of counts in it. */
  sort(state: number[], contractsAt: number, countsAt: number): void {
    for (const group of this.#groups) {
      const parts = group.map(({ contract, places }) => [
        state[contractsAt + contract] ?? 0,
        ...places.map((place) => state[countsAt + place] ?? 0),
      ]);
      parts.sort(compareNumbers);
      group.forEach(({ contract, places }, index) => {
        const [own = 0, ...counts] = parts[index] ?? [];
        state[contractsAt + contract] = own;
        places.forEach((place, at) => {
          state[countsAt + place] = counts[at] ?? 0;
        });
      });
    }
  }

  /**
   * Returns the states that the exchange of children makes of a state, with itself.
   * @param allows whether a contract, by position, may be in this state; other results are left out
   * @returns undefined if there are more than `most`
   */
  expand<S extends PermutedState>(
    state: S,
    most: number,
    allows: Allows = () => true,
  ): readonly S[] | undefined {
    const inGroups = new Set(this.#groups.flat().map(({ contract }) => contract));
    if (!state.contracts.every((own, index) => inGroups.has(index) || allows(index, own)))
      return [];
    let states: readonly S[] = [state];
    for (const group of this.#groups) {
      const next: S[] = [];
      for (const one of states)
        for (const order of arrangements(
          group.map((block) => readBlock(one, block)),
          group,
          allows,
        )) {
          next.push(writeBlocks(one, group, order));
          if (next.length > most) return undefined;
        }
      states = next;
    }
    return states;
  }

  /** Returns the places that an exchange of children makes of a place, with itself. */
  images(place: number): readonly number[] {
    for (const group of this.#groups) {
      const at = group.find(({ places }) => places.includes(place))?.places.indexOf(place);
      if (at !== undefined) return group.flatMap(({ places }) => places[at] ?? []);
    }
    return [place];
  }

  /** Adds to the moves that happened those that exchange children only, by their positions in `listMoves`. */
  close(moved: ReadonlySet<number>): ReadonlySet<number> {
    const moves = listMoves(this.#view);
    const byKey = new Map<string, number[]>();
    moves.forEach((move, index) => {
      const key = toKey(move);
      byKey.set(key, [...(byKey.get(key) ?? []), index]);
    });
    const closed = new Set(moved);
    const open = [...moved];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      const move = moves[index];
      if (move === undefined) continue;
      for (const group of this.#groups)
        for (const [first, other] of listPairs(group))
          for (const image of byKey.get(toKey(exchange(move, first, other))) ?? []) {
            if (closed.has(image)) continue;
            closed.add(image);
            open.push(image);
          }
    }
    return closed;
  }
}

/** The first block with each other one: their exchanges make all orders. */
function listPairs(group: readonly ViewBlock[]): readonly (readonly [ViewBlock, ViewBlock])[] {
  const [first, ...others] = group;
  return first === undefined ? [] : others.map((other) => [first, other]);
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((one, index) => one !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

type Part = readonly [contract: string, ...counts: number[]];

type Allows = (contract: number, state: string) => boolean;

function readBlock({ contracts, counts }: PermutedState, { contract, places }: ViewBlock): Part {
  return [contracts[contract] ?? '', ...places.map((place) => counts[place] ?? 0)];
}

function writeBlocks<S extends PermutedState>(
  state: S,
  blocks: readonly ViewBlock[],
  parts: readonly Part[],
): S {
  const contracts = [...state.contracts];
  const counts = [...state.counts];
  blocks.forEach(({ contract, places }, index) => {
    const [own, ...tokens] = parts[index] ?? [''];
    contracts[contract] = own;
    places.forEach((place, at) => {
      counts[place] = tokens[at] ?? 0;
    });
  });
  return { ...state, contracts, counts };
}

/** Lists the different orders of a list with equal members, in which each block may have its part. */
function* arrangements(
  parts: readonly Part[],
  blocks: readonly ViewBlock[],
  allows: Allows,
): Generator<readonly Part[]> {
  const [block, ...others] = blocks;
  if (block === undefined) {
    yield [];
    return;
  }
  const seen = new Set<string>();
  for (const [index, part] of parts.entries()) {
    const key = JSON.stringify(part);
    if (seen.has(key) || !allows(block.contract, part[0])) continue;
    seen.add(key);
    for (const rest of arrangements(parts.toSpliced(index, 1), others, allows))
      yield [part, ...rest];
  }
}

/** True if the view with these two children exchanged is the same view. */
function canExchange(
  view: View,
  keys: ReadonlyMap<string, number>,
  a: ViewBlock,
  b: ViewBlock,
): boolean {
  const { initial, caps, running, contracts } = view;
  const [first, second] = [contracts[a.contract], contracts[b.contract]];
  if (first === undefined || second === undefined || a.places.length !== b.places.length)
    return false;
  const isEqual =
    first.checks === second.checks &&
    first.depth === second.depth &&
    describeContract(first) === describeContract(second) &&
    a.places.every((place, index) => {
      const other = b.places[index] ?? -1;
      return (
        initial[place] === initial[other] &&
        caps[place] === caps[other] &&
        running.includes(place) === running.includes(other)
      );
    });
  if (!isEqual) return false;
  const exchanged = countKeys(listMoves(view).map((move) => toKey(exchange(move, a, b))));
  return [...keys].every(([key, times]) => exchanged.get(key) === times);
}

function describeContract({ contract, activity }: View['contracts'][number]): string {
  const { initial, events, steps } = contract;
  return JSON.stringify([
    initial,
    events.map(({ name, promisedBy }) => [name, promisedBy]),
    // A question may pay for a child at its activations.
    listActivations(contract),
    steps,
    activity,
  ]);
}

/** Returns a move with two children exchanged. */
function exchange(move: ViewMove, a: ViewBlock, b: ViewBlock): ViewMove {
  const pairs = a.places.flatMap((place, index): [number, number][] => {
    const other = b.places[index] ?? place;
    return [
      [place, other],
      [other, place],
    ];
  });
  const images = new Map(pairs);
  const image = (place: number): number => images.get(place) ?? place;
  const events = [...move.events];
  events[a.contract] = move.events[b.contract] ?? [];
  events[b.contract] = move.events[a.contract] ?? [];
  const exchanged = new Map([
    [a.contract, b.contract],
    [b.contract, a.contract],
  ]);
  return {
    ...move,
    within: move.within
      .map((contract) => exchanged.get(contract) ?? contract)
      .toSorted((one, other) => one - other),
    takes: move.takes.map((input) => ({ ...input, place: image(input.place) })),
    reads: move.reads.map((input) => ({ ...input, place: image(input.place) })),
    unless: move.unless.map(image),
    limit: move.limit && [image(move.limit[0]), move.limit[1]],
    resets: move.resets.map(image),
    gives: move.gives.map((output) => ({ ...output, place: image(output.place) })),
    events,
  };
}

/** A text that is equal for moves that do the same, whatever the order of their arcs to different places. */
function toKey({
  name: _name,
  begins: _begins,
  takes,
  reads,
  unless,
  resets,
  gives,
  ...rest
}: ViewMove): string {
  const order = takes
    .map(({ place }, index) => ({ place, index }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ index }) => index);
  const sorted = (list: readonly unknown[]): readonly string[] =>
    list.map((one) => JSON.stringify(one)).toSorted();
  return JSON.stringify([
    order.map((index) => takes[index]),
    sorted(reads),
    sorted(unless),
    sorted(resets),
    sorted(gives.map((output) => ({ ...output, each: order.indexOf(output.each) }))),
    rest,
  ]);
}

function countKeys(keys: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
