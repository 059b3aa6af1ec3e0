import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { SessionNet } from '../api/types.ts';
import type { RecordMoves } from '../session/record-moves.ts';
import { formatDuration } from '../ui/format.ts';
import { placeWidth, SIZES, transitionWidth } from './dot.ts';
import { viewBoxes } from './collapse.ts';
import { flyTokens } from './fly-tokens.ts';
import type { Drawing } from './lay-out.ts';
import { toEdges, toPlaceNode } from './story.ts';
import type { DrawnEdge } from './story.ts';
import type { MarkingView, PlaceContent, RunningEffect } from './token-view.ts';
import { usePanZoom } from './use-pan-zoom.ts';
import type { PanZoom } from './use-pan-zoom.ts';

export interface NetViewProps {
  readonly drawing: Drawing;
  readonly marking: MarkingView;
  readonly moves: RecordMoves;
  /** The transition of the record that is shown. */
  readonly fired: string | undefined;
  /** Changes with each record: tokens fly once. */
  readonly record: number;
  /** The time of the record, or now. */
  readonly now: number;
  /** What the drawing is. Default: the number of the record. */
  readonly label?: string;
  readonly focus: string | undefined;
  readonly onFocus: (node: string | undefined) => void;
  readonly onPanZoom?: (controls: PanZoom) => void;
}

/** The net with the tokens of one moment. */
export function NetView(props: NetViewProps): JSX.Element {
  const { drawing, marking, moves, record, focus, onFocus } = props;
  const { layout, net } = drawing;
  const { running, fired, tokens } = viewBoxes(net.boxes, marking, props.fired);
  const svg = useRef<SVGSVGElement>(null);
  const panZoom = usePanZoom(svg, layout);
  const edges = useMemo(() => toEdges(net), [net]);
  const used = useMemo(() => usedEdges(edges, moves, fired), [edges, moves, fired]);
  useEffect(() => props.onPanZoom?.(panZoom), [panZoom]);
  const before = useRef(record);
  useEffect(() => {
    // A jump moves no tokens: only the next record does.
    if (svg.current !== null && record === before.current + 1) flyTokens(svg.current, used);
    before.current = record;
  }, [record, drawing]);
  const related = useMemo(() => relatedNodes(edges, focus), [edges, focus]);
  const dim = (id: string): string => (related === undefined || related.has(id) ? '' : ' dim');
  return (
    <svg
      ref={svg}
      class="net"
      role="img"
      aria-label={
        props.label ??
        `Net ${record === 0 ? 'before the first record' : `after record ${record}`}. The table shows the same as text.`
      }
      viewBox={panZoom.viewBox}
      onClick={() => onFocus(undefined)}
    >
      <Markers />
      <StaticEdges drawing={drawing} edges={edges} focus={focus} />
      <g class="net-used">
        {used.map(({ id }) => {
          const path = layout.edges[id];
          return path === undefined ? null : <path key={id} d={path.d} data-edge={id} />;
        })}
      </g>
      {net.transitions.map((transition) => {
        const id = `t:${transition.name}`;
        return (
          <TransitionNode
            key={id}
            transition={transition}
            at={layout.nodes[id]}
            isFired={transition.name === fired}
            running={running.get(transition.name)}
            inside={tokens.get(transition.name)}
            now={props.now}
            className={`${dim(id)}${focus === id ? ' focused' : ''}`}
            onChoose={onFocus}
          />
        );
      })}
      {net.places.map((place) => {
        const id = `p:${place.name}`;
        return (
          <PlaceNode
            key={id}
            place={place}
            at={layout.nodes[id]}
            content={marking.places.get(place.name)}
            change={placeChange(moves, place.name)}
            className={`${dim(id)}${focus === id ? ' focused' : ''}`}
            onChoose={onFocus}
          />
        );
      })}
    </svg>
  );
}

