import { runningPlaceName } from '../language/place-identity.ts';
import type {
  CompiledInput,
  CompiledNet,
  CompiledOutput,
  CompiledTransition,
} from '../build/compile.ts';
import type { Cluster } from '../language/net.ts';
import type { AnyPlace } from '../language/place.ts';

type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A net as a Graphviz graph in plain data, used for both DOT and SVG. */
export interface NetGraph {
  readonly name: string;
  readonly directed: true;
  readonly graphAttributes: Attributes;
  readonly nodeAttributes: Attributes;
  readonly edgeAttributes: Attributes;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly subgraphs: readonly GraphCluster[];
}

export interface GraphNode {
  readonly name: string;
  readonly attributes: Attributes;
}

/**
 * What a line of a drawing stands for: an arc that moves tokens, a take and a give of one token, the other kinds of
 * arcs, or the line between an effect and the place of its firings.
 */
export type EdgeKind = 'flow' | 'both' | 'read' | 'inhibitor' | 'reset' | 'running';

export interface GraphEdge {
  readonly tail: string;
  readonly head: string;
  readonly kind: EdgeKind;
  readonly attributes: Attributes;
}

export interface GraphCluster {
  readonly name: string;
  readonly graphAttributes: Attributes;
  readonly nodes: readonly GraphNode[];
  readonly subgraphs: readonly GraphCluster[];
}

/** The part of a net to draw. Default: all of it. */
export interface DiagramOptions {
  /** Draws only these transitions and the places of their arcs. */
  readonly only?: (transition: string) => boolean;
  /** Omits these places and their arcs. */
  readonly without?: (place: string) => boolean;
}

const INK = '#24292f';
const FAINT = '#8c959f';
const OUTSIDE = '#0969da';

/**
 * Returns the graph of a net.
 * - Places are ellipses: blue for environment places and outlets, with a double border for outlets, dotted for the
 *   firings of an effect. A list is a folder and a map is a cylinder. A dot is an initial token.
 * - Transitions are boxes: yellow for an effect, with `(timed)` for a timed transition.
 * - A dashed line reads. A line that ends in a circle inhibits. A double arrow resets. A line with two heads takes a
 *   token and returns one.
 */
export function netGraph(net: CompiledNet, options: DiagramOptions = {}): NetGraph {
  const drawn = net.transitions.filter((t) => options.only?.(t.name) ?? true);
  const isShown = (place: string): boolean => !(options.without?.(place) ?? false);
  const places = listDrawnPlaces(drawn, net).filter(({ name }) => isShown(name));
  const homes = assignClusters(places, drawn, net.clusters);
  const toNode = (place: AnyPlace): GraphNode => placeNode(place, initialIn(net, place.name));
  const toGraphCluster = (cluster: Cluster): GraphCluster => ({
    name: `cluster_${cluster.name}`,
    graphAttributes: {
      label: cluster.name,
      style: 'rounded',
      color: '#d0d7de',
      fontcolor: FAINT,
      fontsize: 11,
      labeljust: 'l',
    },
    nodes: [
      ...drawn.filter((t) => cluster.transitions.includes(t.name)).map(transitionNode),
      ...places.filter((place) => homes.get(place.name) === cluster).map(toNode),
    ],
    subgraphs: cluster.clusters.map(toGraphCluster).filter(hasNodes),
  });
  const clustered = new Set(net.clusters.flatMap(transitionsIn));
  return {
    name: net.name,
    directed: true,
    graphAttributes: {
      rankdir: 'LR',
      fontname: 'Helvetica',
      nodesep: 0.25,
      ranksep: 0.45,
      bgcolor: 'white',
    },
    nodeAttributes: { fontname: 'Helvetica', fontsize: 10, color: INK, fontcolor: INK },
    edgeAttributes: {
      color: INK,
      arrowsize: 0.7,
      fontname: 'Helvetica',
      fontsize: 9,
      fontcolor: FAINT,
    },
    nodes: [
      ...drawn.filter((t) => !clustered.has(t.name)).map(transitionNode),
      ...places.filter((place) => homes.get(place.name) === undefined).map(toNode),
    ],
    edges: [
      ...drawn.flatMap((t) => toEdges(t, isShown)),
      ...drawn
        .filter((t) => places.some(({ name }) => name === t.running))
        .map((t) => ({
          tail: `t:${t.name}`,
          head: `p:${t.running}`,
          kind: 'running' as const,
          attributes: runningStyle,
        })),
    ],
    subgraphs: net.clusters.map(toGraphCluster).filter(hasNodes),
  };
}

