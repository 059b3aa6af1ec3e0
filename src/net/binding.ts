import type { CompiledInput, CompiledNet, CompiledTransition } from './compile.ts';
import { listIn, mapIn, tokensIn } from './marking.ts';
import type { Firing, Marking, PinnedReads, Token } from './marking.ts';
import type { FiringToken } from './transition.ts';

/** What an input may take: a token, or a firing of an effect. */
export type Candidate = Token | Firing;

/** The tokens with which a transition could fire now. */
export interface Binding {
  readonly t: CompiledTransition;
  /** By input, in the order of the inputs. */
  readonly takes: readonly (readonly Candidate[])[];
  /** The order number of the oldest token taken: among equals, who waited longest goes first. */
  readonly oldest: number;
  /** When the transition's clock ran out; 0 for one without. */
  readonly dueAt: number;
}

/** By effect, its firings in flight, oldest first. */
export type FiringsByEffect = ReadonlyMap<string, ReadonlyMap<number, Firing>>;

/** A token's place in the order of all tokens. */
export function orderOf(token: Token): number {
  const dot = token.id.indexOf('.');
  return Number(token.id.slice(0, dot)) * 1_000_000 + Number(token.id.slice(dot + 1));
}

/**
 * How `t` could fire now, or undefined when it could not. Timed transitions count tokens whose clock has run out at `now`.
 */
export function bind(
  net: CompiledNet,
  t: CompiledTransition,
  marking: Marking,
  firings: FiringsByEffect,
  now: number,
): Binding | undefined {
  for (const place of t.unless) {
    if (place.kind === 'running') {
      if ((firings.get(place.name)?.size ?? 0) > 0) return undefined;
    } else if (marking.tokens.has(place.name)) return undefined;
  }
  if (
    t.spec.concurrency !== undefined &&
    (firings.get(`running(${t.name})`)?.size ?? 0) >= t.spec.concurrency
  )
    return undefined;
  for (const read of t.reads) {
    if (read.kind !== 'list' && read.kind !== 'map' && countIn(read, marking, firings) < read.count)
      return undefined;
  }
  if (t.keyed) return bindKeyed(net, t, marking, firings, now);
  const takes: (readonly Candidate[])[] = [];
  let dueAt = 0;
  for (const input of t.takes) {
    const candidates = candidatesOf(input, marking, firings);
    if (candidates.length < input.count) return undefined;
    if (takes.length === 0 && t.spec.after !== undefined) {
      const due = dueTokens(t, candidates, now);
      if (due.length < input.count) return undefined;
      const taken = cut(
        input,
        due.map((entry) => entry.token),
      );
      dueAt = due[taken.length - 1]?.dueAt ?? 0;
      takes.push(taken);
    } else takes.push(cut(input, candidates));
  }
  return { t, takes, oldest: oldestOf(takes), dueAt };
}

function bindKeyed(
  net: CompiledNet,
  t: CompiledTransition,
  marking: Marking,
  firings: FiringsByEffect,
  now: number,
): Binding | undefined {
  const groups = t.takes.map((input) =>
    input.keyOf === undefined ? undefined : groupByKey(net, input, marking, firings),
  );
  const firstKeyed = groups.find((group) => group !== undefined);
  const rest = t.takes.map((input) =>
    input.keyOf === undefined ? candidatesOf(input, marking, firings) : [],
  );
  if (
    t.takes.some(
      (input, index) => input.keyOf === undefined && (rest[index]?.length ?? 0) < input.count,
    )
  )
    return undefined;
  for (const key of firstKeyed?.keys() ?? []) {
    const takes = t.takes.map((input, index) =>
      cut(
        input,
        groups[index] === undefined ? (rest[index] ?? []) : (groups[index]?.get(key) ?? []),
      ),
    );
    if (takes.some((taken, index) => taken.length < (t.takes[index]?.count ?? 1))) continue;
    if (t.spec.after === undefined) return { t, takes, oldest: oldestOf(takes), dueAt: 0 };
    const due = dueTokens(t, takes[0] ?? [], now);
    if (due.length === takes[0]?.length)
      return { t, takes, oldest: oldestOf(takes), dueAt: due.at(-1)?.dueAt ?? 0 };
  }
  return undefined;
}

function groupByKey(
  net: CompiledNet,
  input: CompiledInput,
  marking: Marking,
  firings: FiringsByEffect,
): ReadonlyMap<string, Candidate[]> {
  const groups = new Map<string, Candidate[]>();
  for (const candidate of candidatesOf(input, marking, firings)) {
    // The key function was typed where the arc was made, against the same place.
    const key =
      input.keyOf?.(
        ('id' in candidate ? candidate.value : firingToken(net, candidate, String)) as never,
      ) ?? '';
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [candidate]);
    else group.push(candidate);
  }
  return groups;
}

