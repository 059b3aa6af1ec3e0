import { findLiveParts } from './contracts/live-parts.ts';
import { atMost, canFire } from './properties/create-property.ts';
import { searchSlices } from './reduction/search-slices.ts';
import { createMonitor } from './search/property-monitor.ts';
import { search } from './search/search.ts';
import type { OnPause, SearchLimits, SearchOutcome } from './search/search.ts';
import type { ExpandedNet } from './system/expand.ts';
import { TokenClasses } from './system/token-classes.ts';
import { TransitionSystem } from './system/transition-system.ts';

/** The states of a first search that goes deep into the net, which fires most transitions soon. */
const DEEP_STATES = 8_000;

/** Which transitions of a net the explorations of a proof reached. */
export class Coverage {
  readonly #net: ExpandedNet;
  readonly #live: ReadonlySet<number>;
  /** The transitions that a proof expects to fire. */
  readonly #expected: ReadonlySet<number>;
  readonly #begun = new Set<number>();
  #unfired: Set<string> | undefined;
  #isExplored = false;
  /** True if the transitions without a firing were searched for. */
  #isSearchedFor = false;

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
    this.addBegun(begun);
    this.#isExplored = true;
    const unreached = this.#names((t) => this.#expected.has(t) && !begun.has(t));
    if (complete) {
      this.#isSearchedFor = true;
      this.addUnfired(unreached);
    }
    return unreached;
  }

  /**
   * Returns the transitions that no search fired so far. For a proof that holds for more than the explored states, such
   * as that of a solver: nothing shows that it is about them.
   */
  addWithoutSearch(): readonly string[] {
    const unreached = this.#missing;
    this.addUnfired(unreached);
    return unreached;
  }

  /** Adds the transitions that some run within the bounds fires. */
  addBegun(begun: ReadonlySet<number>): void {
    for (const t of begun) this.#begun.add(t);
  }

  /**
   * Searches for runs that fire the transitions which no search fired so far. Returns those that no run fires, as far as
   * the limits allow to search. A transition that never fires in a slice of the net is not searched for. For a proof that
   * holds for all runs, without a search of all states.
   */
  async explore(limits: SearchLimits, onPause: OnPause): Promise<readonly string[]> {
    if (!this.#isSearchedFor) {
      const states = Math.min(DEEP_STATES, limits.states ?? DEEP_STATES);
      await this.#searchFor(this.#missing, { ...limits, states, order: 'newest first' }, onPause);
      const open: string[] = [];
      for (const name of this.#missing) {
        const found = await searchSlices(this.#net, atMost([name], 0), onPause, limits.states);
        if (found === undefined) open.push(name);
      }
      await this.#searchFor(open, limits, onPause);
      this.#isSearchedFor = true;
    }
    return this.addWithoutSearch();
  }

  async #searchFor(
    names: readonly string[],
    limits: SearchLimits,
    onPause: OnPause,
  ): Promise<void> {
    if (names.length === 0) return;
    const tokenClasses = new TokenClasses();
    const monitor = createMonitor(this.#net, tokenClasses, canFire(...names));
    const system = new TransitionSystem(this.#net, 'unordered', new Set(), tokenClasses);
    const { begun } = await search(system, [monitor], limits, onPause);
    this.addBegun(begun);
  }

  get #missing(): readonly string[] {
    return this.#names((t) => this.#expected.has(t) && !this.#begun.has(t));
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
export function listAssumptions({ bounds, tracked }: ExpandedNet): readonly string[] {
  return [
    'Tokens from outside, outputs, attempts and faults stay within the bounds.',
    'Every effect in flight ends, fails, times out or is retried.',
    'Values are left out: a transition may choose each declared outcome. A key function depends on its token only.',
    ...(tracked.labels.length === 0
      ? []
      : [
          `The labels ${tracked.labels.join(', ')} are followed where a property names them. A label depends on its token only.`,
        ]),
    'Times are left out: a timer may expire at any time after its token arrived.',
    'The items of lists and maps are ignored.',
    'The session is not upgraded to another net.',
    ...(bounds.shutdowns
      ? []
      : ['No owner closes while the session runs; it may crash between two steps.']),
  ];
}
