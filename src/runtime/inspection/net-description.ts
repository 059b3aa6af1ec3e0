import { optionTable } from '../../core/index.ts';
import type { JsonObject, OptionTable } from '../../core/index.ts';
import type { PlaceKind } from '../../net/index.ts';

/** A place of a described net. */
export interface PlaceDescription {
  readonly name: string;
  readonly kind: PlaceKind;
  /** The JSON Schema of its values. Absent if the place has unit tokens, or a schema that JSON Schema cannot express. */
  readonly schema?: JsonObject;
  /** The declared version of the schema. */
  readonly version?: number;
  /** Whether it is a port of the agent's net. */
  readonly port?: 'in' | 'out' | 'both';
  /** True if tokens may be injected from outside. */
  readonly environment: boolean;
  /** True if each of its tokens must be answered. */
  readonly owed: boolean;
  /** Number of tokens that a session begins with. */
  readonly initial: number;
}

/** The number of tokens that an arc moves. `max` is null if there is no limit. */
export interface ArcWeight {
  readonly min: number;
  readonly max: number | null;
}

/** An arc of a described transition. `running(t)` is the place of the firings of the effect `t`. */
export type ArcDescription =
  | {
      readonly kind: 'take' | 'read';
      readonly place: string;
      /** The name under which `run` receives the tokens. */
      readonly key: string;
      readonly weight: ArcWeight;
      /** True if its tokens must have the same key as those of the other matching inputs. */
      readonly matching?: true;
    }
  | { readonly kind: 'inhibitor' | 'reset'; readonly place: string }
  | {
      readonly kind: 'give';
      readonly place: string;
      /** The name under which `run` returns the tokens. */
      readonly key: string;
      /** The name of the alternative. Absent if every firing gives all outputs. */
      readonly alternative?: string;
      /** How the value changes the place. */
      readonly write: 'token' | 'append' | 'replacePrefix' | 'truncate' | 'put';
      readonly weight: ArcWeight;
    };

/** A number of milliseconds. `computed`: a function computes it from the tokens. */
export type DescribedMs = number | 'computed';

/** A transition of a described net. Times are in milliseconds. */
export interface TransitionDescription {
  readonly name: string;
  readonly kind: 'pure' | 'effect';
  readonly arcs: readonly ArcDescription[];
  readonly priority: number;
  /** Only for a timed transition: how long after its token arrived it may fire. */
  readonly afterMs?: DescribedMs;
  /** Only for an effect, as the members below: the most firings at once. Absent: no limit. */
  readonly concurrency?: number;
  readonly timeoutMs?: DescribedMs;
  /** Attempts, and the delays between them such as `1s..30s`. */
  readonly retry?: { readonly attempts: number; readonly backoff: string };
  readonly onCrash?: 'rerun' | 'unknown' | 'computed';
}

/** A subnet: transitions that belong together, and subnets within it. */
export interface SubnetDescription {
  readonly name: string;
  readonly transitions: readonly string[];
  readonly subnets: readonly SubnetDescription[];
}

/** The center of a node in a drawing, in pixels. The origin is at the top left. */
export interface NodePosition {
  readonly x: number;
  readonly y: number;
}

/** A line of a layout of Graphviz, as cubic Bézier curves. */
export interface LayoutEdge {
  /** `p:PLACE` or `t:TRANSITION`. */
  readonly from: string;
  readonly to: string;
  /**
   * `flow`: tokens move. `both`: one token is taken and one given. `running`: from an effect to the place of its
   * firings. The others are the kinds of arcs.
   */
  readonly kind: 'flow' | 'both' | 'read' | 'inhibitor' | 'reset' | 'running';
  /** The number of tokens, such as `0..n`. Empty for one. */
  readonly label: string;
  /** The first point, and then three points for each curve: two control points and its end. */
  readonly points: readonly NodePosition[];
  /** The tips of the arrow heads, if the line has them. */
  readonly startTip?: NodePosition;
  readonly endTip?: NodePosition;
}

/** The box of a subnet in a layout of Graphviz. */
export interface LayoutSubnet {
  /** Its name, after the names of the subnets around it. */
  readonly path: readonly string[];
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Positions for a drawing from left to right. The same net always has the same layout. */
export interface NetLayout {
  /** What computed it. */
  readonly engine: LayoutEngine;
  readonly width: number;
  readonly height: number;
  readonly places: Readonly<Record<string, NodePosition>>;
  readonly transitions: Readonly<Record<string, NodePosition>>;
  /** Only with `graphviz`. */
  readonly edges?: readonly LayoutEdge[];
  /** Only with `graphviz`. */
  readonly subnets?: readonly LayoutSubnet[];
}

/**
 * What computes a layout. `columns`: the distance of a node from where tokens enter is its column. `graphviz`: the
 * optional package `@viz-js/viz`, with lines and boxes of subnets.
 */
export type LayoutEngine = 'columns' | 'graphviz';

/** The options of `net`. */
export interface NetOptions {
  /** Default: `columns`. */
  readonly layout?: LayoutEngine;
}

/** The options of `net`. */
export const NET_OPTIONS: OptionTable = optionTable<NetOptions>('net', { layout: true });

export const LAYOUT_ENGINES: readonly LayoutEngine[] = ['columns', 'graphviz'];

/** A net as data. */
export interface NetDescription {
  readonly name: string;
  /** A hash of the structure. A session continues without an upgrade under a net with an equal hash. */
  readonly hash: string;
  readonly places: readonly PlaceDescription[];
  readonly transitions: readonly TransitionDescription[];
  readonly subnets: readonly SubnetDescription[];
  readonly layout: NetLayout;
}