function hasNodes(cluster: GraphCluster): boolean {
  return cluster.nodes.length > 0 || cluster.subgraphs.length > 0;
}

function transitionsIn(cluster: Cluster): readonly string[] {
  return [...cluster.transitions, ...cluster.clusters.flatMap(transitionsIn)];
}

function listDrawnPlaces(
  drawn: readonly CompiledTransition[],
  net: CompiledNet,
): readonly AnyPlace[] {
  const places = new Map<string, AnyPlace>();
  const add = (place: AnyPlace): void => {
    if (!places.has(place.name)) places.set(place.name, place);
  };
  for (const t of drawn) {
    for (const { place, kind } of [...t.takes, ...t.reads])
      add(net.places.get(place) ?? runningPlace(place, kind));
    for (const place of [...t.unless, ...t.reset]) add(place);
    for (const { place } of listCompiledOutputs(t)) add(place);
  }
  return [...places.values()];
}

function runningPlace(name: string, kind: AnyPlace['kind']): AnyPlace {
  return {
    kind,
    name,
    schema: undefined,
    version: undefined,
    owed: false,
    environment: false,
    barrier: false,
    formerNames: [],
  };
}

/** Draws a place in the one cluster that takes from it, or otherwise in the one cluster that has all its arcs. */
function assignClusters(
  places: readonly AnyPlace[],
  drawn: readonly CompiledTransition[],
  clusters: readonly Cluster[],
): ReadonlyMap<string, Cluster> {
  const homes = new Map<string, Cluster>();
  for (const { name } of places) {
    const touching = drawn.filter((t) => touches(t, name)).map((t) => t.name);
    const taking = drawn
      .filter((t) => t.takes.some(({ place }) => place === name))
      .map((t) => t.name);
    const inside = taking.length > 0 ? taking : touching;
    const home = clusters.find((cluster) =>
      inside.every((t) => transitionsIn(cluster).includes(t)),
    );
    if (home !== undefined) homes.set(name, home);
  }
  return homes;
}

function touches(t: CompiledTransition, place: string): boolean {
  return (
    [...t.takes, ...t.reads].some((input) => input.place === place) ||
    [...t.unless, ...t.reset].some(({ name }) => name === place) ||
    listCompiledOutputs(t).some((output) => output.place.name === place) ||
    runningPlaceName(t.name) === place
  );
}

function listCompiledOutputs(t: CompiledTransition): readonly CompiledOutput[] {
  return [...t.alternatives.values()].flatMap(({ outputs }) => outputs);
}

function transitionNode({ name, spec }: CompiledTransition): GraphNode {
  const effect = spec.kind === 'effect';
  const clock = spec.after === undefined ? '' : ' (timed)';
  return {
    name: `t:${name}`,
    attributes: {
      label: `${name}${clock}`,
      shape: 'box',
      style: effect ? 'filled,rounded' : 'filled',
      fillcolor: effect ? '#fff8c5' : '#f6f8fa',
      height: 0.3,
    },
  };
}

const shapes: Readonly<Record<AnyPlace['kind'], Attributes>> = {
  tokens: { shape: 'ellipse' },
  list: { shape: 'folder' },
  map: { shape: 'cylinder' },
  outlet: { shape: 'ellipse', peripheries: 2 },
  running: { shape: 'ellipse', style: 'dotted' },
};

