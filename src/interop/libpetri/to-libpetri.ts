import type { CompiledNet, Net, Ports } from '../../net/index.ts';
import { compile } from '../../net/index.ts';
import {
  endTransitionName,
  createPlaceLookup,
  exportTransition,
  listLosses,
} from './export-transition.ts';
import { LibpetriExportError } from './libpetri-errors.ts';
import type { Loss } from './libpetri-errors.ts';
import { loadLibpetri, loadLibpetriExport } from './load-libpetri.ts';
import type { EnvironmentPlace, PetriNet, Place as LibpetriPlace, Token } from 'libpetri';

/** A net in the form that libpetri draws and analyzes. */
export interface ExportedNet {
  readonly net: PetriNet;
  /** The initial marking for its executor and analyzer. A list or map place holds one token. */
  readonly initial: Map<LibpetriPlace<unknown>, Token<unknown>[]>;
  readonly environment: Set<EnvironmentPlace<unknown>>;
  /** The input ports of the net: the name of a place, by port. */
  readonly in: Readonly<Record<string, string>>;
  readonly out: Readonly<Record<string, string>>;
  /** The differences between the net and its export. `fromLibpetri` restores all of them. */
  readonly losses: readonly Loss[];
}

/** Options of `toLibpetri`. */
export interface ExportOptions {
  /** Rejects a net that libpetri cannot represent exactly. Default: false. */
  readonly exact?: boolean;
}

/**
 * Exports a net in expanded form: an effect becomes a transition that starts it, the place
 * `running(t)`, and the transition `ended(t)`. Actions are not exported: an exported transition
 * cannot run in libpetri.
 * @throws NetBuildError if the net is not valid
 * @throws LibpetriMissingError if libpetri is not installed
 * @throws LibpetriExportError if `exact` is set and there are losses, or a name is taken
 */
export async function toLibpetri(
  source: Net,
  { exact = false }: ExportOptions = {},
): Promise<ExportedNet> {
  const compiled = compile(source);
  const losses = compiled.transitions.flatMap(listLosses);
  const nameConflicts = compiled.transitions
    .filter((t) => t.spec.kind === 'effect' && compiled.byName.has(endTransitionName(t.name)))
    .map((t) => ({
      where: endTransitionName(t.name),
      what: 'is the reserved name of the end of an effect: rename it',
    }));
  if (nameConflicts.length > 0) throw new LibpetriExportError(source.name, nameConflicts);
  if (exact && losses.length > 0) throw new LibpetriExportError(source.name, losses);
  const lp = await loadLibpetri();
  const places = createPlaceLookup(compiled.places);
  const usedPlaces = listUsedPlaces(source, compiled);
  const initial = new Map<LibpetriPlace<unknown>, Token<unknown>[]>();
  for (const { place, value, times } of source.initial) {
    const tokens = Array.from({ length: times }, () => lp.tokenAt(value, 0));
    initial.set(places(place.name), [...(initial.get(places(place.name)) ?? []), ...tokens]);
  }
  for (const name of usedPlaces) {
    const kind = compiled.places.get(name)?.kind;
    if (kind === 'list' || kind === 'map') initial.set(places(name), [lp.tokenAt(null, 0)]);
  }
  return {
    net: lp.PetriNet.builder(source.name)
      .places(...usedPlaces.map(places))
      .transitions(...compiled.transitions.flatMap((t) => exportTransition(lp, t, places)))
      .build(),
    initial,
    environment: new Set(
      usedPlaces
        .filter((name) => compiled.places.get(name)?.environment === true)
        .map((name) => ({ place: places(name) })),
    ),
    in: portNames(source.in),
    out: portNames(source.out),
    losses,
  };
}

/**
 * Draws a net in libpetri's style, as DOT.
 * @throws as `toLibpetri`
 */
export async function toLibpetriDot(source: Net): Promise<string> {
  const { net, environment } = await toLibpetri(source);
  const { DEFAULT_DOT_CONFIG, dotExport } = await loadLibpetriExport();
  const environmentPlaces = new Set([...environment].map(({ place }) => place.name));
  return dotExport(net, { ...DEFAULT_DOT_CONFIG, environmentPlaces });
}

/**
 * The places that the net uses. Every net has two places for faults, which are exported only if
 * they are used.
 */
function listUsedPlaces(source: Net, { places, transitions }: CompiledNet): readonly string[] {
  const used = new Set([
    ...transitions.flatMap((t) => [
      ...[...t.takes, ...t.reads].map(({ place }) => place),
      ...[...t.unless, ...t.reset].map(({ name }) => name),
      ...[...t.alternatives.values()].flatMap(({ outputs }) =>
        outputs.map(({ place }) => place.name),
      ),
    ]),
    ...source.initial.map(({ place }) => place.name),
    ...[...Object.values(source.in), ...Object.values(source.out)].map(({ name }) => name),
  ]);
  return [...places.keys()].filter((name) => used.has(name));
}

function portNames(ports: Ports): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(ports).map(([port, { name }]) => [port, name]));
}