const StaticEdges = memo(function StaticEdges({
  drawing: { layout },
  edges,
  focus,
}: {
  readonly drawing: Drawing;
  readonly edges: readonly DrawnEdge[];
  readonly focus: string | undefined;
}): JSX.Element {
  return (
    <g>
      {layout.clusters.map(({ label, x, y, width, height }) => (
        <g key={label} class="net-subnet">
          <rect x={x} y={y} width={width} height={height} rx={10} />
          <text x={x + 10} y={y + 14}>
            {label}
          </text>
        </g>
      ))}
      {edges.map(({ id, kind, label, place, transition }) => {
        const path = layout.edges[id];
        if (path === undefined) return null;
        const isDim =
          focus !== undefined && focus !== toPlaceNode(place) && focus !== `t:${transition}`;
        return (
          <g key={id} class={`net-edge net-${kind}${isDim ? ' dim' : ''}`}>
            <path d={path.d} />
            {label !== '' && (
              <text x={path.middle[0]} y={path.middle[1] - 4}>
                {label}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
});

function Markers(): JSX.Element {
  const arrow = (id: string, className: string): JSX.Element => (
    <marker
      id={id}
      class={className}
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="7"
      markerHeight="7"
      orient="auto-start-reverse"
    >
      <path d="M0 0.800L8 4L0 7.200z" />
    </marker>
  );
  return (
    <defs>
      {arrow('arrow', 'marker')}
      {arrow('arrow-used', 'marker-used')}
      <marker
        id="no"
        class="marker-no"
        viewBox="0 0 8 8"
        refX="7"
        refY="4"
        markerWidth="8"
        markerHeight="8"
      >
        <circle cx="4" cy="4" r="3" />
      </marker>
    </defs>
  );
}

interface TransitionProps {
  readonly transition: SessionNet['transitions'][number];
  readonly at: readonly [number, number] | undefined;
  readonly isFired: boolean;
  readonly running: readonly RunningEffect[] | undefined;
  /** The number of tokens in it, for a subnet. */
  readonly inside: number | undefined;
  readonly now: number;
  readonly className: string;
  readonly onChoose: (node: string) => void;
}

/** The time matters only to what runs. */
function isSameTransition(a: TransitionProps, b: TransitionProps): boolean {
  return (
    a.transition === b.transition &&
    a.at === b.at &&
    a.isFired === b.isFired &&
    a.inside === b.inside &&
    a.running === undefined &&
    b.running === undefined &&
    a.className === b.className
  );
}

const TransitionNode = memo(function TransitionNode({
  transition: { name, kind, after_ms },
  at,
  isFired,
  running,
  inside,
  now,
  className,
  onChoose,
}: TransitionProps): JSX.Element | null {
  if (at === undefined) return null;
  const width = transitionWidth(name);
  const [first] = running ?? [];
  const elapsed = first === undefined ? '' : formatDuration(Math.max(0, now - first.startedAt));
  const held =
    inside === undefined ? '' : `: ${inside} ${inside === 1 ? 'token' : 'tokens'} inside`;
  const title =
    first === undefined
      ? `${name}${held}`
      : `${name}: runs for ${elapsed}, attempt ${first.attempt}`;
  return (
    <g
      class={`net-transition net-${inside === undefined ? kind : 'subnet'}-transition${isFired ? ' fired' : ''}${first === undefined ? '' : ' running'}${className}`}
      transform={`translate(${at[0]} ${at[1]})`}
      onClick={(event) => {
        event.stopPropagation();
        onChoose(`t:${name}`);
      }}
      data-node={`t:${name}`}
    >
      <title>{title}</title>
      <rect
        x={-width / 2}
        y={-SIZES.height / 2}
        width={width}
        height={SIZES.height}
        rx={kind === 'effect' ? 9 : 2}
      />
      <text>{name}</text>
      {inside !== undefined && inside > 0 && (
        <g class="net-inside" transform={`translate(${width / 2} ${-SIZES.height / 2})`}>
          <circle r={9} />
          <text>{inside > 99 ? '99+' : inside}</text>
        </g>
      )}
      {after_ms !== undefined && (
        <circle class="net-clock" cx={width / 2} cy={-SIZES.height / 2} r={4} />
      )}
      {first !== undefined && (
        <g transform={`translate(0 ${SIZES.height / 2 + 12})`} class="net-elapsed">
          <circle class="net-spinner" cx={-elapsed.length * 3.4 - 8} r={5} />
          <text>
            {elapsed}
            {first.attempt > 1 ? ` · attempt ${first.attempt}` : ''}
          </text>
        </g>
      )}
    </g>
  );
}, isSameTransition);

interface PlaceProps {
  readonly place: SessionNet['places'][number];
  readonly at: readonly [number, number] | undefined;
  readonly content: PlaceContent | undefined;
  readonly change: 'given' | 'taken' | undefined;
  readonly className: string;
  readonly onChoose: (node: string) => void;
}

function isSamePlace(a: PlaceProps, b: PlaceProps): boolean {
  return (
    a.place === b.place &&
    a.at === b.at &&
    a.content?.count === b.content?.count &&
    a.content?.timed === b.content?.timed &&
    a.change === b.change &&
    a.className === b.className
  );
}

const PlaceNode = memo(function PlaceNode({
  place: { name, kind, environment, owed },
  at,
  content,
  change,
  className,
  onChoose,
}: PlaceProps): JSX.Element | null {
  if (at === undefined) return null;
  const width = placeWidth(name);
  const count = content?.count ?? 0;
  const classes = [
    'net-place',
    count > 0 ? 'marked' : '',
    environment ? 'environment' : '',
    kind === 'outlet' ? 'outlet' : '',
    owed && count > 0 ? 'owed' : '',
    change ?? '',
    className,
  ];
  return (
    <g
      class={classes.filter(Boolean).join(' ')}
      transform={`translate(${at[0]} ${at[1]})`}
      onClick={(event) => {
        event.stopPropagation();
        onChoose(`p:${name}`);
      }}
      data-node={`p:${name}`}
      data-count={count}
    >
      <title>{`${name}: ${count} ${kind === 'list' ? 'items' : kind === 'map' ? 'keys' : count === 1 ? 'token' : 'tokens'}${owed ? ', owed an answer' : ''}`}</title>
      <rect
        x={-width / 2}
        y={-SIZES.height / 2}
        width={width}
        height={SIZES.height}
        rx={kind === 'list' || kind === 'map' ? 5 : SIZES.height / 2}
      />
      <g transform={`translate(${-width / 2 + SIZES.tokens / 2 + 2} 0)`}>
        <Tokens
          count={count}
          isPile={kind === 'list' || kind === 'map'}
          timed={content?.timed === true}
        />
      </g>
      <text x={SIZES.tokens / 2 - 4}>{name}</text>
    </g>
  );
}, isSamePlace);

const DOTS: readonly (readonly (readonly [x: number, y: number])[])[] = [
  [],
  [[0, 0]],
  [
    [-4.5, 0],
    [4.5, 0],
  ],
  [
    [-4.5, 3.5],
    [4.5, 3.5],
    [0, -4],
  ],
  [
    [-4.5, -4.5],
    [4.5, -4.5],
    [-4.5, 4.5],
    [4.5, 4.5],
  ],
  [
    [-5.5, -5],
    [5.5, -5],
    [0, 0],
    [-5.5, 5],
    [5.5, 5],
  ],
];

/** Dots up to five tokens, then a number. */
function Tokens({
  count,
  isPile,
  timed,
}: {
  readonly count: number;
  readonly isPile: boolean;
  readonly timed: boolean;
}): JSX.Element {
  const dots = DOTS[count];
  if (isPile || dots === undefined)
    return (
      <text class={`net-count${count === 0 ? ' empty' : ''}`}>{count > 999 ? '999+' : count}</text>
    );
  return (
    <>
      {count === 0 && <circle class="net-hollow" r={4} />}
      {dots.map(([x, y], index) => (
        <circle key={index} class="net-token" cx={x} cy={y} r={3.6} />
      ))}
      {timed && <circle class="net-clock-ring" r={10} />}
    </>
  );
}

function placeChange(moves: RecordMoves, place: string): 'given' | 'taken' | undefined {
  if (moves.given.has(place) || moves.written.has(place)) return 'given';
  return moves.taken.has(place) || moves.reset.has(place) ? 'taken' : undefined;
}

/** The edges that a record used. */
function usedEdges(
  edges: readonly DrawnEdge[],
  { taken, reset, given, written }: RecordMoves,
  fired: string | undefined,
): readonly DrawnEdge[] {
  if (fired === undefined) return [];
  const isUsed = ({ kind, place }: DrawnEdge): boolean => {
    switch (kind) {
      case 'take':
        return taken.has(place);
      case 'give':
        return given.has(place) || written.has(place);
      case 'both':
        return taken.has(place) || given.has(place);
      case 'reset':
        return reset.has(place);
      case 'read':
      case 'inhibitor':
        return false;
      default:
        return kind satisfies never;
    }
  };
  return edges.filter((edge) => edge.transition === fired && isUsed(edge));
}

function relatedNodes(
  edges: readonly DrawnEdge[],
  focus: string | undefined,
): ReadonlySet<string> | undefined {
  if (focus === undefined) return undefined;
  const related = new Set([focus]);
  for (const { place, transition } of edges) {
    const node = toPlaceNode(place);
    if (focus === node) related.add(`t:${transition}`);
    if (focus === `t:${transition}`) related.add(node);
  }
  return related;
}
