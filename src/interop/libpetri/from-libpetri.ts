import { compile, initialToken, net, place as newPlace } from '../../net/index.ts';
import type { AnyPlace, Net, Transition } from '../../net/index.ts';
import { createPlaceLookup, exportTransition } from './export-transition.ts';
import { importTransition } from './import-transition.ts';
import { LibpetriImportError } from './libpetri-errors.ts';
import type { Refusal } from './libpetri-errors.ts';
import { loadLibpetri } from './load-libpetri.ts';
import type { Libpetri } from './load-libpetri.ts';
import { listRefusals } from './list-refusals.ts';
import { hasSameArcs } from './same-arcs.ts';
import { getActionSource, getPlaceSource } from './exported-source.ts';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type {
  EnvironmentPlace,
  PetriNet,
  Place as LibpetriPlace,
  Token,
  Transition as LibpetriTransition,
} from 'libpetri';

/**
 * What an import must know beyond the libpetri net: its initial tokens, its environment places, and
 * how its actions behave. An unknown name in `sync` is rejected.
 */
export interface ImportOptions {
  /** The initial marking for libpetri's executor. */
  readonly initial?: ReadonlyMap<LibpetriPlace<unknown>, readonly Token<unknown>[]>;
  /** Places that receive tokens from outside. */
  readonly environment?: ReadonlySet<EnvironmentPlace<unknown>>;
  /** Transitions whose action is synchronous: they become pure. The others become effects. */
  readonly sync?: readonly string[];
  /** Schemas of places by name. Default: any JSON. */
  readonly schemas?: Readonly<Record<string, StandardSchemaV1>>;
  /** By place: the most tokens an action produces at once. Default: exactly one. */
  readonly most?: Readonly<Record<string, number>>;
  /** The input ports of the net: the name of a place, by port. */
  readonly in?: Readonly<Record<string, string>>;
  readonly out?: Readonly<Record<string, string>>;
}

/**
 * Imports a libpetri net. A transition whose action does nothing or was declared synchronous
 * becomes a pure transition; any other becomes an effect, whose failure goes to the place
 * `<transition>.failed`. Transitions that came from `toLibpetri` become their originals again.
 * @throws LibpetriImportError with everything that has no counterpart
 * @throws LibpetriMissingError if libpetri is not installed
 */
export async function fromLibpetri(
  libpetriNet: PetriNet,
  options: ImportOptions = {},
): Promise<Net> {
  const lp = await loadLibpetri();
  const { sync = [], most = {} } = options;
  const isSync = (t: LibpetriTransition): boolean =>
    lp.isPassthrough(t.action) || sync.includes(t.name);
  const foreign = [...libpetriNet.transitions].filter(
    (t) => getActionSource(t.action) === undefined,
  );
  const refusals = [
    ...listUnknownNames(libpetriNet, options),
    ...foreign.flatMap((t) => listRefusals(t, isSync(t))),
    ...listChangedTransitions(lp, libpetriNet),
  ];
  if (refusals.length > 0) throw new LibpetriImportError(libpetriNet.name, refusals);
  const placeNamed = createPlaceResolver(libpetriNet, options);
  const transitions = [...libpetriNet.transitions].flatMap((t): readonly Transition[] => {
    const source = getActionSource(t.action);
    if (source !== undefined) return source.name === t.name ? [source] : [];
    return [importTransition(t, { lp, placeNamed, isSync: isSync(t), most })];
  });
  return net(libpetriNet.name, {
    in: toPorts(options.in, placeNamed),
    out: toPorts(options.out, placeNamed),
    transitions,
    initial: toInitialTokens(options, placeNamed),
  });
}

function listUnknownNames(libpetriNet: PetriNet, { sync = [] }: ImportOptions): readonly Refusal[] {
  const names = new Set([...libpetriNet.transitions].map(({ name }) => name));
  return sync
    .filter((name) => !names.has(name))
    .map((name) => ({
      transition: name,
      feature: 'unknown name',
      problem: `transition "${name}" was declared synchronous, but the net has no such transition`,
    }));
}

/** An exported transition can be replaced by its original only if its arcs are unchanged. */
function listChangedTransitions(lp: Libpetri, libpetriNet: PetriNet): readonly Refusal[] {
  const byName = new Map([...libpetriNet.transitions].map((t) => [t.name, t]));
  const sources = new Set(
    [...libpetriNet.transitions].flatMap((t) => getActionSource(t.action) ?? []),
  );
  const refuse = (transition: string): Refusal => ({
    transition,
    feature: 'changed',
    problem: `transition "${transition}" was changed after its export: change the original net instead`,
  });
  if (sources.size === 0) return [];
  const expected = new Set<string>();
  const changed = compile(net(libpetriNet.name, { transitions: [...sources] })).transitions.flatMap(
    (t) => {
      const exported = exportTransition(lp, t, createPlaceLookup(new Map()));
      for (const { name } of exported) expected.add(name);
      return exported.every((transition) => isSame(transition, byName.get(transition.name), t.spec))
        ? []
        : [refuse(t.name)];
    },
  );
  const unexpected = [...libpetriNet.transitions]
    .filter((t) => getActionSource(t.action) !== undefined && !expected.has(t.name))
    .map(({ name }) => refuse(name));
  return [...changed, ...unexpected];
}

function isSame(
  exported: LibpetriTransition,
  current: LibpetriTransition | undefined,
  source: Transition,
): boolean {
  return (
    current !== undefined &&
    getActionSource(current.action) === source &&
    hasSameArcs(exported, current)
  );
}

const anyJson: StandardSchemaV1 = {
  '~standard': { version: 1, vendor: 'petrichor', validate: (value) => ({ value }) },
};

/**
 * Resolves the places of an import: places of an exported net are the originals, others are
 * created.
 */
function createPlaceResolver(
  libpetriNet: PetriNet,
  options: ImportOptions,
): (name: string) => AnyPlace {
  const { environment = new Set(), schemas = {} } = options;
  const environmentNames = new Set([...environment].map(({ place }) => place.name));
  const known = new Map<string, AnyPlace>();
  for (const place of libpetriNet.places) {
    const source = getPlaceSource(place);
    if (source !== undefined) known.set(place.name, source);
  }
  return (name) => {
    const place =
      known.get(name) ??
      newPlace(name, schemas[name] ?? anyJson, { environment: environmentNames.has(name) });
    known.set(name, place);
    return place;
  };
}

function toPorts(
  ports: Readonly<Record<string, string>> = {},
  placeNamed: (name: string) => AnyPlace,
): Readonly<Record<string, AnyPlace>> {
  return Object.fromEntries(Object.entries(ports).map(([port, name]) => [port, placeNamed(name)]));
}

/** Groups equal consecutive tokens. A list or map place creates its single value itself. */
function toInitialTokens(
  { initial = new Map() }: ImportOptions,
  placeNamed: (name: string) => AnyPlace,
): Net['initial'] {
  return [...initial].flatMap(([{ name }, tokens]) => {
    const place = placeNamed(name);
    if (place.kind !== 'tokens') return [];
    const runs: { readonly value: unknown; times: number }[] = [];
    for (const { value } of tokens) {
      const last = runs.at(-1);
      if (last !== undefined && last.value === value) last.times++;
      else runs.push({ value, times: 1 });
    }
    return runs.map(({ value, times }) => initialToken(place, value, times));
  });
}
