import type { Route, RouteValue } from '../../core/index.ts';
import { DEFAULT_ROUTE } from './workflow-definition.ts';
import type { WorkflowEdge } from './workflow-definition.ts';

/** The edges that are followed when a node gives this route, in the order of `edges`. */
export function selectEdges(
  edges: readonly WorkflowEdge[],
  route: Route | undefined,
): readonly WorkflowEdge[] {
  const routes = new Set(toRouteList(route).map(String));
  const chosen = edges.filter((edge) => leadsOn(edge, routes));
  const conditional = chosen.length > 0 ? chosen : edges.filter(isDefault);
  return edges.filter((edge) => edge.route === undefined || conditional.includes(edge));
}

/** The most sets of edges that `listEdgeChoices` returns. */
const MAX_CHOICES = 64;

/**
 * Lists the sets of edges that a route of a node can select, each in the order of `edges`. A node may give several
 * routes at once. Returns undefined if there are more than 64.
 */
export function listEdgeChoices(
  edges: readonly WorkflowEdge[],
): readonly (readonly WorkflowEdge[])[] | undefined {
  const values = new Set(edges.flatMap(({ route }) => toRouteList(route)).map(String));
  const none: readonly WorkflowEdge[] = [];
  const choices = new Map([[toKey(none), none]]);
  for (const value of values) {
    const more = edges.filter((edge) => leadsOn(edge, new Set([value])));
    for (const choice of Array.from(choices.values())) {
      const both = edges.filter((edge) => choice.includes(edge) || more.includes(edge));
      choices.set(toKey(both), both);
    }
    if (choices.size > MAX_CHOICES) return undefined;
  }
  const selected = [...choices.values()].map((chosen) => {
    const conditional = chosen.length > 0 ? chosen : edges.filter(isDefault);
    return edges.filter((edge) => edge.route === undefined || conditional.includes(edge));
  });
  return [...new Map(selected.map((choice) => [toKey(choice), choice])).values()];
}

function leadsOn({ route }: WorkflowEdge, routes: ReadonlySet<string>): boolean {
  return toRouteList(route).some((value) => routes.has(String(value)));
}

function isDefault({ route }: WorkflowEdge): boolean {
  return toRouteList(route).includes(DEFAULT_ROUTE);
}

function toKey(edges: readonly WorkflowEdge[]): string {
  return edges.map(({ to }) => to).join('+');
}

function toRouteList(route: Route | undefined): readonly RouteValue[] {
  if (route === undefined) return [];
  return typeof route === 'object' ? route : [route];
}
