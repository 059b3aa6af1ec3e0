import { arrivalOrder, compareArrivals, LAST_ARRIVAL } from './arrival-order.ts';
import type { ArrivalOrder } from './arrival-order.ts';
import type { CompiledInput, CompiledNet, CompiledTransition } from '../build/compile.ts';
import { readItems } from '../journal/list-state.ts';
import { listIn, mapIn, tokensIn } from '../journal/marking.ts';
import type { Firing, Marking, PinnedReads, Token } from '../journal/marking.ts';
import { withoutAttempt } from '../language/firing-token.ts';
import type { FiringToken } from '../language/firing-token.ts';

/** A token or a firing in flight that an input may take. */
export type Candidate = Token | Firing;

/** The firings in flight by their place `running(effect)`, oldest first. */
export type FiringsByEffect = ReadonlyMap<string, ReadonlyMap<number, Firing>>;

/** The state that decides whether a transition is enabled and what it takes. */
export interface NetState {
  readonly net: CompiledNet;
  readonly marking: Marking;
  readonly firings: FiringsByEffect;
  readonly toFiringId: (firing: number) => string;
}

/** The tokens with which a transition can fire now. */
export interface Binding {
  readonly t: CompiledTransition;
  /** The taken tokens by input, in the order of the inputs. */
  readonly takes: readonly (readonly Candidate[])[];
  /** When the oldest taken token arrived. With equal priority, the transition with the oldest token fires first. */
  readonly oldest: ArrivalOrder;
  /** When the clock of a timed transition expired; 0 for other transitions. */
  readonly dueAt: number;
  /** Set if a key function threw. The firing takes only the token for which it threw, and becomes a fault. */
  readonly broken?: { readonly error: unknown };
}

/**
 * Returns the binding with which `t` can fire, or undefined if it is not enabled. A timed transition takes only tokens
 * whose clock has expired at `now`.
 */
export function bind(t: CompiledTransition, state: NetState, now: number): Binding | undefined {
  // Fast path: most transitions lack a token. A keyed one needs a key: its key function may throw even if tokens are
  // missing for another input.
  if (t.keyed) {
    if (!hasKey(t, state)) return undefined;
  } else for (const input of t.takes) if (isShort(input, state)) return undefined;
  for (const place of t.unless) {
    if (place.kind === 'running') {
      if (firingsIn(state, place.name) > 0) return undefined;
    } else if (state.marking.tokens.has(place.name)) return undefined;
  }
  const { concurrency } = t.spec;
  if (concurrency !== undefined && firingsIn(state, t.running) >= concurrency) return undefined;
  for (const read of t.reads) {
    if (read.kind === 'list' || read.kind === 'map') continue;
    if (countIn(read, state) < read.count) return undefined;
  }
  return t.keyed ? bindKeyed(t, state, now) : bindPlain(t, state, now);
}

function bindPlain(t: CompiledTransition, state: NetState, now: number): Binding | undefined {
  const takes: (readonly Candidate[])[] = [];
  for (let index = 0; index < t.takes.length; index++) {
    const input = t.takes[index];
    if (input === undefined) return undefined;
    const taken = choose(t, index, input, listCandidates(input, state), now);
    if (taken === undefined) return undefined;
    takes.push(taken);
  }
  return toBinding(t, takes);
}

/** Binds the first key, in token order, for which every keyed input has enough tokens. */
function bindKeyed(t: CompiledTransition, state: NetState, now: number): Binding | undefined {
  try {
    const groups = t.takes.map((input) =>
      input.getKey === undefined ? undefined : groupByKey(input, input.getKey, state),
    );
    for (const key of listKeys(t, groups)) {
      const takes: (readonly Candidate[])[] = [];
      t.takes.forEach((input, index) => {
        const group = groups[index];
        const candidates =
          group === undefined ? listCandidates(input, state) : (group.get(key) ?? []);
        const taken = choose(t, index, input, candidates, now);
        if (taken !== undefined) takes.push(taken);
      });
      if (takes.length === t.takes.length) return toBinding(t, takes);
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof BrokenKey)) throw error;
    const takes = t.takes.map((input) => (input === error.input ? [error.candidate] : []));
    return {
      t,
      takes,
      oldest: arrivalOrder(error.candidate),
      dueAt: 0,
      broken: { error: error.cause },
    };
  }
}

