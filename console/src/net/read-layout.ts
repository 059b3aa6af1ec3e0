/** Where everything of a drawing is, in pixels. */
export interface NetLayout {
  readonly width: number;
  readonly height: number;
  /** The centers of nodes, by `p:PLACE` and `t:TRANSITION`. */
  readonly nodes: Readonly<Record<string, readonly [x: number, y: number]>>;
  /** The paths of edges, by the id of the edge, as `d` of an SVG path. */
  readonly edges: Readonly<Record<string, EdgePath>>;
  readonly clusters: readonly ClusterBox[];
}

export interface EdgePath {
  readonly d: string;
  /** The middle, for a label. */
  readonly middle: readonly [x: number, y: number];
}

/** The box of a subnet. */
export interface ClusterBox {
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Reads the positions that Graphviz computed. */
export function readLayout(json: object): NetLayout {
  const { bb, objects = [], edges = [] } = json as GraphvizOutput;
  const [, top = 0, width = 0, bottom = 0] = numbers(bb);
  const nodes: Record<string, readonly [number, number]> = {};
  const clusters: ClusterBox[] = [];
  for (const { name, pos, bb: box, label } of objects) {
    if (pos !== undefined) {
      const [x = 0, y = 0] = numbers(pos);
      nodes[name] = [x, y];
    } else if (box !== undefined) {
      const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = numbers(box);
      clusters.push({
        label: label ?? '',
        x: Math.min(x1, x2),
        y: Math.min(y1, y2),
        width: Math.abs(x2 - x1),
        height: Math.abs(y2 - y1),
      });
    }
  }
  const paths: Record<string, EdgePath> = {};
  for (const { id, pos } of edges)
    if (id !== undefined && pos !== undefined) paths[id] = readPath(pos);
  return { width, height: Math.max(top, bottom), nodes, edges: paths, clusters };
}

interface GraphvizOutput {
  readonly bb?: string;
  readonly objects?: readonly {
    readonly name: string;
    readonly pos?: string;
    readonly bb?: string;
    readonly label?: string;
  }[];
  readonly edges?: readonly { readonly id?: string; readonly pos?: string }[];
}

/** A position is `e,X,Y X,Y X,Y …`: the tip of the arrow, then a Bézier curve. */
function readPath(pos: string): EdgePath {
  const parts = pos.split(' ');
  const tip = parts.find((part) => part.startsWith('e,'))?.slice(2);
  const points = parts.filter((part) => /^-?\d/.test(part)).map((part) => numbers(part));
  const text = (point: readonly number[] | undefined): string =>
    `${round(point?.[0])},${round(point?.[1])}`;
  const curve = points.slice(1).map(text).join(' ');
  const end = tip === undefined ? '' : ` L${text(numbers(tip))}`;
  const [x = 0, y = 0] = points[Math.floor(points.length / 2)] ?? [];
  return { d: `M${text(points[0])} C${curve}${end}`, middle: [x, y] };
}

function numbers(text: string | undefined): readonly number[] {
  return (text ?? '').split(',').map(Number);
}

function round(value: number | undefined): number {
  return Math.round((value ?? 0) * 10) / 10;
}
