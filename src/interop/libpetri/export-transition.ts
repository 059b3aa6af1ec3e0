import type { CompiledInput, CompiledOutput, CompiledTransition } from '../../net/internal.ts';
import type { AnyPlace } from '../../net/index.ts';
import type { Loss } from './libpetri-errors.ts';
import type { Libpetri } from './load-libpetri.ts';
import { toExportedAction, toExportedPlace } from './exported-source.ts';
import type { In, Out, Place as LibpetriPlace, Transition as LibpetriTransition } from 'libpetri';

/**
 * A place that always holds exactly one value: in libpetri, one token that is consumed and produced
 * again.
 */
const isSingleton = (kind: AnyPlace['kind']): boolean => kind === 'list' || kind === 'map';

/** An outcome without a token. `and()` rejects it, but the rest of libpetri supports it. */
const NOTHING: Out = Object.freeze({ type: 'and', children: [] });

type PlaceLookup = (name: string) => LibpetriPlace<unknown>;

interface LibpetriArcs {
  readonly inputs: readonly In[];
  readonly reads: readonly LibpetriPlace<unknown>[];
  readonly inhibitors: readonly LibpetriPlace<unknown>[];
  readonly resets: readonly LibpetriPlace<unknown>[];
}

/** The name of the transition that ends an effect, such as `ended(model.call)`. */
export function endTransitionName(effect: string): string {
  return `ended(${effect})`;
}

/** Maps names to libpetri places, `running(t)` included; one object per name. */
export function createPlaceLookup(known: ReadonlyMap<string, AnyPlace>): PlaceLookup {
  const exported = new Map<string, LibpetriPlace<unknown>>();
  return (name) => {
    const place = exported.get(name) ?? exportPlaceNamed(name, known);
    exported.set(name, place);
    return place;
  };
}

function exportPlaceNamed(
  name: string,
  known: ReadonlyMap<string, AnyPlace>,
): LibpetriPlace<unknown> {
  const place = known.get(name);
  return place === undefined ? { name } : toExportedPlace(place);
}

/**
 * Exports a pure transition as one transition, and an effect as two with `running(t)` between them.
 */
export function exportTransition(
  lp: Libpetri,
  t: CompiledTransition,
  places: PlaceLookup,
): readonly LibpetriTransition[] {
  const changedPlaces = listChangedPlaces(t);
  if (t.spec.kind === 'pure') {
    const { after } = t.spec;
    const timing =
      after === undefined ? lp.immediate() : lp.delayed(typeof after === 'number' ? after : 0);
    const built = withArcs(lp, t, exportArcs(lp, t, places, changedPlaces), t.name).timing(timing);
    const outputs = exportOutputs(lp, t, places, changedPlaces);
    return [(outputs === undefined ? built : built.outputs(outputs)).build()];
  }
  const arcs = exportArcs(lp, t, places, []);
  const alone = t.spec.concurrency === 1 ? [places(t.running)] : [];
  const started = withArcs(
    lp,
    t,
    { ...arcs, inhibitors: uniquePlaces([...arcs.inhibitors, ...alone]) },
    t.name,
  )
    .outputs(lp.outPlace(places(t.running)))
    .build();
  const ended = withArcs(
    lp,
    t,
    {
      inputs: [lp.one(places(t.running)), ...changedPlaces.map((place) => lp.one(places(place)))],
      reads: [],
      inhibitors: [],
      resets: [],
    },
    endTransitionName(t.name),
    false,
  );
  const outputs = exportOutputs(lp, t, places, changedPlaces);
  return [started, (outputs === undefined ? ended : ended.outputs(outputs)).build()];
}

function withArcs(
  lp: Libpetri,
  t: CompiledTransition,
  { inputs, reads, inhibitors, resets }: LibpetriArcs,
  name: string,
  matches = true,
): InstanceType<Libpetri['TransitionBuilder']> {
  const builder = lp.Transition.builder(name)
    .inputs(...inputs)
    .reads(...reads)
    .inhibitors(...inhibitors)
    .resets(...resets)
    .priority(t.spec.priority)
    .action(toExportedAction(t.spec));
  const keys = matches ? listMatchedInputs(t) : [];
  if (keys.length < 2) return builder;
  return builder.match(
    lp.matchSpec(
      ...keys.map(({ place, getKey }) =>
        lp.matchKey(
          inputs.find((input) => input.place.name === place)?.place ?? { name: place },
          (value: unknown) => lp.nameId(getKey?.(value) ?? ''),
        ),
      ),
    ),
  );
}

