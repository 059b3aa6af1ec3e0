import { parseRunningPlaceName, runningPlaceName } from '../language/place-identity.ts';
import { omitUndefined } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import type { CompiledNet } from '../build/compile.ts';
import { toDeposit, dueTimes } from './check-outputs.ts';
import { copyMarking, listIn, tokensIn } from '../journal/marking.ts';
import type { Marking } from '../journal/marking.ts';
import {
  hasFormerClock,
  movesToCurrentNames,
  renameDue,
  renameKeys,
  renameMarking,
} from '../journal/rename-marking.ts';
import { currentPlaceName } from '../language/former-names.ts';
import type { FormerNames } from '../language/former-names.ts';
import { NetChangedError } from '../language/net-errors.ts';
import type { InitialToken } from '../language/net.ts';
import type { AnyPlace, PlaceKind } from '../language/place.ts';
import type { Deposit, Due, TokenId, Upgraded } from '../journal/record.ts';
import { parseTokenValue } from '../language/parse-token-value.ts';

/** How to move tokens to a changed net that has no compatible place for them. */
export interface Migration {
  /**
   * Maps an old place (or `running(effect)`) to a new one, or to null to drop its tokens. All moves happen at once, so
   * two places may swap.
   */
  readonly moved: Readonly<Record<string, string | null>>;
  /** Additional tokens that the new net needs. */
  readonly give?: readonly InitialToken[];
}

/**
 * Returns the migration for a changed net. `marked` lists the places with tokens that the new net does not have at the
 * same version. A runtime also calls it with the places of unread inputs that the new net does not have.
 */
export type Migrate = (marked: readonly string[]) => Migration;

/**
 * Returns the `upgraded` record with which a marking continues under another net, or undefined if the net is the same.
 * Every marked place must exist in the new net with the same version; otherwise `migrate` must move or drop its tokens.
 * A moved token must match the schema of its new place. Tokens of a former name move to the place that has it now; they
 * do not need `migrate`, which sees current names. This function does not change the marking.
 * @param marking as it was stored, not renamed
 * @param now epoch milliseconds: the start of the clocks of the tokens that `migrate` adds. Default: `marking.at`.
 * @throws NetChangedError with the places that have no compatible place in the new net.
 */
export function planUpgrade(
  marking: Marking,
  net: CompiledNet,
  migrate?: Migrate,
  now: number = marking.at,
): Omit<Upgraded, 'seq' | 'at'> | undefined {
  if (marking.net.hash === net.hash) return undefined;
  const renames = movesToCurrentNames(marking, net.formerNames);
  const dues = renamedClocks(marking, net.formerNames);
  if (Object.keys(renames).length === 0 && Object.keys(dues).length === 0)
    return planMigration(marking, net, migrate, now);
  const renamed = copyMarking(marking);
  renameMarking(renamed, net);
  const { moved = {}, clocks = {}, ...plan } = planMigration(renamed, net, migrate, now);
  const moves = Object.entries(renames).map(([former, current]) => [
    former,
    current in moved ? moved[current] : current,
  ]);
  // Both names move: a reader of the journal may have renamed the places already.
  return {
    ...plan,
    moved: { ...moved, ...Object.fromEntries(moves) },
    ...omitUndefined({ clocks: mergeClocks(dues, clocks) }),
  };
}

/** Plans the upgrade of a marking without former names. */
function planMigration(
  marking: Marking,
  net: CompiledNet,
  migrate: Migrate | undefined,
  now: number,
): Omit<Upgraded, 'seq' | 'at'> {
  const to = { hash: net.hash, versions: net.versions };
  const base = { kind: 'upgraded' as const, from: marking.net.hash, to };
  const marked = markedPlaces(marking);
  const lost = marked.filter((place) => !survives(marking, net, place));
  const migration = lost.length === 0 ? undefined : migrate?.(lost);
  const { give = [] } = migration ?? {};
  const moved = renameKeys(migration?.moved ?? {}, (place) =>
    currentPlaceName(net.formerNames, place),
  );
  const left = marked.filter((place) =>
    place in moved ? !fits(marking, net, place, moved[place]) : lost.includes(place),
  );
  if (left.length > 0) throw new NetChangedError(net.name, left);
  const clocks = missingClocks(marking, net, moved);
  return {
    ...base,
    ...omitUndefined({
      moved: migration === undefined ? undefined : moved,
      clocks: Object.keys(clocks).length > 0 ? clocks : undefined,
    }),
    ...(give.length > 0 && { give: give.map((token) => toInitialDeposit(net, token, now)) }),
  };
}

