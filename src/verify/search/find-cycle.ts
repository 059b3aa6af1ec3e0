/** The edges of a graph by node: node n has the targets `to[from[n]]` up to, but not including, `to[from[n + 1]]`. */
export interface Graph {
  readonly from: number[];
  readonly to: number[];
}

/** Returns the nodes of a cycle in the order of its edges. Undefined if the graph has no cycle. */
export function findCycle({ from, to }: Graph): readonly number[] | undefined {
  const nodes = from.length;
  const NEW = 0;
  const OPEN = 1;
  const DONE = 2;
  const mark = new Uint8Array(nodes);
  for (let root = 0; root < nodes; root++) {
    if (mark[root] !== NEW) continue;
    const trail: number[] = [root];
    const next: number[] = [from[root] ?? 0];
    mark[root] = OPEN;
    while (trail.length > 0) {
      const node = trail[trail.length - 1] ?? 0;
      const edge = next[next.length - 1] ?? 0;
      const end = from[node + 1] ?? to.length;
      if (edge >= end) {
        mark[node] = DONE;
        trail.pop();
        next.pop();
        continue;
      }
      next[next.length - 1] = edge + 1;
      const target = to[edge] ?? 0;
      if (mark[target] === OPEN) return trail.slice(trail.indexOf(target));
      if (mark[target] === NEW) {
        mark[target] = OPEN;
        trail.push(target);
        next.push(from[target] ?? 0);
      }
    }
  }
  return undefined;
}
