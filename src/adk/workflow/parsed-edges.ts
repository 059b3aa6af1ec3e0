import { omitUndefined } from '../../core/internal.ts';
import { START, type WorkflowEdge } from '../../agents/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { Route, RouteValue } from '../../core/index.ts';
import { isNodeLike, node } from './node.ts';
import type { NodeLike } from './node.ts';
import type { BaseNode } from './workflow-node.ts';

/** The next nodes by the route that a node returns. */
export interface RoutingMap {
  readonly [route: string]: NodeLike | readonly NodeLike[];
}

/** One element of a chain: a node, several parallel nodes, or a map of routes. `'START'` is the entry. */
export type ChainElement = typeof START | NodeLike | readonly NodeLike[] | RoutingMap;

/** A single edge. */
export interface Edge {
  readonly from: typeof START | NodeLike;
  readonly to: NodeLike;
  readonly route?: Route;
}

/** A chain, `['START', classify, { billing, support }]`, or a single edge. */
export type EdgeItem = readonly ChainElement[] | Edge;

/** Parses chains and edges to nodes and edges. A function, agent or tool that occurs several times is one node. */
export class ParsedEdges {
  readonly edges: readonly WorkflowEdge[];
  readonly #nodes = new Map<unknown, BaseNode>();

  /** @throws InvalidInputError if an edge is invalid */
  constructor(items: readonly EdgeItem[]) {
    const edges = items.flatMap((item) =>
      isChain(item) ? this.#parseChain(item) : [this.#parseEdge(item)],
    );
    this.edges = mergeRoutes(edges);
  }

  get nodes(): readonly BaseNode[] {
    return [...this.#nodes.values()];
  }

  #parseChain(chain: readonly ChainElement[]): readonly WorkflowEdge[] {
    if (chain.length < 2)
      throw new InvalidInputError(
        'edges',
        'must be chains of at least two elements: a source and a target.',
      );
    const edges: WorkflowEdge[] = [];
    let before: readonly string[] | undefined;
    for (const element of chain) {
      const targets = this.#parseTargets(element);
      for (const from of before ?? [])
        for (const { to, route } of targets) edges.push({ from, to, ...omitUndefined({ route }) });
      if (before === undefined && targets.some(({ route }) => route !== undefined))
        throw new InvalidInputError(
          'edges',
          'must not start with a map of routes: no node before it returns a route.',
        );
      before = [...new Set(targets.map(({ to }) => to))];
    }
    return edges;
  }

  #parseEdge({ from, to, route }: Edge): WorkflowEdge {
    const [source] = this.#parseTargets(from);
    const [target] = this.#parseTargets(to);
    return {
      from: source?.to ?? '',
      to: target?.to ?? '',
      ...omitUndefined({ route }),
    };
  }

  #parseTargets(
    element: ChainElement,
  ): readonly { readonly to: string; readonly route?: RouteValue }[] {
    if (element === START) return [{ to: START }];
    if (isNodeLike(element)) return [{ to: this.#toNode(element).name }];
    if (isList(element)) return element.flatMap((one) => this.#parseTargets(one));
    if (typeof element !== 'object' || element === null)
      throw new InvalidInputError(
        'edges',
        `contain ${JSON.stringify(element)}, which is not a node.`,
      );
    return Object.entries(element).flatMap(([route, to]) =>
      this.#parseTargets(to).map((target) => ({ ...target, route })),
    );
  }

  #toNode(like: NodeLike): BaseNode {
    const known = this.#nodes.get(like);
    if (known !== undefined) return known;
    const created = node(like);
    this.#nodes.set(like, created);
    return created;
  }
}

/** Merges edges with routes between the same nodes into one edge. */
function mergeRoutes(edges: readonly WorkflowEdge[]): readonly WorkflowEdge[] {
  const all: WorkflowEdge[] = [];
  for (const edge of edges) {
    const at = all.findIndex(({ from, to }) => from === edge.from && to === edge.to);
    const twin = all[at];
    if (twin?.route === undefined || edge.route === undefined) all.push(edge);
    else all[at] = { ...twin, route: [twin.route, edge.route].flat() };
  }
  return all;
}

function isChain(item: EdgeItem): item is readonly ChainElement[] {
  return Array.isArray(item);
}

function isList(element: ChainElement): element is readonly NodeLike[] {
  return Array.isArray(element);
}