function initialIn(net: CompiledNet, place: string): number {
  return net.initial
    .filter((token) => token.place.name === place)
    .reduce((sum, { times }) => sum + times, 0);
}

function placeNode({ name, kind, environment }: AnyPlace, initial: number): GraphNode {
  const outside = environment || kind === 'outlet';
  const tokens = initial === 0 ? '' : initial === 1 ? ' ●' : ` ●${initial}`;
  return {
    name: `p:${name}`,
    attributes: {
      label: `${name}${tokens}`,
      height: 0.3,
      ...shapes[kind],
      ...(outside && { color: OUTSIDE, fontcolor: OUTSIDE }),
    },
  };
}

// Only arcs that move tokens shape the layout. Weight 0 keeps reads, inhibitors and resets from changing it.
const readStyle: Attributes = { color: FAINT, weight: 0 };
/** The line between an effect and the place of its firings. */
const runningStyle: Attributes = { color: FAINT, style: 'dotted', arrowhead: 'none' };

function toEdges(t: CompiledTransition, isShown: (place: string) => boolean): readonly GraphEdge[] {
  const from = (place: string, kind: EdgeKind, attributes: Attributes): readonly GraphEdge[] =>
    isShown(place) ? [{ tail: `p:${place}`, head: `t:${t.name}`, kind, attributes }] : [];
  const to = (place: string, label: string): readonly GraphEdge[] =>
    isShown(place)
      ? [
          {
            tail: `t:${t.name}`,
            head: `p:${place}`,
            kind: 'flow',
            attributes: labelAttributes(label),
          },
        ]
      : [];
  const outputLabels = new Map(mergeOutputLabels(listCompiledOutputs(t)));
  // A place with one token taken and one returned gets one line with two heads.
  const kept = new Set(
    t.takes
      .filter((input) => inputLabel(input) === '' && outputLabels.get(input.place) === '')
      .map(({ place }) => place),
  );
  return [
    ...t.takes.flatMap((input) =>
      from(
        input.place,
        kept.has(input.place) ? 'both' : 'flow',
        kept.has(input.place) ? { dir: 'both' } : labelAttributes(inputLabel(input)),
      ),
    ),
    ...t.reads.flatMap(({ place }) =>
      from(place, 'read', { ...readStyle, style: 'dashed', arrowhead: 'none' }),
    ),
    ...t.unless.flatMap(({ name }) => from(name, 'inhibitor', { ...readStyle, arrowhead: 'odot' })),
    ...t.reset.flatMap(({ name }) =>
      from(name, 'reset', { ...readStyle, arrowhead: 'normalnormal' }),
    ),
    ...[...outputLabels].flatMap(([place, label]) => (kept.has(place) ? [] : to(place, label))),
  ];
}

function inputLabel({ mode, count, getKey }: CompiledInput): string {
  const weight = mode === 'one' ? '' : mode === 'all' ? (count === 0 ? '∗' : '+') : String(count);
  return getKey === undefined ? weight : `${weight}=`;
}

function labelAttributes(label: string): Attributes {
  return label === '' ? {} : { label };
}

/** Merges the outputs to one place into one label, over all alternatives. */
function mergeOutputLabels(
  outputs: readonly CompiledOutput[],
): readonly (readonly [place: string, label: string])[] {
  const labels = new Map<string, Set<string>>();
  for (const output of outputs) {
    const known = labels.get(output.place.name) ?? new Set();
    labels.set(output.place.name, known.add(outputLabel(output)));
  }
  return [...labels].map(([place, all]) => [
    place,
    [...all].filter((label) => label !== '').join(', '),
  ]);
}

function outputLabel({ output }: CompiledOutput): string {
  switch (output.arc) {
    case 'one':
      return '';
    case 'upTo':
      return output.max > 64 ? '0..n' : `0..${output.max}`;
    case 'optional':
      return '0..1';
    case 'each':
      return `each ${output.input}`;
    case 'append':
    case 'put':
      return '';
    case 'replacePrefix':
    case 'truncate':
      return output.arc;
    default:
      return output satisfies never;
  }
}
