import { toEdges, toPlaceNode } from './story.ts';
import type { DrawnEdge, DrawnNet } from './story.ts';

/** The sizes of what is drawn, in pixels. The layout and the drawing share them. */
export const SIZES = { character: 7, height: 28, tokens: 30, padding: 8 } as const;

/** The width of the box of a place: its tokens stand left of its name. */
export function placeWidth(name: string): number {
  return SIZES.tokens + name.length * SIZES.character + SIZES.padding;
}

/** The width of the box of a transition. */
export function transitionWidth(name: string): number {
  return name.length * SIZES.character + SIZES.padding * 2;
}

const POINTS_PER_INCH = 72;

/** How a net is laid out. */
export interface DrawOptions {
  /** Whether the transitions of a subnet stand in a box. */
  readonly subnets: boolean;
  /** Where tokens move: `LR` to the right, `TB` down. */
  readonly direction: 'LR' | 'TB';
}

/** Returns the drawn part of a net as a graph for Graphviz. Node names are `p:PLACE` and `t:TRANSITION`. */
export function toDot(net: DrawnNet, { subnets, direction }: DrawOptions): string {
  const edges = toEdges(net);
  const node = (id: string, width: number): string =>
    `${quote(id)} [width=${(width / POINTS_PER_INCH).toFixed(3)}, height=${(SIZES.height / POINTS_PER_INCH).toFixed(3)}]`;
  const homes = findHomes(net, edges);
  const drawn = new Set(net.transitions.map(({ name }) => name));
  const clusters = subnets
    ? net.subnets.filter(({ transitions }) => transitions.some((name) => drawn.has(name)))
    : [];
  const nodesIn = (home: number | undefined): readonly string[] => [
    ...net.transitions
      .filter(({ name }) => (subnets ? homes.get(`t:${name}`) : undefined) === home)
      .map(({ name }) => node(`t:${name}`, transitionWidth(name))),
    ...net.places
      .filter(({ name }) => (subnets ? homes.get(`p:${name}`) : undefined) === home)
      .map(({ name }) => node(`p:${name}`, placeWidth(name))),
  ];
  return [
    'digraph net {',
    `graph [rankdir=${direction}, nodesep=0.22, ranksep=${direction === 'TB' ? 0.36 : 0.5}, splines=true, margin=0, pad=0]`,
    'node [shape=box, fixedsize=true, label=""]',
    'edge [arrowsize=0.6]',
    ...nodesIn(undefined),
    ...clusters.map((subnet) => {
      const index = net.subnets.indexOf(subnet);
      const label = quote(subnet.path.join(' / '));
      return `subgraph "cluster_${index}" { graph [label=${label}, fontsize=10, margin=12]; ${nodesIn(index).join('; ')} }`;
    }),
    ...edges.map(edgeText),
    '}',
  ].join('\n');
}

/** The innermost subnet of each transition, and of each place that one subnet alone takes from. */
function findHomes(net: DrawnNet, edges: readonly DrawnEdge[]): ReadonlyMap<string, number> {
  const homes = new Map<string, number>();
  for (const [index, { transitions }] of net.subnets.entries())
    for (const name of transitions) homes.set(`t:${name}`, index);
  for (const { name } of net.places) {
    const touching = edges.filter((edge) => edge.place === name);
    const taking = touching.filter(({ kind }) => kind === 'take' || kind === 'both');
    const inside = taking.length > 0 ? taking : touching;
    const found = new Set(inside.map(({ transition }) => homes.get(`t:${transition}`)));
    const [home] = found;
    if (found.size === 1 && home !== undefined) homes.set(`p:${name}`, home);
  }
  return homes;
}

/** Only arcs that move tokens shape the layout. */
function edgeText({ id, place, transition, kind }: DrawnEdge): string {
  const [tail, head] =
    kind === 'give'
      ? [`t:${transition}`, toPlaceNode(place)]
      : [toPlaceNode(place), `t:${transition}`];
  const weight = kind === 'take' || kind === 'give' || kind === 'both' ? '' : ', weight=0';
  const constraint =
    kind === 'inhibitor' || kind === 'read' || kind === 'reset' ? ', constraint=false' : '';
  return `${quote(tail)} -> ${quote(head)} [id=${quote(id)}${weight}${constraint}]`;
}

function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
