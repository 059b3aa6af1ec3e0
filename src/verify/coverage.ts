import { findLiveParts } from './contracts/live-parts.ts';
import type { SearchOutcome } from './search/search.ts';
import type { ExpandedNet } from './system/expand.ts';

/** Which transitions of a net the explorations of a proof reached. */
export class Coverage {
  readonly #net: ExpandedNet;
  readonly #live: ReadonlySet<number>;
  /** The transitions that a proof expects to fire. */
  readonly #expected: ReadonlySet<number>;
  readonly #begun = new Set<number>();
  #unfired: Set<string> | undefined;
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

  /** True if a search visited some states of the net. */
  get isExplored(): boolean {
    return this.#isExplored;
  }

  /** Adds a search. Returns the transitions that the bounds kept from firing in it, although the arcs allow them. */
  add({ begun, complete }: Pick<SearchOutcome, 'begun' | 'complete'>): readonly string[] {
    for (const t of begun) this.#begun.add(t);
    this.#isExplored = true;
    const unreached = this.#names((t) => this.#expected.has(t) && !begun.has(t));
    if (complete) this.addUnfired(unreached);
    return unreached;
  }

  /**
   * Returns the transitions that no search fired so far. For a proof that holds for more than the explored states, such
   * as that of a solver: nothing shows that it is about them.
   */
  addWithoutSearch(): readonly string[] {
    const unreached = this.#names((t) => this.#expected.has(t) && !this.#begun.has(t));
    this.addUnfired(unreached);
    return unreached;
  }

  /**
   * Adds the views that prove the contracts of components. A view fires whatever the net fires, and possibly more.
   * Returns the transitions that the view of their component never fires.
   */
  addViews(unfired: ReadonlySet<number>): readonly string[] {
    const unreached = this.#names((t) => this.#expected.has(t) && unfired.has(t));
    this.addUnfired(unreached);
    return unreached;
  }

  /** Adds the `unfired` transitions of an exploration of the net. */
  addUnfired(names: readonly string[]): void {
    this.#unfired = new Set([...(this.#unfired ?? []), ...names]);
  }

  /**
   * The transitions that an exploration did not fire, although the arcs allow them within the bounds. Undefined if no
   * proof is based on one.
   */
  get unfired(): readonly string[] | undefined {
    return this.#unfired && this.#names((t) => this.#unfired?.has(this.#name(t)) === true);
  }

  /** The transitions that cannot fire within the bounds by the arcs alone, such as those of an input that does not come. */
  get excluded(): readonly string[] {
    return this.#names((t) => !this.#live.has(t));
  }

  #name(t: number): string {
    return this.#net.transitions[t]?.name ?? '';
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