/** Lists the keys to try: those of the first keyed input that needs tokens, or otherwise of all keyed inputs. */
function listKeys(
  t: CompiledTransition,
  groups: readonly (ReadonlyMap<string, unknown> | undefined)[],
): Iterable<string> {
  const needed = groups.find(
    (group, index) => group !== undefined && (t.takes[index]?.count ?? 0) > 0,
  );
  return needed?.keys() ?? new Set(groups.flatMap((group) => [...(group?.keys() ?? [])]));
}

function groupByKey(
  input: CompiledInput,
  getKey: NonNullable<CompiledInput['getKey']>,
  state: NetState,
): ReadonlyMap<string, Candidate[]> {
  const groups = new Map<string, Candidate[]>();
  for (const candidate of listCandidates(input, state)) {
    let key: string;
    try {
      key = getKey(readKeyValue(candidate, state));
    } catch (error) {
      throw new BrokenKey(input, candidate, error);
    }
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [candidate]);
    else group.push(candidate);
  }
  return groups;
}

/** A key function threw for a token. Thrown and caught only in this file. */
class BrokenKey extends Error {
  readonly input: CompiledInput;
  readonly candidate: Candidate;

  constructor(input: CompiledInput, candidate: Candidate, cause: unknown) {
    super('key', { cause });
    this.input = input;
    this.candidate = candidate;
  }
}

/** Returns the candidates that an input takes. Undefined if there are too few. */
function choose(
  t: CompiledTransition,
  index: number,
  input: CompiledInput,
  candidates: readonly Candidate[],
  now: number,
): readonly Candidate[] | undefined {
  const timed = index === 0 && t.spec.after !== undefined;
  const ready = timed ? filterDue(t, candidates, now) : candidates;
  if (ready.length < input.count) return undefined;
  if (input.mode === 'all') return timed && ready.length === 0 ? undefined : [...candidates];
  const [first] = ready;
  return input.count === 1 && first !== undefined ? [first] : ready.slice(0, input.count);
}

/** Returns the tokens whose clock has expired, in the order of expiry. */
function filterDue(
  t: CompiledTransition,
  candidates: readonly Candidate[],
  now: number,
): readonly Candidate[] {
  return candidates
    .filter((candidate) => clockTime(t, candidate) <= now)
    .toSorted((a, b) => clockTime(t, a) - clockTime(t, b));
}

function clockTime(t: CompiledTransition, candidate: Candidate): number {
  const due = candidate.kind === 'token' ? candidate.due?.[t.name] : undefined;
  return due ?? Number.POSITIVE_INFINITY;
}

function toBinding(t: CompiledTransition, takes: readonly (readonly Candidate[])[]): Binding {
  let oldest = LAST_ARRIVAL;
  for (const [first] of takes) {
    if (first === undefined) continue;
    const arrival = arrivalOrder(first);
    if (compareArrivals(arrival, oldest) < 0) oldest = arrival;
  }
  if (t.spec.after === undefined) return { t, takes, oldest, dueAt: 0 };
  const clocks = (takes[0] ?? []).map((candidate) => clockTime(t, candidate));
  return {
    t,
    takes,
    oldest,
    dueAt: t.takes[0]?.mode === 'all' ? Math.min(...clocks) : Math.max(...clocks),
  };
}

function listCandidates(input: CompiledInput, state: NetState): readonly Candidate[] {
  if (input.effect === undefined) return tokensIn(state.marking, input.place);
  return [...(state.firings.get(input.place)?.values() ?? [])];
}

