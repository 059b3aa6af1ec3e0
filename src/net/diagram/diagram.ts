import { PetrichorError, importOptional } from '../../core/internal.ts';
import type { CompiledNet } from '../build/compile.ts';
import { netGraph } from './net-graph.ts';
import type { DiagramOptions, GraphCluster, GraphEdge, GraphNode, NetGraph } from './net-graph.ts';

/**
 * The optional package `@viz-js/viz` is not installed. `toSvg` throws it.
 * @remedy Run `npm install @viz-js/viz`, or use `toDot`, which needs no package.
 */
export class GraphvizMissingError extends PetrichorError {
  override readonly code = 'graphviz_missing' as const;

  constructor(cause: unknown) {
    super(
      'Drawing SVG needs the package "@viz-js/viz". Run: npm install @viz-js/viz. DOT output needs no package.',
      { cause },
    );
  }
}

/** Returns a net as DOT text, the input format of Graphviz. */
export function toDot(net: CompiledNet, options?: DiagramOptions): string {
  return graphText(netGraph(net, options));
}

/** Returns a net as SVG text. @throws GraphvizMissingError if `@viz-js/viz` is not installed. */
export async function toSvg(net: CompiledNet, options?: DiagramOptions): Promise<string> {
  return renderDot(netGraph(net, options), 'svg');
}

/** Renders a graph by Graphviz. @throws GraphvizMissingError */
export async function renderDot(graph: NetGraph, format: 'svg' | 'json0'): Promise<string> {
  const viz = await graphviz();
  return viz.renderString(graphText(graph), { format });
}

async function graphviz(): Promise<{
  renderString: (dot: string, options: { format: string }) => string;
}> {
  return importOptional(
    import('@viz-js/viz').then(async ({ instance }) => instance()),
    (cause) => new GraphvizMissingError(cause),
  );
}

function graphText(graph: NetGraph): string {
  const lines = [
    `digraph ${quoted(graph.name)} {`,
    `  graph ${attributes(graph.graphAttributes)}`,
    `  node ${attributes(graph.nodeAttributes)}`,
    `  edge ${attributes(graph.edgeAttributes)}`,
    ...graph.nodes.map((node) => `  ${nodeText(node)}`),
    ...graph.subgraphs.flatMap((cluster) => clusterText(cluster, '  ')),
    ...graph.edges.map((edge) => `  ${edgeText(edge)}`),
    '}',
  ];
  return `${lines.join('\n')}\n`;
}

function clusterText(cluster: GraphCluster, indent: string): readonly string[] {
  return [
    `${indent}subgraph ${quoted(cluster.name)} {`,
    `${indent}  graph ${attributes(cluster.graphAttributes)}`,
    ...cluster.nodes.map((node) => `${indent}  ${nodeText(node)}`),
    ...cluster.subgraphs.flatMap((inner) => clusterText(inner, `${indent}  `)),
    `${indent}}`,
  ];
}

function nodeText({ name, attributes: values }: GraphNode): string {
  return `${quoted(name)} ${attributes(values)}`;
}

function edgeText({ tail, head, attributes: values }: GraphEdge): string {
  return `${quoted(tail)} -> ${quoted(head)} ${attributes(values)}`.trimEnd();
}

function attributes(values: Readonly<Record<string, string | number | boolean>>): string {
  const all = Object.entries(values).map(([key, value]) => `${key}=${quoted(String(value))}`);
  return all.length === 0 ? '' : `[${all.join(', ')}]`;
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
