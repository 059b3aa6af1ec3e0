import type { Route, RouteValue } from '../../core/index.ts';
import { DEFAULT_ROUTE } from './workflow-definition.ts';
import type { WorkflowEdge } from './workflow-definition.ts';

/** The edges that are followed when a node gives this route. */
export function selectEdges(
  edges: readonly WorkflowEdge[],
  route: Route | undefined,
): readonly WorkflowEdge[] {
  const routes = toRouteList(route).map(String);
  const isSelected = ({ route: edgeRoute }: WorkflowEdge): boolean =>
    toRouteList(edgeRoute).some((value) => routes.includes(String(value)));
  const chosen = edges.filter((edge) => edge.route !== undefined && isSelected(edge));
  const otherwise = edges.filter((edge) => toRouteList(edge.route).includes(DEFAULT_ROUTE));
  return [
    ...edges.filter((edge) => edge.route === undefined),
    ...(chosen.length > 0 ? chosen : otherwise),
  ];
}

function toRouteList(route: Route | undefined): readonly RouteValue[] {
  if (route === undefined) return [];
  return typeof route === 'object' ? route : [route];
}
