import { parseRunningPlaceName } from '../../net/internal.ts';
import type {
  NetDescription,
  NetLayout,
  NodePosition,
  SubnetDescription,
} from './net-description.ts';

const COLUMN_WIDTH = 200;
const ROW_HEIGHT = 60;

interface Node {
  readonly id: string;
  readonly from: string[];
  readonly to: string[];
  /** The position of its subnet in the order of subnets. Places have that of the first transition that takes from them. */
  subnet: number;
}

/**
 * Lays out a net in columns from left to right. The column of a node is its distance from where tokens enter the net:
 * places for inputs from outside and places with initial tokens are at distance 0. Only arcs that move tokens count. A
 * node that they do not reach is beside its nearest neighbor. In a column, nodes are ordered by subnet, then by the mean
 * position of their neighbors in earlier columns, then by name.
 */
export function layOutNet(
  net: Pick<NetDescription, 'places' | 'transitions' | 'subnets'>,
): NetLayout {
  const nodes = toNodes(net);
  const sources = net.places
    .filter(({ environment, initial }) => environment || initial > 0)
    .map(({ name }) => `p:${name}`);
  const columns = groupByColumn(nodes, findDistances(nodes, sources));
  const rows = new Map<string, number>();
  for (const column of columns) {
    const center = (node: Node): number => {
      const known = [...node.from, ...node.to].flatMap((id) => rows.get(id) ?? []);
      return known.length === 0 ? 0 : known.reduce((sum, row) => sum + row, 0) / known.length;
    };
    const ordered = column
      .map((node) => ({ node, center: center(node) }))
      .toSorted(
        (a, b) =>
          a.node.subnet - b.node.subnet || a.center - b.center || (a.node.id < b.node.id ? -1 : 1),
      );
    // Rows are centered, so that a column with few nodes is beside the middle of its neighbors.
    ordered.forEach(({ node }, index) => rows.set(node.id, index - (ordered.length - 1) / 2));
  }
  const height = Math.max(1, ...columns.map((column) => column.length)) * ROW_HEIGHT;
  const position = (id: string): NodePosition => ({
    x: (columns.findIndex((column) => column.some((node) => node.id === id)) + 0.5) * COLUMN_WIDTH,
    y: height / 2 + (rows.get(id) ?? 0) * ROW_HEIGHT,
  });
  return {
    engine: 'columns',
    width: Math.max(1, columns.length) * COLUMN_WIDTH,
    height,
    places: Object.fromEntries(net.places.map(({ name }) => [name, position(`p:${name}`)])),
    transitions: Object.fromEntries(
      net.transitions.map(({ name }) => [name, position(`t:${name}`)]),
    ),
  };
}

/** The nodes of the net by id: `p:` and a place, or `t:` and a transition. The firings of an effect are at the effect. */
function toNodes({
  places,
  transitions,
  subnets,
}: Pick<NetDescription, 'places' | 'transitions' | 'subnets'>): ReadonlyMap<string, Node> {
  const order = subnets.flatMap(listTransitions);
  const nodes = new Map<string, Node>();
  for (const { name } of places)
    nodes.set(`p:${name}`, { id: `p:${name}`, from: [], to: [], subnet: order.length });
  for (const { name } of transitions) {
    const subnet = order.indexOf(name);
    nodes.set(`t:${name}`, {
      id: `t:${name}`,
      from: [],
      to: [],
      subnet: subnet === -1 ? order.length : subnet,
    });
  }
  const link = (from: Node | undefined, to: Node | undefined): void => {
    if (from === undefined || to === undefined) return;
    from.to.push(to.id);
    to.from.push(from.id);
  };
  for (const { name, arcs } of transitions) {
    const t = nodes.get(`t:${name}`);
    for (const arc of arcs) {
      const effect = parseRunningPlaceName(arc.place);
      const place = nodes.get(effect === undefined ? `p:${arc.place}` : `t:${effect}`);
      if (arc.kind === 'give') link(t, place);
      if (arc.kind !== 'take') continue;
      link(place, t);
      if (place !== undefined && t !== undefined && effect === undefined)
        place.subnet = Math.min(place.subnet, t.subnet);
    }
  }
  return nodes;
}

function listTransitions({ transitions, subnets }: SubnetDescription): readonly string[] {
  return [...transitions, ...subnets.flatMap(listTransitions)];
}

/** The distance of every node from the sources, breadth first. */
function findDistances(
  nodes: ReadonlyMap<string, Node>,
  sources: readonly string[],
): ReadonlyMap<string, number> {
  const distances = new Map<string, number>();
  const visit = (ids: readonly string[], from: number): void => {
    let frontier = ids.filter((id) => !distances.has(id));
    for (let distance = from; frontier.length > 0; distance++) {
      for (const id of frontier) distances.set(id, distance);
      frontier = [...new Set(frontier.flatMap((id) => nodes.get(id)?.to ?? []))].filter(
        (id) => !distances.has(id),
      );
    }
  };
  visit(sources, 0);
  for (const { id, to } of nodes.values()) {
    if (distances.has(id)) continue;
    const known = to.flatMap((other) => distances.get(other) ?? []);
    visit([id], Math.max(0, Math.min(...(known.length === 0 ? [0] : known)) - 1));
  }
  return distances;
}

function groupByColumn(
  nodes: ReadonlyMap<string, Node>,
  distances: ReadonlyMap<string, number>,
): readonly (readonly Node[])[] {
  const columns: Node[][] = [];
  for (const node of nodes.values()) (columns[distances.get(node.id) ?? 0] ??= []).push(node);
  return [...columns].map((column) => column ?? []);
}
