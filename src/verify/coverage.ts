import { findLiveParts } from './contracts/live-parts.ts';
import type { SearchOutcome } from './search/search.ts';
import type { ExpandedNet } from './system/expand.ts';

/** Which transitions of a net the searches of a proof reached. */
export class Coverage {
  readonly #net: ExpandedNet;
  readonly #live: ReadonlySet<number>;
  /** The transitions that a proof expects to fire. */
  readonly #expected: ReadonlySet<number>;
  readonly #begun = new Set<number>();
  #isExplored = false;

  constructor(net: ExpandedNet) {
    this.#net = net;
    this.#live = findLiveParts(net).transitions;
    this.#expected = new Set(
      net.net.transitions.flatMap(({ index, spec }) =>
        this.#live.has(index) && spec.isForFormerTokens !== true ? [index] : [],
      ),
    );
  }

  /** Adds a search. Returns the transitions that the bounds kept from firing in it, although the arcs allow them. */
  add({ begun, complete }: Pick<SearchOutcome, 'begun' | 'complete'>): readonly string[] {
    for (const t of begun) this.#begun.add(t);
    if (complete) this.#isExplored = true;
    return this.#names((t) => this.#expected.has(t) && !begun.has(t));
  }

  /** Adds the `unfired` transitions of an earlier exploration of the net. */
  addUnfired(names: readonly string[]): void {
    const unfired = new Set(names);
    this.#isExplored = true;
    for (const { index, name } of this.#net.transitions)
      if (!unfired.has(name)) this.#begun.add(index);
  }

  /**
   * The transitions that no explored run fired, although the arcs allow them within the bounds. Undefined if no search
   * visited all states.
   */
  get unfired(): readonly string[] | undefined {
    return this.#isExplored
      ? this.#names((t) => this.#expected.has(t) && !this.#begun.has(t))
      : undefined;
  }

  /** The transitions that cannot fire within the bounds by the arcs alone, such as those of an input that does not come. */
  get excluded(): readonly string[] {
    return this.#names((t) => !this.#live.has(t));
  }

  #names(selects: (t: number) => boolean): readonly string[] {
    return this.#net.transitions.flatMap(({ index, name }) => (selects(index) ? [name] : []));
  }
}

/** Returns what a proof takes for granted, one sentence each. */
export function listAssumptions({ bounds }: ExpandedNet): readonly string[] {
  return [
    'Tokens from outside, outputs, attempts and faults stay within the bounds.',
    'Every effect in flight ends, fails, times out or is retried.',
    'Values are left out: a transition may choose each declared outcome. A key function depends on its token only.',
    'Times are left out: a timer may expire at any time after its token arrived.',
    'The items of lists and maps are ignored.',
    'The session is not upgraded to another net.',
    ...(bounds.shutdowns
      ? []
      : ['No owner closes while the session runs; it may crash between two steps.']),
  ];
}
