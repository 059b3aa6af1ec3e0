import { decodeJson, isJsonObject } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import { netGraph, renderDot } from '../../net/internal.ts';
import type { CompiledNet } from '../../net/index.ts';
import type { LayoutEdge, LayoutSubnet, NetLayout, NodePosition } from './net-description.ts';

/**
 * Lays out a net as `toSvg` draws it. Takes a few hundred milliseconds for the net of an agent.
 * @throws GraphvizMissingError if `@viz-js/viz` is not installed
 */
export async function layOutWithGraphviz(net: CompiledNet): Promise<NetLayout> {
  const graph = netGraph(net);
  const numbered = {
    ...graph,
    edges: graph.edges.map((edge, index) => ({
      ...edge,
      attributes: { ...edge.attributes, id: String(index) },
    })),
  };
  const drawing = decodeJson(await renderDot(numbered, 'json0'), 'layout');
  const { bb, objects, edges } = isJsonObject(drawing) ? drawing : {};
  const [, , width = 0, height = 0] = readNumbers(bb);
  // The y axis of Graphviz points up.
  const flip = ([x = 0, y = 0]: readonly number[]): NodePosition => ({ x, y: height - y });
  const found = readObjects(objects);
  const centers = new Map(
    found.flatMap(({ name, pos }) =>
      typeof name === 'string' && pos !== undefined
        ? [[name, flip(readNumbers(pos))] as const]
        : [],
    ),
  );
  const select = (prefix: 'p:' | 't:'): NetLayout['places'] =>
    Object.fromEntries(
      [...centers].flatMap(([name, at]) =>
        name.startsWith(prefix) ? [[name.slice(prefix.length), at]] : [],
      ),
    );
  const splines = new Map(
    readObjects(edges).flatMap(({ id, pos }) =>
      typeof id === 'string' && typeof pos === 'string'
        ? [[id, readSpline(pos, flip)] as const]
        : [],
    ),
  );
  return {
    engine: 'graphviz',
    width,
    height,
    places: select('p:'),
    transitions: select('t:'),
    edges: graph.edges.map(({ tail: from, head: to, kind, attributes }, index) => ({
      from,
      to,
      kind,
      label: String(attributes['label'] ?? ''),
      // Graphviz finds no way for a few lines of a large net.
      ...(splines.get(String(index)) ?? straightLine(centers.get(from), centers.get(to))),
    })),
    subnets: listSubnets(found, flip),
  };
}

function listSubnets(
  objects: readonly Readonly<Record<string, Json>>[],
  flip: (point: readonly number[]) => NodePosition,
): readonly LayoutSubnet[] {
  const parents = new Map<number, Readonly<Record<string, Json>>>();
  for (const one of objects)
    if (Array.isArray(one['subgraphs']))
      for (const inner of one['subgraphs']) parents.set(Number(inner), one);
  const readPath = (one: Readonly<Record<string, Json>>): readonly string[] => {
    const parent = parents.get(Number(one['_gvid']));
    return [...(parent === undefined ? [] : readPath(parent)), readText(one['label'])];
  };
  return objects.flatMap((one) => {
    if (one['bb'] === undefined) return [];
    const [left = 0, bottom = 0, right = 0, top = 0] = readNumbers(one['bb']);
    return [
      { path: readPath(one), ...flip([left, top]), width: right - left, height: top - bottom },
    ];
  });
}

function straightLine(
  from: NodePosition = { x: 0, y: 0 },
  to: NodePosition = { x: 0, y: 0 },
): Pick<LayoutEdge, 'points'> {
  return { points: [from, from, to, to] };
}

/** Reads `e,x,y s,x,y x,y x,y …`: the tips of the arrow heads, then the points of the curves. */
function readSpline(
  pos: string,
  flip: (point: readonly number[]) => NodePosition,
): Pick<LayoutEdge, 'points' | 'startTip' | 'endTip'> {
  const parts = pos.split(' ').filter((part) => part !== '');
  const tip = (mark: 's' | 'e'): NodePosition | undefined => {
    const part = parts.find((one) => one.startsWith(`${mark},`));
    return part === undefined ? undefined : flip(readNumbers(part.slice(2)));
  };
  const [startTip, endTip] = [tip('s'), tip('e')];
  return {
    points: parts.filter((part) => /^-?[\d.]/.test(part)).map((part) => flip(readNumbers(part))),
    ...(startTip !== undefined && { startTip }),
    ...(endTip !== undefined && { endTip }),
  };
}

function readObjects(value: Json | undefined): readonly Readonly<Record<string, Json>>[] {
  return Array.isArray(value) ? value.filter((one) => isJsonObject(one)) : [];
}

function readText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function readNumbers(value: Json | undefined): readonly number[] {
  return typeof value === 'string' ? value.split(',').map(Number) : [];
}
