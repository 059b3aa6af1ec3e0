import type { CompiledNet } from '../../net/index.ts';
import { requirePlace, reads, takes } from './net-queries.ts';
import type { NetTransition } from './net-queries.ts';

/**
 * The names of the places that `commitsReadGeneration` checks. There are no stock places for it: without names,
 * `checkInvariants` skips the rule.
 */
export interface GenerationNames {
  /** The place of the token with the latest generation. */
  readonly generation: string;
  /** The committed places, lists and outlets, which no stale result may enter. */
  readonly committed: readonly string[];
}

/**
 * Checks that every transition that puts something in a committed place reads the latest generation in the same firing,
 * and has an outcome that does not commit. This finds a commit site that was added without the check.
 * @returns the problems, one sentence each
 * @throws InvalidInputError when the net does not have one of the places
 */
export function commitsReadGeneration(
  net: CompiledNet,
  { generation, committed }: GenerationNames,
): readonly string[] {
  const latest = requirePlace(net, generation, 'generation').name;
  return committed.flatMap((name) => {
    const place = requirePlace(net, name, 'committed').name;
    return net.transitions
      .filter((t) => commits(t, place))
      .flatMap((t) => findStaleCommit(t, place, latest));
  });
}

function findStaleCommit(t: NetTransition, place: string, latest: string): readonly string[] {
  // A transition that takes the token creates the next generation, so its commit is not stale.
  if (t.spec.kind === 'pure' && takes(t, latest)) return [];
  if (t.spec.kind === 'effect')
    return [
      `effect "${t.name}" commits to "${place}" when it ends, and its inputs from its start may be stale by then: commit in a pure transition`,
    ];
  if (!reads(t, latest))
    return [`"${t.name}" commits to "${place}" without reading "${latest}": add a read arc`];
  return canSkipCommit(t, place)
    ? []
    : [
        `"${t.name}" reads "${latest}" but always commits to "${place}": add an alternative for stale results`,
      ];
}

/** True if the transition can add something to this place. Truncating a list does not add anything. */
function commits({ alternatives }: NetTransition, committed: string): boolean {
  return [...alternatives.values()].some(({ outputs }) =>
    outputs.some(({ place, output }) => place.name === committed && output.arc !== 'truncate'),
  );
}

/** True if the transition has an outcome that adds nothing to this place. */
function canSkipCommit({ alternatives }: NetTransition, committed: string): boolean {
  return [...alternatives.values()].some(({ outputs }) =>
    outputs.every(
      ({ place, output }) =>
        place.name !== committed || ['optional', 'upTo', 'append', 'put'].includes(output.arc),
    ),
  );
}