/** True if some input by key has a token. */
function hasKey(t: CompiledTransition, state: NetState): boolean {
  for (const input of t.takes)
    if (input.getKey !== undefined && countIn(input, state) > 0) return true;
  return false;
}

function isShort({ effect, place, count }: CompiledInput, state: NetState): boolean {
  const available =
    effect === undefined ? state.marking.tokens.get(place)?.length : state.firings.get(place)?.size;
  return (available ?? 0) < count;
}

function countIn(input: CompiledInput, state: NetState): number {
  return input.effect === undefined
    ? tokensIn(state.marking, input.place).length
    : firingsIn(state, input.place);
}

function firingsIn(state: NetState, running: string): number {
  return state.firings.get(running)?.size ?? 0;
}

/** Returns the tokens that `run` receives for a binding. */
export function readTokens(binding: Binding, state: NetState): Record<string, unknown> {
  const tokens: Record<string, unknown> = {};
  binding.t.takes.forEach((input, index) => {
    tokens[input.key] = readValue(input, binding.takes[index] ?? [], state);
  });
  for (const input of binding.t.reads) {
    if (input.kind === 'list') {
      const { items } = listIn(state.marking, input.place);
      tokens[input.key] = readItems(items, items.length);
    } else if (input.kind === 'map') tokens[input.key] = mapIn(state.marking, input.place);
    else tokens[input.key] = readValue(input, listCandidates(input, state), state);
  }
  return tokens;
}

function readValue(
  input: CompiledInput,
  candidates: readonly Candidate[],
  state: NetState,
): unknown {
  if (input.mode === 'one') {
    return candidates[0] === undefined ? undefined : candidateValue(candidates[0], state);
  }
  const count = input.mode === 'all' ? candidates.length : input.count;
  return candidates.slice(0, count).map((candidate) => candidateValue(candidate, state));
}

/** Returns the tokens that `run` receives for a firing in flight. They are the same in every attempt. */
export function readFiringTokens(
  t: CompiledTransition,
  firing: { readonly inputs: ReadonlyMap<string, readonly Token[]>; readonly reads: PinnedReads },
): Record<string, unknown> {
  const tokens: Record<string, unknown> = {};
  for (const input of t.takes) tokens[input.key] = inputValue(input, firing.inputs);
  for (const input of t.reads) {
    const list = firing.reads.lists.get(input.place);
    if (list !== undefined) tokens[input.key] = readItems(list.items, list.length);
    else if (input.kind === 'map') tokens[input.key] = firing.reads.maps.get(input.place) ?? {};
    else tokens[input.key] = inputValue(input, firing.reads.tokens);
  }
  return tokens;
}

function inputValue(input: CompiledInput, from: ReadonlyMap<string, readonly Token[]>): unknown {
  const tokens = from.get(input.place) ?? [];
  return input.mode === 'one' ? tokens[0]?.value : tokens.map((token) => token.value);
}

function candidateValue(candidate: Candidate, state: NetState): unknown {
  return candidate.kind === 'token' ? candidate.value : toFiringToken(candidate, state);
}

/** Returns what a key function reads: a firing in flight without its attempt, which changes while the firing lives. */
function readKeyValue(candidate: Candidate, state: NetState): unknown {
  return candidate.kind === 'token'
    ? candidate.value
    : withoutAttempt(toFiringToken(candidate, state));
}

/** Returns a firing in flight as another transition receives it. Its inputs are keyed by the effect's input names. */
function toFiringToken(
  firing: Firing,
  { net, toFiringId }: NetState,
): FiringToken<Record<string, unknown>> {
  const inputs: Record<string, unknown> = {};
  for (const input of net.byName.get(firing.t)?.takes ?? [])
    inputs[input.key] = inputValue(input, firing.inputs);
  return {
    firingId: toFiringId(firing.id),
    attempt: firing.attempt,
    startedAt: firing.startedAt,
    inputs,
  };
}
