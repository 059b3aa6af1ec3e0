import type { ExpandedNet } from '../system/expand.ts';
import type { Move } from '../system/move.ts';

/** The choice of a step that can happen whenever it is possible. */
const ALWAYS = -1;

/**
 * The steps between states in which an event is still missing. The event happens in the end, for every fair run, if the
 * graph has no trap: a state from which it cannot be enforced that an exit is reached. A step with a choice counts only
 * if all choices of its state lead to an exit, because the executor may never make it.
 */
export class EventualityGraph {
  /** By edge: its source, its target and its choice. */
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  readonly #choice: number[] = [];
  /** By state: the number of its choices. */
  readonly #nodes = new Map<number, number>();
  /** The states with a step to the event, and those that may wait for input from outside: with the choice of the step. */
  readonly #exits: (readonly [id: number, choice: number])[] = [];

  addNode(id: number, choices = 0): void {
    this.#nodes.set(id, choices);
  }

  addEdge(from: number, to: number, choice: number = ALWAYS): void {
    this.#from.push(from);
    this.#to.push(to);
    this.#choice.push(choice);
  }

  addExit(id: number, choice: number = ALWAYS): void {
    this.#exits.push([id, choice]);
  }

  /**
   * Returns a trap, as the path that stays in it until a state repeats; the first state has the least id. Undefined if
   * there is no trap.
   */
  findTrap(): readonly number[] | undefined {
    const escapes = this.#findEscapes();
    const trapped = [...this.#nodes.keys()].filter((id) => !escapes.has(id));
    if (trapped.length === 0) return undefined;
    const after = new Map<number, number>();
    this.#to.forEach((to, edge) => {
      if (!escapes.has(to)) after.set(this.#from[edge] ?? 0, to);
    });
    const trail = new Set<number>();
    let at: number | undefined = Math.min(...trapped);
    while (at !== undefined && !trail.has(at)) {
      trail.add(at);
      at = after.get(at);
    }
    return at === undefined ? [...trail] : [...trail, at];
  }

  /** Returns the states from which an exit is reached, whatever the executor chooses. */
  #findEscapes(): ReadonlySet<number> {
    const edgesTo = new Map<number, number[]>();
    this.#to.forEach((to, edge) => {
      const edges = edgesTo.get(to) ?? [];
      edges.push(edge);
      edgesTo.set(to, edges);
    });
    const escapes = new Set<number>();
    /** By state: the choices that lead to an exit. */
    const leading = new Map<number, Set<number>>();
    const lead = (id: number, choice: number): void => {
      if (choice !== ALWAYS) {
        const known = leading.get(id) ?? new Set();
        leading.set(id, known.add(choice));
        if (known.size < (this.#nodes.get(id) ?? 0)) return;
      }
      escapes.add(id);
    };
    for (const [id, choice] of this.#exits) lead(id, choice);
    // The set grows during the loop.
    for (const id of escapes)
      for (const edge of edgesTo.get(id) ?? [])
        lead(this.#from[edge] ?? 0, this.#choice[edge] ?? ALWAYS);
    return escapes;
  }
}

/**
 * True if a step happens at some time when it stays possible. Faults, inputs from outside, the closing of the owner and
 * clocks that may never expire are not counted on.
 */
export function isPromised({ transitions }: ExpandedNet, move: Move): boolean {
  if (move.faults > 0) return false;
  switch (move.kind) {
    case 'injected':
    case 'faulted':
    case 'draining':
      return false;
    case 'fired':
    case 'started':
      return transitions[move.t]?.timed !== 'maybe';
    default:
      return true;
  }
}
