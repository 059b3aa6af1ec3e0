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
 * What a libpetri net does not say of itself and an import must know: its first tokens, its open places, and how its
 * actions behave. A name in `sync` that the net has not is refused.
 */
export interface ImportOptions {
  /** What libpetri's executor would begin with. */
  readonly initial?: ReadonlyMap<LibpetriPlace<unknown>, readonly Token<unknown>[]>;
  /** Places that tokens come to from outside. */
  readonly environment?: ReadonlySet<EnvironmentPlace<unknown>>;
  /** Transitions whose action does all it does before it returns: they become pure. Others become effects. */
  readonly sync?: readonly string[];
  /** Schemas of places by name; a place without one takes any JSON. */
  readonly schemas?: Readonly<Record<string, StandardSchemaV1>>;
  /** Most tokens an action gives at once, by place; exactly one where nothing is said. */
  readonly most?: Readonly<Record<string, number>>;
  /** Places that others may join, by port. */
  readonly in?: Readonly<Record<string, string>>;
  readonly out?: Readonly<Record<string, string>>;
}

/**
 * Imports a libpetri net. An action that does nothing, or was declared synchronous, is a pure transition; another is an
 * effect, whose failure goes to the place `<transition>.failed`. What came from `toLibpetri` becomes what it was.
 * @throws LibpetriImportError naming all that has no counterpart, LibpetriMissingError
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
      problem: `transition "${name}" was declared synchronous, but the net has none of that name`,
    }));
}

/** An exported transition stands for what it was made of only while its arcs do. */
function listChangedTransitions(lp: Libpetri, libpetriNet: PetriNet): readonly Refusal[] {
  const byName = new Map([...libpetriNet.transitions].map((t) => [t.name, t]));
  const sources = new Set(
    [...libpetriNet.transitions].flatMap((t) => getActionSource(t.action) ?? []),
  );
  const refuse = (transition: string): Refusal => ({
    transition,
    feature: 'changed',
    problem: `transition "${transition}" is not as it was exported: change the net it came from`,
  });
  if (sources.size === 0) return [];
  const expected = new Set<string>();
  const changed = compile(net(libpetriNet.name, { transitions: [...sources] })).transitions.flatMap(
    (t) => {
      const made = exportTransition(lp, t, createPlaceLookup(new Map()));
      for (const { name } of made) expected.add(name);
      return made.every((one) => isSame(one, byName.get(one.name), t.spec)) ? [] : [refuse(t.name)];
    },
  );
  const unexpected = [...libpetriNet.transitions]
    .filter((t) => getActionSource(t.action) !== undefined && !expected.has(t.name))
    .map(({ name }) => refuse(name));
  return [...changed, ...unexpected];
}

function isSame(
  made: LibpetriTransition,
  there: LibpetriTransition | undefined,
  source: Transition,
): boolean {
  return (
    there !== undefined && getActionSource(there.action) === source && hasSameArcs(made, there)
  );
}

const anyJson: StandardSchemaV1 = {
  '~standard': { version: 1, vendor: 'petrichor', validate: (value) => ({ value }) },
};

/** The places of an import: those of an exported net are its own, the others are made here. */
function createPlaceResolver(
  libpetriNet: PetriNet,
  options: ImportOptions,
): (name: string) => AnyPlace {
  const { environment = new Set(), schemas = {} } = options;
  const fromOutside = new Set([...environment].map(({ place }) => place.name));
  const known = new Map<string, AnyPlace>();
  for (const place of libpetriNet.places) {
    const source = getPlaceSource(place);
    if (source !== undefined) known.set(place.name, source);
  }
  return (name) => {
    const place =
      known.get(name) ??
      newPlace(name, schemas[name] ?? anyJson, { environment: fromOutside.has(name) });
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

/** Equal tokens that follow each other are one entry. A list or map place holds its one thing by itself. */
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