function exportArcs(
  lp: Libpetri,
  t: CompiledTransition,
  places: PlaceLookup,
  changedPlaces: readonly string[],
): LibpetriArcs {
  const taken = t.takes.filter((input) => !takesAnyNumber(input));
  return {
    inputs: [
      ...taken.map((input) => exportInput(lp, input, places(input.place))),
      ...changedPlaces.map((place) => lp.one(places(place))),
    ],
    reads: t.reads
      .filter((input) => !takesAnyNumber(input) && !changedPlaces.includes(input.place))
      .map((input) => places(input.place)),
    inhibitors: t.unless.map(({ name }) => places(name)),
    // Consuming any number of tokens, including none, is a reset arc.
    resets: uniquePlaces([
      ...t.takes.filter(takesAnyNumber).map((input) => places(input.place)),
      ...t.reset.map(({ name }) => places(name)),
    ]),
  };
}

function exportInput(
  lp: Libpetri,
  { mode, count }: CompiledInput,
  place: LibpetriPlace<unknown>,
): In {
  if (mode === 'all') return lp.all(place);
  return mode === 'many' ? lp.exactly(count, place) : lp.one(place);
}

function takesAnyNumber({ mode, count }: CompiledInput): boolean {
  return mode === 'all' && count === 0;
}

/** The list and map places that a transition changes in one of its outcomes. */
function listChangedPlaces(t: CompiledTransition): readonly string[] {
  const changed = listOutcomes(t)
    .flat()
    .filter(({ place }) => isSingleton(place.kind))
    .map(({ place }) => place.name);
  return [...new Set(changed)];
}

function listOutcomes(t: CompiledTransition): readonly (readonly CompiledOutput[])[] {
  return [...t.alternatives.values()].map(({ outputs }) => outputs);
}

function exportOutputs(
  lp: Libpetri,
  t: CompiledTransition,
  places: PlaceLookup,
  changedPlaces: readonly string[],
): Out | undefined {
  const branches = listOutcomes(t).map((outputs) => {
    const names = outputs
      .filter(({ place }) => !isSingleton(place.kind))
      .map(({ place }) => place.name);
    const leaves = [...new Set([...names, ...changedPlaces])].map((name) =>
      lp.outPlace(places(name)),
    );
    const [only] = leaves;
    if (only === undefined) return NOTHING;
    return leaves.length === 1 ? only : lp.and(...leaves);
  });
  const [only] = branches;
  if (branches.length !== 1 || only === undefined) return lp.xor(...branches);
  return only === NOTHING ? undefined : only;
}

function listMatchedInputs(t: CompiledTransition): readonly CompiledInput[] {
  return t.takes.filter((input) => input.getKey !== undefined && !takesAnyNumber(input));
}

function uniquePlaces(
  places: readonly LibpetriPlace<unknown>[],
): readonly LibpetriPlace<unknown>[] {
  return [...new Set(places)];
}

/** The differences between a transition and its export. */
export function listLosses(t: CompiledTransition): readonly Loss[] {
  const keyed = t.takes.filter((input) => input.getKey !== undefined);
  const { after, concurrency } = t.spec;
  const descriptions = [
    ...t.reads
      .filter(takesAnyNumber)
      .map(({ place }) => `reads any number of tokens of "${place}": exported without an arc`),
    ...listOutcomes(t).flatMap((outputs) => [
      ...outputs.flatMap(({ output, place }) =>
        output.arc === 'one' || isSingleton(place.kind)
          ? []
          : [`gives ${output.arc}() to "${place.name}": exported as one token`],
      ),
      ...listRepeated(outputs).map((place) => `gives to "${place}" twice: exported as one token`),
    ]),
    ...(keyed.length > 0 && listMatchedInputs(t).length !== keyed.length
      ? ['takes any number of matching tokens: exported without matching']
      : listMatchedInputs(t).length === 1
        ? [
            `takes tokens of "${keyed[0]?.place ?? ''}" that match each other: exported without matching`,
          ]
        : []),
    ...(typeof after === 'function'
      ? ['has a delay computed from its token: exported with any delay']
      : []),
    ...(concurrency !== undefined && concurrency > 1
      ? [`has at most ${concurrency} firings in flight: exported without a limit`]
      : []),
  ];
  return [...new Set(descriptions)].map((what) => ({ where: t.name, what }));
}

function listRepeated(outputs: readonly CompiledOutput[]): readonly string[] {
  const names = outputs.map(({ place }) => place).filter(({ kind }) => !isSingleton(kind));
  const seen = new Set<string>();
  return names.filter(({ name }) => seen.has(name) || !seen.add(name)).map(({ name }) => name);
}
