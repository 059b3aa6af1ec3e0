import type { CompiledNet } from '../../net/index.ts';
import { requirePlace, reads, takes } from './net-queries.ts';
import type { NetTransition } from './net-queries.ts';

/**
 * How the places are called that `commitsReadGeneration` looks at. There are no stock ones: `checkInvariants` leaves
 * the rule out without them.
 */
export interface GenerationNames {
  /** Where the token of the latest generation is. */
  readonly generation: string;
  /** What counts as committed: places, lists and outlets that nothing stale may enter. */
  readonly committed: readonly string[];
}

/**
 * Whatever enters a committed place was compared with the latest generation in the same firing, and could have gone
 * elsewhere. A commit site that is added later and forgets it is found.
 * @returns what is wrong, one sentence each
 * @throws InvalidInputError when the net has no such place
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
  // Who takes the token makes the next generation: what it commits is of that one.
  if (t.spec.kind === 'pure' && takes(t, latest)) return [];
  if (t.spec.kind === 'effect')
    return [
      `effect "${t.name}" commits to "${place}" when it ends, when what it knew at its start may be stale: commit in a pure transition`,
    ];
  if (!reads(t, latest))
    return [`"${t.name}" commits to "${place}" without looking: let it read "${latest}"`];
  return canSkipCommit(t, place)
    ? []
    : [
        `"${t.name}" reads "${latest}" but always commits to "${place}": let it give one of that or where stale results go`,
      ];
}

/** To cut a list off adds nothing stale to it. */
function commits({ alternatives }: NetTransition, committed: string): boolean {
  return [...alternatives.values()].some(({ outputs }) =>
    outputs.some(
      ({ place, output }) =>
        place.name === committed && ('kind' in output || output.arc !== 'truncate'),
    ),
  );
}

/** True when the transition has an outcome that leaves this place alone. */
function canSkipCommit({ alternatives }: NetTransition, committed: string): boolean {
  return [...alternatives.values()].some(({ outputs }) =>
    outputs.every(
      ({ place, output }) =>
        place.name !== committed ||
        (!('kind' in output) && ['optional', 'upTo', 'append', 'put'].includes(output.arc)),
    ),
  );
}
