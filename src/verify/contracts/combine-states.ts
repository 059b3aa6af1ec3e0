/** A state of one component's view, reduced to what other views also see. */
export interface ComponentState {
  /** What all views see. */
  readonly shared: string;
  /** The state of the component's own contract. Empty for the core. */
  readonly own: string;
  /** The states of the contracts of its children, in their order. */
  readonly children: readonly string[];
  /** A set of numbered answers that this state allows, as bits. */
  readonly answers: bigint;
}

/** The states of a component, and those of its children. */
export interface StateTree {
  readonly states: readonly ComponentState[];
  readonly children: readonly StateTree[];
}

/**
 * Returns the answers that some combination of states allows: one state of each component, such that all agree on what
 * they share. Returns only the smallest sets. Empty if no states fit together.
 */
export function combineStates(tree: StateTree): readonly bigint[] {
  return smallest([...combine(tree).values()].flat());
}

/** By shared view and own contract: the smallest sets of answers of a component and everything below it. */
function combine({ states, children }: StateTree): ReadonlyMap<string, readonly bigint[]> {
  const below = children.map(combine);
  const combined = new Map<string, readonly bigint[]>();
  const seen = new Set<string>();
  for (const { shared, own, children: states_, answers } of states) {
    const row = JSON.stringify([shared, own, states_, String(answers)]);
    if (seen.has(row)) continue;
    seen.add(row);
    let sets: readonly bigint[] = [answers];
    below.forEach((child, index) => {
      const others = child.get(JSON.stringify([shared, states_[index] ?? ''])) ?? [];
      sets = smallest(sets.flatMap((one) => others.map((other) => one & other)));
    });
    const key = JSON.stringify([shared, own]);
    combined.set(key, smallest([...(combined.get(key) ?? []), ...sets]));
  }
  return combined;
}

/** Leaves out the sets that contain another one. */
function smallest(sets: readonly bigint[]): readonly bigint[] {
  const distinct = [...new Set(sets)];
  return distinct.filter(
    (one) => !distinct.some((other) => other !== one && (other & one) === other),
  );
}
