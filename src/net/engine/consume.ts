import { compactList, omitUndefined } from '../../core/internal.ts';
import type { Binding, Candidate, NetState } from './binding.ts';
import type { CompiledInput, CompiledTransition } from '../build/compile.ts';
import { listIn, tokensIn } from '../journal/marking.ts';
import type { Marking } from '../journal/marking.ts';
import type { Fired, TokenRemoval, Pin, RecordSeq, TokenId } from '../journal/record.ts';

/** The tokens and firings that a firing removes. An absent member means none. */
interface ConsumedTokens {
  take?: Fired['take'];
  reset?: Fired['reset'];
  aborted?: Fired['aborted'];
}

/** Adds to a record what the firing takes and resets, and the firings it ends. */
export function consume(record: ConsumedTokens, binding: Binding, state: NetState): void {
  const take = listRemovals(binding);
  if (take.length > 0) record.take = take;
  const { cancels, reset: resets } = binding.t;
  const reset = listResets(resets, take, state);
  if (reset.length > 0) record.reset = reset;
  const aborted = cancels ? firingsEnded(binding, state) : [];
  if (aborted.length > 0) record.aborted = aborted;
}

/** Adds to a record only what the firing would have taken, not what it would have reset. */
export function consumeTaken(record: ConsumedTokens, binding: Binding): void {
  const take = listRemovals(binding);
  if (take.length > 0) record.take = take;
  const aborted = firingsTaken(binding);
  if (aborted.length > 0) record.aborted = aborted;
}

/** Returns the firings in flight that this firing takes or resets. */
export function firingsEnded(binding: Binding, { firings }: NetState): readonly RecordSeq[] {
  const reset = binding.t.reset.filter((place) => place.kind === 'running');
  const emptied = reset.flatMap((place) => [...(firings.get(place.name)?.keys() ?? [])]);
  return [...new Set([...firingsTaken(binding), ...emptied])];
}

/** Returns references to what an effect reads, so that a later attempt reads the same. Undefined if it reads nothing. */
export function createPin(t: CompiledTransition, marking: Marking): Pin | undefined {
  if (t.reads.length === 0) return undefined;
  const tokens: TokenRemoval[] = [];
  const lists: Record<string, readonly [number, number]> = {};
  const maps: string[] = [];
  for (const input of t.reads) {
    if (input.kind === 'list') {
      const list = listIn(marking, input.place);
      lists[input.place] = [list.version, list.items.length];
    } else if (input.kind === 'map') maps.push(input.place);
    else tokens.push(toRemoval(input.place, readTokenIds(input, marking)));
  }
  return omitUndefined({
    tokens: tokens.length > 0 ? compactList(tokens) : undefined,
    lists: Object.keys(lists).length > 0 ? lists : undefined,
    maps: maps.length > 0 ? compactList(maps) : undefined,
  });
}

function readTokenIds({ place, mode, count }: CompiledInput, marking: Marking): readonly TokenId[] {
  const tokens = tokensIn(marking, place);
  return (mode === 'all' ? tokens : tokens.slice(0, count)).map((token) => token.id);
}

function listRemovals(binding: Binding): readonly TokenRemoval[] {
  const removals: TokenRemoval[] = [];
  for (let index = 0; index < binding.takes.length; index++) {
    const input = binding.t.takes[index];
    const taken = binding.takes[index];
    if (input === undefined || input.effect !== undefined || taken === undefined) continue;
    const ids = listTokenIds(taken);
    if (ids.length > 0) removals.push(toRemoval(input.place, ids));
  }
  return compactList(removals);
}

// A loop, because `flatMap` takes several times as long, and this runs for every input of a firing.
function listTokenIds(taken: readonly Candidate[]): readonly TokenId[] {
  const ids: TokenId[] = [];
  for (const candidate of taken) if (candidate.kind === 'token') ids.push(candidate.id);
  return ids;
}

/** Lists the tokens of the reset places that the firing does not take. */
function listResets(
  resets: CompiledTransition['reset'],
  take: readonly TokenRemoval[],
  { marking }: NetState,
): readonly TokenRemoval[] {
  const reset: TokenRemoval[] = [];
  for (const { name } of resets) {
    // Most places that are reset are empty.
    const tokens = marking.tokens.get(name);
    if (tokens === undefined) continue;
    const taken = new Set(take.flatMap(([place, ...ids]) => (place === name ? ids : [])));
    const left = listTokenIds(tokens).filter((id) => !taken.has(id));
    if (left.length > 0) reset.push(toRemoval(name, left));
  }
  return compactList(reset);
}

function toRemoval(place: string, ids: readonly TokenId[]): TokenRemoval {
  const [first] = ids;
  // A spread reserves room for more items: see `compactList`.
  return first !== undefined && ids.length === 1 ? [place, first] : [place, ...ids];
}

function firingsTaken(binding: Binding): readonly RecordSeq[] {
  return binding.takes.flatMap((taken) =>
    taken.flatMap((candidate) => (candidate.kind === 'token' ? [] : [candidate.id])),
  );
}
