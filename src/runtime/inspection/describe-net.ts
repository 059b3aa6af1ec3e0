import { omitUndefined } from '../../core/internal.ts';
import type { JsonObject } from '../../core/index.ts';
import type { AnyPlace, CompiledNet, Net } from '../../net/index.ts';
import type { CompiledInput, CompiledOutput, CompiledTransition } from '../../net/internal.ts';
import { layOutWithGraphviz } from './graphviz-layout.ts';
import { layOutNet } from './lay-out-net.ts';
import type {
  ArcDescription,
  ArcWeight,
  NetDescription,
  NetLayout,
  NetOptions,
  PlaceDescription,
  SubnetDescription,
  TransitionDescription,
} from './net-description.ts';
import { schemaConverter } from './place-schema.ts';

/** One drawing takes Graphviz a few hundred milliseconds, in which the process does nothing else. */
const drawings = new WeakMap<CompiledNet, Promise<NetLayout>>();

/**
 * Describes a net as data, with a layout. Schemas that JSON Schema cannot express are left out.
 * @throws GraphvizMissingError if the layout is that of Graphviz, and `@viz-js/viz` is not installed
 */
export async function describeNet(
  compiled: CompiledNet,
  net: Net,
  { layout = 'columns' }: NetOptions = {},
): Promise<NetDescription> {
  const toSchema = await schemaConverter();
  const inPorts = new Set(Object.values(net.in).map(({ name }) => name));
  const outPorts = new Set(Object.values(net.out).map(({ name }) => name));
  const toPlace = (place: AnyPlace): PlaceDescription => {
    const { name, kind, version, environment, owed } = place;
    const [isIn, isOut] = [inPorts.has(name), outPorts.has(name)];
    const port = isIn && isOut ? 'both' : isIn ? 'in' : isOut ? 'out' : undefined;
    return {
      name,
      kind,
      ...omitUndefined<{
        readonly schema: JsonObject | undefined;
        readonly version: number | undefined;
        readonly port: PlaceDescription['port'] | undefined;
      }>({ schema: toSchema(place.schema), version, port }),
      environment,
      owed,
      initial: compiled.initial
        .filter((token) => token.place.name === name)
        .reduce((sum, { times }) => sum + times, 0),
    };
  };
  const transitions = compiled.transitions.map(describeTransition);
  const subnets = compiled.clusters.map(toSubnet);
  const places = [...compiled.places.values()].map(toPlace);
  return {
    name: compiled.name,
    hash: compiled.hash,
    places,
    transitions,
    subnets,
    layout:
      layout === 'columns'
        ? layOutNet({ places, transitions, subnets })
        : await readDrawing(compiled),
  };
}

async function readDrawing(compiled: CompiledNet): Promise<NetLayout> {
  const known = drawings.get(compiled);
  if (known !== undefined) return known;
  const drawing = layOutWithGraphviz(compiled);
  drawings.set(compiled, drawing);
  // A missing package may be installed later.
  drawing.catch(() => drawings.delete(compiled));
  return drawing;
}

function toSubnet({
  name,
  transitions,
  clusters,
}: CompiledNet['clusters'][number]): SubnetDescription {
  return { name, transitions, subnets: clusters.map(toSubnet) };
}

const DEFAULT_TIMEOUT_MS = 300_000;

function describeTransition(t: CompiledTransition): TransitionDescription {
  const {
    name,
    kind,
    priority,
    after,
    concurrency,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    retry,
    onCrash = 'unknown',
  } = t.spec;
  const arcs: readonly ArcDescription[] = [
    ...t.takes.map((input) => describeInput('take', input)),
    ...t.reads.map((input) => describeInput('read', input)),
    ...t.unless.map(({ name: place }) => ({ kind: 'inhibitor' as const, place })),
    ...t.reset.map(({ name: place }) => ({ kind: 'reset' as const, place })),
    ...[...t.alternatives].flatMap(([alternative, { outputs }]) =>
      outputs.map((output) => describeOutput(alternative, output)),
    ),
  ];
  const base = { name, kind, arcs, priority };
  if (kind === 'pure') {
    return {
      ...base,
      ...(after !== undefined && { afterMs: typeof after === 'function' ? 'computed' : after }),
    };
  }
  return {
    ...base,
    ...omitUndefined({ concurrency }),
    timeoutMs: typeof timeoutMs === 'function' ? 'computed' : timeoutMs,
    ...(retry !== undefined && {
      retry: {
        attempts: retry.attempts,
        backoff: typeof retry.backoff === 'function' ? 'computed' : retry.backoff,
      },
    }),
    onCrash: typeof onCrash === 'function' ? 'computed' : onCrash,
  };
}

function describeInput(
  kind: 'take' | 'read',
  { key, place, kind: placeKind, mode, count, getKey }: CompiledInput,
): ArcDescription {
  // A list or a map is read whole: it is one value.
  const isWhole = placeKind === 'list' || placeKind === 'map';
  const max = mode === 'all' && !isWhole ? null : count;
  return {
    kind,
    place,
    key,
    weight: { min: count, max },
    ...(getKey !== undefined && { matching: true as const }),
  };
}

function describeOutput(
  alternative: string,
  { key, output, place }: CompiledOutput,
): ArcDescription {
  return {
    kind: 'give',
    place: place.name,
    key,
    ...(alternative !== '' && { alternative }),
    write: outputWrite(output),
    weight: outputWeight(output),
  };
}

function outputWrite(
  output: CompiledOutput['output'],
): 'token' | 'append' | 'replacePrefix' | 'truncate' | 'put' {
  switch (output.arc) {
    case 'one':
    case 'upTo':
    case 'optional':
    case 'each':
      return 'token';
    case 'append':
    case 'replacePrefix':
    case 'truncate':
    case 'put':
      return output.arc;
    default:
      return output satisfies never;
  }
}

function outputWeight(output: CompiledOutput['output']): ArcWeight {
  switch (output.arc) {
    case 'upTo':
      return { min: 0, max: Number.isFinite(output.max) ? output.max : null };
    case 'optional':
      return { min: 0, max: 1 };
    case 'each':
    case 'append':
      return { min: 0, max: null };
    case 'one':
    case 'replacePrefix':
    case 'truncate':
    case 'put':
      return { min: 1, max: 1 };
    default:
      return output satisfies never;
  }
}
