import type { CompiledNet } from '../../net/index.ts';
import type { CompiledTransition } from '../../net/internal.ts';
import { InvalidPropertyError, UnknownNameError } from './verify-errors.ts';

/** A transition that gives up the wait of joins: it takes what some of their inputs got. */
export interface AbandonedJoins {
  readonly end: string;
  /** The inputs of joins that it takes from. */
  readonly inputs: readonly string[];
}

/**
 * Finds the transitions that take all tokens from inputs of joins. Without `ends`, only those that wait until nothing
 * leads to the join any more: a place from which one of its inputs is filled inhibits them.
 * @throws UnknownNameError if the net has no transition of this name.
 * @throws InvalidPropertyError if a transition of `ends` takes from no input of a join.
 */
export function findAbandonedJoins(
  net: CompiledNet,
  ends: readonly string[],
): readonly AbandonedJoins[] {
  for (const name of ends) {
    if (!net.byName.has(name))
      throw new UnknownNameError(net.name, `transition "${name}"`, [...net.byName.keys()]);
  }
  return net.transitions.flatMap((end): AbandonedJoins[] => {
    if (ends.length > 0 && !ends.includes(end.name)) return [];
    const inputs = end.takes
      .filter(({ mode, count }) => mode === 'all' && count === 0)
      .map(({ place }) => place)
      .filter((place) => isJoinInput(net, place))
      .filter((place) => ends.length > 0 || waitsFor(net, end, place));
    if (inputs.length > 0) return [{ end: end.name, inputs }];
    if (ends.length === 0) return [];
    throw new InvalidPropertyError(
      'ends',
      `has "${end.name}", which takes from no input of a join`,
    );
  });
}

/** True if a transition takes a given number of tokens of this place together with tokens of another place. */
function isJoinInput(net: CompiledNet, place: string): boolean {
  return net.transitions.some(
    ({ takes }) =>
      takes.some((input) => input.place === place && input.mode !== 'all') &&
      takes.filter(({ mode }) => mode !== 'all').length > 1,
  );
}

/** True if a place from which a transition fills this input inhibits the end. */
function waitsFor(net: CompiledNet, { unless }: CompiledTransition, input: string): boolean {
  const producers = net.transitions.filter(({ alternatives }) =>
    [...alternatives.values()].some(({ outputs }) =>
      outputs.some(({ place }) => place.name === input),
    ),
  );
  return producers.some(({ takes }) =>
    takes.some(({ place }) => unless.some(({ name }) => name === place)),
  );
}
