import { BROKEN_KEY, type TokenClasses } from './token-classes.ts';

/** Keys for the tokens that a move adds. */
export interface KeyAssignment {
  readonly added: number[];
  /** By key domain: the number of keys in use. */
  readonly next: readonly number[];
  /** The number of key functions that throw. */
  readonly broken: number;
}

/**
 * Lists the assignments of keys to a new token. Each key is one in use, a fresh one, or one whose function throws. With
 * `atLeast`, the keys of an equal token before it, lists only assignments that do not come before these: the others give
 * the same tokens in another order.
 */
export function assignKeys(
  tokenClasses: TokenClasses,
  choice: KeyAssignment,
  token: {
    readonly place: number;
    readonly domains: readonly number[];
    readonly inputCounts: readonly number[];
    readonly color: number;
  },
  maxFaults: number,
  atLeast?: readonly number[],
): KeyAssignment[] {
  const { place, domains, inputCounts, color } = token;
  let assignments: { names: number[]; next: readonly number[]; broken: number }[] = [
    { names: [], next: choice.next, broken: choice.broken },
  ];
  for (const domain of domains) {
    assignments = assignments.flatMap(({ names, next, broken }) => {
      const inUse = next[domain] ?? 0;
      const more = [];
      for (let name = 0; name <= inUse; name++) {
        const after =
          name < inUse ? next : next.map((used, at) => (at === domain ? used + 1 : used));
        more.push({ names: [...names, name], next: after, broken });
      }
      if (maxFaults > broken)
        more.push({ names: [...names, BROKEN_KEY], next, broken: broken + 1 });
      return more;
    });
  }
  const listed =
    atLeast === undefined
      ? assignments
      : assignments.filter(({ names }) => !isBefore(names, atLeast));
  return listed.map(({ names, next, broken }) => ({
    added: [
      ...choice.added,
      tokenClasses.codeFor({ place, attemptState: 0, inputCounts, names, color }),
    ],
    next,
    broken,
  }));
}

function isBefore(names: readonly number[], others: readonly number[]): boolean {
  const at = names.findIndex((name, index) => name !== others[index]);
  return at >= 0 && (names[at] ?? 0) < (others[at] ?? 0);
}