function candidatesOf(
  input: CompiledInput,
  marking: Marking,
  firings: FiringsByEffect,
): readonly Candidate[] {
  return input.effect === undefined
    ? tokensIn(marking, input.place)
    : [...(firings.get(input.place)?.values() ?? [])];
}

function countIn(input: CompiledInput, marking: Marking, firings: FiringsByEffect): number {
  return input.effect === undefined
    ? tokensIn(marking, input.place).length
    : (firings.get(input.place)?.size ?? 0);
}

function cut<T>(input: CompiledInput, candidates: readonly T[]): readonly T[] {
  return input.mode === 'all' ? [...candidates] : candidates.slice(0, input.count);
}

function dueTokens(
  t: CompiledTransition,
  candidates: readonly Candidate[],
  now: number,
): readonly { token: Token; dueAt: number }[] {
  return candidates
    .flatMap((token) => {
      const dueAt = 'id' in token ? token.due?.[t.name] : undefined;
      return dueAt !== undefined && dueAt <= now && 'id' in token ? [{ token, dueAt }] : [];
    })
    .toSorted((a, b) => a.dueAt - b.dueAt);
}

function oldestOf(takes: readonly (readonly Candidate[])[]): number {
  let oldest = Number.POSITIVE_INFINITY;
  for (const taken of takes) {
    const first = taken[0];
    if (first !== undefined)
      oldest = Math.min(oldest, 'id' in first ? orderOf(first) : first.firing * 1_000_000);
  }
  return oldest;
}

/** What `run` sees of a binding. */
export function tokensOf(
  net: CompiledNet,
  binding: Binding,
  marking: Marking,
  firings: FiringsByEffect,
  idOf: (firing: number) => string,
): Record<string, unknown> {
  const tokens: Record<string, unknown> = {};
  binding.t.takes.forEach((input, index) => {
    tokens[input.key] = shape(
      input,
      (binding.takes[index] ?? []).map((taken) => valueOf(net, taken, idOf)),
    );
  });
  for (const input of binding.t.reads) {
    if (input.kind === 'list') tokens[input.key] = [...listIn(marking, input.place).items];
    else if (input.kind === 'map') tokens[input.key] = mapIn(marking, input.place);
    else
      tokens[input.key] = shape(
        input,
        cut(input, candidatesOf(input, marking, firings)).map((taken) => valueOf(net, taken, idOf)),
      );
  }
  return tokens;
}

/** What `run` sees of a firing in flight: the same at every attempt. */
export function tokensOfFiring(
  t: CompiledTransition,
  firing: { readonly inputs: ReadonlyMap<string, readonly Token[]>; readonly reads: PinnedReads },
): Record<string, unknown> {
  const tokens: Record<string, unknown> = {};
  for (const input of t.takes) {
    tokens[input.key] = shape(
      input,
      (firing.inputs.get(input.place) ?? []).map((token) => token.value),
    );
  }
  for (const input of t.reads) {
    const list = firing.reads.lists.get(input.place);
    if (list !== undefined) tokens[input.key] = list.items.slice(0, list.length);
    else if (input.kind === 'map') tokens[input.key] = firing.reads.maps.get(input.place) ?? {};
    else
      tokens[input.key] = shape(
        input,
        (firing.reads.tokens.get(input.place) ?? []).map((token) => token.value),
      );
  }
  return tokens;
}

function shape(input: CompiledInput, values: readonly unknown[]): unknown {
  return input.mode === 'one' ? values[0] : values;
}

function valueOf(net: CompiledNet, taken: Candidate, idOf: (firing: number) => string): unknown {
  return 'id' in taken ? taken.value : firingToken(net, taken, idOf);
}

/** A firing in flight as another transition sees it, its inputs by their names in the effect. */
function firingToken(
  net: CompiledNet,
  firing: Firing,
  idOf: (firing: number) => string,
): FiringToken<Record<string, unknown>> {
  const inputs: Record<string, unknown> = {};
  for (const input of net.byName.get(firing.t)?.takes ?? []) {
    inputs[input.key] = shape(
      input,
      (firing.inputs.get(input.place) ?? []).map((token) => token.value),
    );
  }
  return {
    firingId: idOf(firing.firing),
    attempt: firing.attempt,
    startedAt: firing.startedAt,
    inputs,
  };
}
