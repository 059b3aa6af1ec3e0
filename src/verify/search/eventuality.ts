import type { ExpandedNet } from '../system/expand.ts';
import type { Move } from '../system/move.ts';

/**
 * The steps between states in which an event is still missing. The event happens in the end, for every fair run, if the
 * graph has no trap: a state from which no exit can be reached.
 */
export class EventualityGraph {
  /** By edge: its source and its target. */
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  readonly #nodes = new Set<number>();
  /** The states with a step to the event, and those that may wait for input from outside. */
  readonly #exits = new Set<number>();

  addNode(id: number): void {
    this.#nodes.add(id);
  }

  addEdge(from: number, to: number): void {
    this.#from.push(from);
    this.#to.push(to);
  }

  addExit(id: number): void {
    this.#exits.add(id);
  }

  /**
   * Returns a trap, as the path that stays in it until a state repeats; the first state has the least id. Undefined if
   * there is no trap.
   */
  findTrap(): readonly number[] | undefined {
    const before = new Map<number, number[]>();
    this.#to.forEach((to, edge) => {
      const sources = before.get(to) ?? [];
      sources.push(this.#from[edge] ?? 0);
      before.set(to, sources);
    });
    const escapes = new Set(this.#exits);
    for (const id of escapes) for (const source of before.get(id) ?? []) escapes.add(source);
    const trapped = [...this.#nodes].filter((id) => !escapes.has(id));
    if (trapped.length === 0) return undefined;
    const after = new Map<number, number>();
    this.#from.forEach((from, edge) => after.set(from, this.#to[edge] ?? 0));
    const trail = new Set<number>();
    let at: number | undefined = Math.min(...trapped);
    while (at !== undefined && !trail.has(at)) {
      trail.add(at);
      at = after.get(at);
    }
    return at === undefined ? [...trail] : [...trail, at];
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
