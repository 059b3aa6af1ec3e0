import type { Contract } from './contract.ts';

/**
 * The steps that a question counts wherever they happen: those that it is about, and those that must come first. A step
 * has the names of its kinds in every view.
 */
export type CountedKind = 'counted' | 'counted first';

/** True for the name of a kind of counted steps. */
export function isCountedKind(name: string): name is CountedKind {
  return name === 'counted' || name === 'counted first';
}

/** What the view of a component knows of a child beside its contract: what the child's own view has shown. */
export interface ChildActivity {
  /** By kind: the states of the child's contract in which a counted step happens inside the child. */
  readonly firesIn: Readonly<Partial<Record<CountedKind, readonly string[]>>>;
  /** What the counted steps inside the child cost at most together, from one activation of it to the next. */
  readonly cost: number;
}

/** The positions of the events with which its environment sets a component to work. */
export function listActivations({ events }: Contract): readonly number[] {
  return events.flatMap(({ promisedBy, on }, index) =>
    promisedBy === 'environment' && on.by === 'environment' && on.gives !== undefined
      ? [index]
      : [],
  );
}

/** The states of a contract in which no counted step happens before the next activation of its component. */
export function listQuietStates(
  contract: Contract,
  { firesIn }: ChildActivity,
): ReadonlySet<string> {
  const activations = listActivations(contract);
  const others = contract.events.filter((_, index) => !activations.includes(index));
  const active = new Set(Object.values(firesIn).flat());
  for (let before = -1; before !== active.size;) {
    before = active.size;
    for (const [state, steps] of Object.entries(contract.steps))
      if (others.some(({ name }) => active.has(steps[name] ?? ''))) active.add(state);
  }
  return new Set(Object.keys(contract.steps).filter((state) => !active.has(state)));
}