/** Returns the clocks of transitions that had other names, under their current names. */
function renamedClocks({ tokens }: Marking, former: FormerNames): Readonly<Record<TokenId, Due>> {
  const clocked = [...tokens.values()].flat().filter((token) => hasFormerClock(token, former));
  return Object.fromEntries(
    clocked.map(({ id, due = {} }) => [
      id,
      renameDue(
        Object.fromEntries(Object.entries(due).filter(([t]) => former.transitions.has(t))),
        former,
      ),
    ]),
  );
}

function mergeClocks(
  a: Readonly<Record<TokenId, Due>>,
  b: Readonly<Record<TokenId, Due>>,
): Readonly<Record<TokenId, Due>> | undefined {
  const ids = new Set([...Object.keys(a), ...Object.keys(b)]);
  return ids.size === 0
    ? undefined
    : Object.fromEntries([...ids].map((id) => [id, { ...a[id], ...b[id] }]));
}

function toInitialDeposit(
  net: CompiledNet,
  { place, value, times }: InitialToken,
  at: number,
): Deposit {
  const [name, checked, more] = toDeposit(net, place, parseTokenValue(place, value), at);
  return [name, checked, { ...more, times }];
}

/** Lists the places that hold something, including running places and the places their firings took tokens from. */
function markedPlaces(marking: Marking): readonly string[] {
  const firings = [...marking.firings.values()];
  return [
    ...new Set([
      ...marking.tokens.keys(),
      ...[...marking.lists].filter(([, list]) => list.items.length > 0).map(([place]) => place),
      ...[...marking.maps]
        .filter(([, entries]) => Object.keys(entries).length > 0)
        .map(([place]) => place),
      ...firings.flatMap((firing) => [runningPlaceName(firing.t), ...firing.inputs.keys()]),
    ]),
  ];
}

function survives(marking: Marking, net: CompiledNet, place: string): boolean {
  if (parseRunningPlaceName(place) !== undefined) return exists(net, place);
  const now = net.places.get(place);
  return now?.kind === markedKind(marking, place) && sameVersion(marking, place, now);
}

function sameVersion(marking: Marking, place: string, now: AnyPlace): boolean {
  return (now.version ?? 0) === (marking.net.versions[place] ?? 0);
}

/** True if the content of `place` can move to `target`. A null target drops it. */
function fits(
  marking: Marking,
  net: CompiledNet,
  place: string,
  target: string | null | undefined,
): boolean {
  if (target === null) return true;
  if (target === undefined) return false;
  if (parseRunningPlaceName(place) !== undefined)
    return parseRunningPlaceName(target) !== undefined && exists(net, target);
  const now = net.places.get(target);
  if (now?.kind !== markedKind(marking, place)) return false;
  if (now.version !== undefined && sameVersion(marking, place, now)) return true;
  return listValues(marking, place).every((value) => fitsPlace(now, value));
}

function fitsPlace(place: AnyPlace, value: Json): boolean {
  try {
    parseTokenValue(place, value);
    return true;
  } catch {
    return false;
  }
}

function listValues(marking: Marking, place: string): readonly Json[] {
  return [
    ...tokensIn(marking, place).map((token) => token.value),
    ...listIn(marking, place).items,
    ...[...marking.firings.values()].flatMap(({ inputs }) =>
      (inputs.get(place) ?? []).map((token) => token.value),
    ),
  ];
}

function markedKind(marking: Marking, place: string): PlaceKind {
  if (marking.lists.has(place)) return 'list';
  return marking.maps.has(place) ? 'map' : 'tokens';
}

/** Returns the clocks of transitions that were not timed in the old net. They count from the arrival of the token. */
function missingClocks(
  marking: Marking,
  net: CompiledNet,
  moved: Migration['moved'],
): Readonly<Record<TokenId, Due>> {
  const clocks: Record<TokenId, Due> = {};
  for (const [from, tokens] of marking.tokens) {
    const place = moved[from] === undefined ? from : moved[from];
    for (const token of tokens) {
      const due = place === null ? undefined : dueTimes(net, place, token.value, token.at);
      const missing = Object.entries(due ?? {}).filter(([t]) => token.due?.[t] === undefined);
      if (missing.length > 0) clocks[token.id] = Object.fromEntries(missing);
    }
  }
  return clocks;
}

function exists(net: CompiledNet, place: string): boolean {
  const effect = parseRunningPlaceName(place);
  return effect === undefined
    ? net.places.has(place)
    : net.byName.get(effect)?.spec.kind === 'effect';
}
