/**
 * A second implementation of the behavior of nets, written only from the rules of execution. It shares no code with the
 * prover: tokens are objects in order of age, states are JSON, and nothing is optimized.
 */
import type {
  CompiledInput,
  CompiledNet,
  CompiledTransition,
} from '../../src/net/build/compile.ts';
import type {
  QuiescentMarking,
  SearchedProperty as Property,
} from '../../src/verify/properties/property.ts';

export interface NaiveBounds {
  readonly environment: Readonly<Record<string, number>>;
  readonly upTo: number;
  readonly attempts: number;
  readonly faults: number;
  readonly shutdowns: boolean;
}

/** A token or a firing in flight. `keys` are listed by key function. */
interface Token {
  readonly in: string;
  readonly label?: string | undefined;
  readonly keys: readonly (string | null)[];
  readonly firing?: {
    readonly attempt: number;
    readonly waiting: boolean;
    readonly took: Readonly<Record<string, number>>;
  };
}

interface NaiveState {
  readonly tokens: readonly Token[];
  readonly settling: boolean;
  readonly closing: boolean;
  readonly faults: number;
  readonly outside: Readonly<Record<string, number>>;
  readonly memory: number;
}

/** The facts about a step that a property observes. */
interface Happened {
  readonly begun?: string;
  /** The labels of the tokens that the firing that began took. */
  readonly labels?: readonly (string | undefined)[];
  readonly taken: readonly string[];
  readonly given: readonly string[];
  readonly ownership?: true;
  /** The effect that ended. */
  readonly ended?: string;
  /** True for an input, a fault, or a clock that may never expire: no fair run depends on it. */
  readonly uncertain?: boolean;
  /** Set for a firing that needs time to pass. */
  readonly waited?: true;
}

interface Next {
  readonly state: NaiveState;
  readonly happened: Happened;
}

export type NaiveVerdict = 'holds' | 'broken' | 'too many states';

interface Verdict {
  readonly verdict: NaiveVerdict;
  readonly states: number;
}

export function naiveVerdict(
  net: CompiledNet,
  property: Property,
  bounds: NaiveBounds,
  mostStates: number,
): Verdict {
  return withinLimits(() => checkProperty(net, property, bounds, mostStates), {
    verdict: 'too many states',
    states: mostStates,
  });
}

function checkProperty(
  net: CompiledNet,
  property: Property,
  bounds: NaiveBounds,
  mostStates: number,
): Verdict {
  const world = new World(net, bounds);
  const first: NaiveState = { ...world.begin(), memory: beginMemory(net, property) };
  const seen = new Map<string, number>([[world.write(first), 0]]);
  const queue: NaiveState[] = [first];
  const edges: number[][] = [];
  const hopes: Hopes = { pending: new Set(), ends: new Set(), steps: [] };
  const begun = new Set<string>();
  for (let at = 0; at < queue.length; at++) {
    const state = queue[at];
    if (state === undefined) break;
    const { nexts, stuck } = world.explore(state);
    if (breaks(property, state, stuck)) return { verdict: 'broken', states: queue.length };
    const open = property.kind === 'eventuallyAnswered' && state.memory > 0;
    const hoping = property.kind === 'eventually' && state.memory > 0;
    if (hoping) hopes.pending.add(at);
    if (hoping && stuck) hopes.ends.add(at);
    const out: number[] = [];
    edges[at] = out;
    for (const { state: to, happened } of nexts) {
      if (happened.begun !== undefined) begun.add(happened.begun);
      const memory = remember(property, state, to, happened);
      if (memory === undefined) return { verdict: 'broken', states: queue.length };
      const next = { ...to, memory };
      const stateText = world.write(next);
      let id = seen.get(stateText);
      if (id === undefined) {
        id = queue.length;
        if (id > mostStates) return { verdict: 'too many states', states: id };
        seen.set(stateText, id);
        queue.push(next);
      }
      const settlesOn = property.kind === 'settles' && to.settling && happened.waited === undefined;
      if (settlesOn || (open && memory > 0 && happened.ownership === undefined)) out.push(id);
      if (hoping && happened.uncertain !== true) {
        if (memory === 0) hopes.ends.add(at);
        else hopes.steps.push([at, id]);
      }
    }
  }
  const isMissing =
    property.kind === 'canFire' && property.transitions.some((name) => !begun.has(name));
  const isBroken = hasCycle(edges) || isHopeless(hopes) || isMissing;
  return { verdict: isBroken ? 'broken' : 'holds', states: queue.length };
}

/** Returns the reachable markings as sorted names of places. Undefined if there are too many states. */
export function naiveMarkings(
  net: CompiledNet,
  bounds: NaiveBounds,
  mostStates: number,
): ReadonlySet<string> | undefined {
  return withinLimits(() => listMarkings(net, bounds, mostStates), undefined);
}

function listMarkings(
  net: CompiledNet,
  bounds: NaiveBounds,
  mostStates: number,
): ReadonlySet<string> | undefined {
  const world = new World(net, bounds);
  const first: NaiveState = { ...world.begin(), memory: 0 };
  const seen = new Set([world.write(first)]);
  const queue = [first];
  const markings = new Set<string>();
  for (const state of queue) {
    markings.add(
      state.tokens
        .map((token) => token.in)
        .toSorted()
        .join(' '),
    );
    for (const { state: to } of world.explore(state).nexts) {
      const next = { ...to, memory: 0 };
      const stateText = world.write(next);
      if (seen.has(stateText)) continue;
      if (seen.size > mostStates) return undefined;
      seen.add(stateText);
      queue.push(next);
    }
  }
  return markings;
}

class World {
  readonly #net: CompiledNet;
  readonly #bounds: NaiveBounds;
  /** The key functions that transitions apply to the tokens of a place, by place. */
  readonly #functions = new Map<string, CompiledInput['getKey'][]>();

  constructor(net: CompiledNet, bounds: NaiveBounds) {
    this.#net = net;
    this.#bounds = bounds;
    for (const t of net.transitions) {
      for (const { place, getKey: keyOf } of t.takes) {
        if (keyOf === undefined) continue;
        const known = this.#functions.get(place) ?? [];
        this.#functions.set(place, known.includes(keyOf) ? known : [...known, keyOf]);
      }
    }
  }

  begin(): Omit<NaiveState, 'memory'> {
    const tokens = this.#net.initial.flatMap(({ place, value, times }) =>
      Array.from({ length: times }, (): Token => {
        const keys = (this.#functions.get(place.name) ?? []).map((toKey) => keyOf(toKey, value));
        const label = this.#net.places.get(place.name)?.label?.(value);
        return { in: place.name, keys, ...(label !== undefined && { label }) };
      }),
    );
    const { environment, faults } = this.#bounds;
    return { tokens, settling: false, closing: false, faults, outside: environment };
  }

  /** Returns equal texts for states that differ only in the names of keys. */
  write(state: NaiveState): string {
    const names = new Map<string, number>();
    const tokens = state.tokens.map(({ keys, ...rest }) => ({
      ...rest,
      keys: keys.map((key) => {
        if (key === null) return null;
        if (!names.has(key)) names.set(key, names.size);
        return names.get(key);
      }),
    }));
    return JSON.stringify({ ...state, tokens });
  }

  explore(state: NaiveState): { readonly nexts: readonly Next[]; readonly stuck: boolean } {
    if (state.tokens.length > MAX_TOKENS + this.#bounds.upTo) throw new TooManySuccessorsError();
    const ready = this.#firstReady(state);
    if (ready !== undefined) {
      const settled = ready();
      return {
        nexts: state.settling ? settled : [...settled, ...this.#inputs(state)],
        stuck: false,
      };
    }
    const resting = { ...state, settling: false };
    const timed = this.#timed(resting);
    const nexts = [...this.#inputs(resting), ...timed.nexts];
    if (state.closing) {
      nexts.push({ state: { ...resting, closing: false }, happened: ownership });
    } else {
      for (const [index, token] of state.tokens.entries()) {
        if (token.firing?.waiting !== true) continue;
        const attempt = token.firing.attempt + 1;
        const retried = { ...token, firing: { ...token.firing, attempt, waiting: false } };
        nexts.push({
          state: { ...resting, tokens: state.tokens.with(index, retried) },
          happened: noChange,
        });
      }
    }
    const flying = state.tokens.some(({ firing }) => firing !== undefined);
    return { nexts, stuck: !flying && !timed.surely && !state.closing };
  }

  #hasEffects(): boolean {
    return this.#net.transitions.some((t) => t.spec.kind === 'effect');
  }

  /** Results of effects, inputs from outside, and the closing of the owner. */
  #inputs(state: NaiveState): Next[] {
    const arrived = { ...state, settling: false };
    const nexts: Next[] = [];
    for (const [index, token] of state.tokens.entries()) {
      const { firing } = token;
      if (firing === undefined || firing.waiting) continue;
      const t = this.#effectIn(token.in);
      const rest = state.tokens.toSpliced(index, 1);
      const kept = { [keptInput(this.#net, t)?.key ?? '']: token.label };
      for (const given of this.#outputs(t, firing.took, kept)) {
        for (const [tokens, faults] of this.#put(
          rest,
          given.tokens,
          state.faults,
          state.tokens,
          given.labels,
        ))
          nexts.push({
            state: { ...arrived, tokens, faults },
            happened: {
              taken: [token.in],
              given: [...tokens.slice(rest.length).flatMap(namesOf), ...given.outlets],
              ended: t.name,
              uncertain: faults < state.faults,
            },
          });
      }
      const attempts = Math.min(t.spec.retry?.attempts ?? 1, this.#bounds.attempts);
      if (firing.attempt < attempts) {
        const waiting = { ...token, firing: { ...firing, waiting: true } };
        nexts.push({
          state: { ...arrived, tokens: state.tokens.with(index, waiting) },
          happened: noChange,
        });
      }
      nexts.push(...this.#fault(arrived, [index], 1));
    }
    for (const [place, remaining] of Object.entries(state.outside)) {
      if (remaining === 0) continue;
      for (const [tokens, faults] of this.#put(state.tokens, [place], state.faults, state.tokens))
        nexts.push({
          state: {
            ...arrived,
            tokens,
            faults,
            outside: { ...state.outside, [place]: remaining - 1 },
          },
          happened: {
            taken: [],
            given: tokens.slice(state.tokens.length).flatMap(namesOf),
            uncertain: true,
          },
        });
    }
    if (!state.closing && this.#bounds.shutdowns && this.#hasEffects())
      nexts.push({
        state: { ...arrived, closing: true },
        happened: { ...ownership, uncertain: true },
      });
    return nexts;
  }

  /** The untimed firings that the executor may make next. */
  #firstReady(state: NaiveState): (() => Next[]) | undefined {
    const able = this.#net.transitions.filter(
      (t) => t.spec.after === undefined && !(state.closing && t.spec.kind === 'effect'),
    );
    return this.#best(able, state, () => true) ?? this.#bestBrokenTimed(state);
  }

  #bestBrokenTimed(state: NaiveState): (() => Next[]) | undefined {
    const timed = this.#net.transitions.filter((t) => t.spec.after !== undefined);
    return this.#best(timed, state, ({ broken }) => broken);
  }

  #best(
    candidates: readonly CompiledTransition[],
    state: NaiveState,
    counts: (binding: Binding) => boolean,
  ): (() => Next[]) | undefined {
    let best:
      | { readonly t: CompiledTransition; readonly binding: Binding; readonly age: number }
      | undefined;
    for (const t of candidates) {
      const [binding] = this.#bindings(t, state, false).filter(counts);
      if (binding === undefined) continue;
      const age = Math.min(...binding.takes.map(([first]) => first ?? Infinity));
      if (
        best === undefined ||
        t.spec.priority > best.t.spec.priority ||
        (t.spec.priority === best.t.spec.priority && age < best.age)
      )
        best = { t, binding, age };
    }
    if (best === undefined) return undefined;
    const { t, binding } = best;
    return () => this.#fire(t, binding, state);
  }

  #timed(state: NaiveState): { readonly nexts: readonly Next[]; readonly surely: boolean } {
    let surely = false;
    const nexts = this.#net.transitions.flatMap((t) => {
      const { after } = t.spec;
      if (after === undefined) return [];
      const bindings = this.#bindings(t, state, true).filter(({ broken }) => !broken);
      if (bindings.length > 0 && typeof after === 'number') surely = true;
      const fired = bindings.flatMap((binding) => this.#fire(t, binding, state));
      return typeof after === 'number' && after > 0
        ? fired.map((next): Next => ({ ...next, happened: { ...next.happened, waited: true } }))
        : fired;
    });
    return { nexts, surely };
  }

  /** The tokens and firings with which `t` can fire. For a timed transition, every choice that clocks allow. */
  #bindings(t: CompiledTransition, { tokens }: NaiveState, clocked: boolean): Binding[] {
    const indexes = (place: string): number[] =>
      [...tokens.keys()].filter((index) => tokens[index]?.in === place);
    if (t.unless.some((place) => indexes(place.name).length > 0)) return [];
    if (indexes(t.running).length >= (t.spec.concurrency ?? Infinity)) return [];
    for (const read of t.reads) {
      if (read.kind !== 'list' && read.kind !== 'map' && indexes(read.place).length < read.count)
        return [];
    }
    const toKey = (index: number, input: CompiledInput): string | null => {
      const slot = (this.#functions.get(input.place) ?? []).indexOf(input.getKey);
      return tokens[index]?.keys[slot] ?? null;
    };
    const keyed = t.takes.filter((input) => input.getKey !== undefined);
    for (const input of keyed) {
      const thrown = indexes(input.place).find((index) => toKey(index, input) === null);
      if (thrown !== undefined)
        return [{ takes: t.takes.map((one) => (one === input ? [thrown] : [])), broken: true }];
    }
    const { after } = t.spec;
    const neverDue =
      after !== undefined &&
      ((typeof after === 'number' && !Number.isFinite(after)) || t.takes[0]?.kind === 'running');
    if (neverDue) return [];
    const naming = keyed.find((input) => input.count > 0);
    const keys =
      keyed.length === 0
        ? [undefined]
        : [
            ...new Set(
              (naming === undefined ? keyed : [naming]).flatMap((input) =>
                indexes(input.place).map((index) => toKey(index, input)),
              ),
            ),
          ];
    const bindings: Binding[] = [];
    for (const key of keys) {
      let takes: number[][][] = [[]];
      for (const [position, input] of t.takes.entries()) {
        const from = indexes(input.place).filter(
          (index) => input.getKey === undefined || toKey(index, input) === key,
        );
        const byClock = position === 0 && t.spec.after !== undefined;
        const sets = this.#sets(input, from, byClock);
        takes = takes.flatMap((before) => sets.map((set) => [...before, set]));
      }
      for (const one of takes) bindings.push({ takes: one, broken: false });
      if (bindings.length > 0 && !clocked) break;
    }
    return bindings;
  }

  #sets(input: CompiledInput, from: number[], byClock: boolean): number[][] {
    if (from.length < input.count || (byClock && from.length === 0)) return [];
    if (input.mode === 'all') return [from];
    if (!byClock) return [from.slice(0, input.count)];
    // More than this many choices are too many successors.
    if (from.length > 12) throw new TooManySuccessorsError();
    return from.flatMap((_, start) => combinations(from.slice(start), input.count));
  }

  #fire(t: CompiledTransition, { takes, broken }: Binding, state: NaiveState): Next[] {
    const taken = takes.flat();
    const fired = { ...state, settling: true };
    if (broken) return this.#fault(fired, taken, 0);
    const reset = t.reset.map((place) => place.name);
    const gone = (index: number, token: Token): boolean =>
      taken.includes(index) || reset.includes(token.in);
    const rest = state.tokens.filter((token, index) => !gone(index, token));
    const out = state.tokens.flatMap((token, index) => (gone(index, token) ? [token.in] : []));
    const took = Object.fromEntries(
      t.takes.map((input, index) => [input.key, takes[index]?.length ?? 0]),
    );
    const labels = taken.map((index) => state.tokens[index]?.label);
    const byInput = Object.fromEntries(
      t.takes.map(({ key, mode }, index) => {
        const [first] = takes[index] ?? [];
        return [key, mode === 'one' ? state.tokens[first ?? -1]?.label : undefined];
      }),
    );
    const nexts: Next[] = [];
    if (t.spec.kind === 'effect') {
      const kept = [[byInput[keptInput(this.#net, t)?.key ?? '']]];
      for (const [tokens, faults] of this.#put(
        rest,
        [t.running],
        state.faults,
        state.tokens,
        kept,
      )) {
        const firing = tokens.at(-1);
        if (firing === undefined) continue;
        const started = { ...firing, firing: { attempt: 1, waiting: false, took } };
        nexts.push({
          state: { ...fired, tokens: [...tokens.slice(0, -1), started], faults },
          happened: {
            begun: t.name,
            labels,
            taken: out,
            given: [t.running],
            uncertain: isUncertain(t) || faults < state.faults,
          },
        });
      }
    } else {
      for (const output of this.#outputs(t, took, byInput)) {
        for (const [tokens, faults] of this.#put(
          rest,
          output.tokens,
          state.faults,
          state.tokens,
          output.labels,
        ))
          nexts.push({
            state: { ...fired, tokens, faults },
            happened: {
              begun: t.name,
              labels,
              ended: t.name,
              taken: out,
              given: [...tokens.slice(rest.length).flatMap(namesOf), ...output.outlets],
              uncertain: isUncertain(t) || faults < state.faults,
            },
          });
      }
    }
    return [...nexts, ...this.#fault(fired, taken, 1)];
  }

  #fault(state: NaiveState, indexes: readonly number[], cost: number): Next[] {
    if (state.faults < cost) return [];
    const taken = indexes.flatMap((index) => state.tokens[index] ?? []);
    const ofFault = taken.some((token) => {
      if (token.firing === undefined) return token.in === 'net.fault';
      const input = this.#effectIn(token.in).takes.find(({ place }) => place === 'net.fault');
      return input !== undefined && (token.firing.took[input.key] ?? 0) > 0;
    });
    const to = ofFault ? 'net.fault.unhandled' : 'net.fault';
    const rest = state.tokens.filter((_, index) => !indexes.includes(index));
    return this.#put(rest, [to], state.faults - cost, state.tokens).map(([tokens, faults]) => ({
      state: { ...state, tokens, faults },
      happened: { taken: taken.map((token) => token.in), given: [to], uncertain: true },
    }));
  }

  /** Every way to add tokens: each key is one in use, a new one, or one whose function throws (a later fault). */
  #put(
    tokens: readonly Token[],
    places: readonly string[],
    faults: number,
    before: readonly Token[],
    labels: readonly (readonly (string | undefined)[])[] = places.map((place) =>
      this.#alphabet(place),
    ),
  ): (readonly [readonly Token[], number])[] {
    let combinations: (readonly [readonly Token[], number])[] = [[tokens, faults]];
    for (const [index, place] of places.entries()) {
      if (combinations.length > MAX_SUCCESSORS) throw new TooManySuccessorsError();
      combinations = combinations.flatMap(([sofar, faultsLeft]) =>
        this.#keyings(place, [...before, ...sofar], faultsLeft).flatMap(([keys, after]) =>
          (labels[index] ?? []).map(
            (label) =>
              [
                [...sofar, { in: place, keys, ...(label !== undefined && { label }) }],
                after,
              ] as const,
          ),
        ),
      );
    }
    return combinations;
  }

  #keyings(
    place: string,
    around: readonly Token[],
    faults: number,
  ): (readonly [readonly (string | null)[], number])[] {
    let combinations: (readonly [readonly (string | null)[], number])[] = [[[], faults]];
    for (const _ of this.#functions.get(place) ?? []) {
      combinations = combinations.flatMap(([keys, faultsLeft]) => {
        const used = [...around.flatMap((token) => token.keys), ...keys].filter(
          (key) => key !== null,
        );
        let fresh = 0;
        while (used.includes(`n${fresh}`)) fresh++;
        return [
          ...[...new Set(used), `n${fresh}`].map((key) => [[...keys, key], faultsLeft] as const),
          ...(faultsLeft > 0 ? [[[...keys, null], faultsLeft - 1] as const] : []),
        ];
      });
    }
    return combinations;
  }

  /** The labels that a token of this place may have: some of them are in no rule. */
  #alphabet(place: string): readonly (string | undefined)[] {
    return this.#net.places.get(place)?.label === undefined ? [undefined] : ['a', 'b', 'c', '*'];
  }

  /** The labels that the rules of a transition leave for an output. */
  #labelsOf(
    t: CompiledTransition,
    alternative: string,
    output: string,
    place: string,
    byInput: Readonly<Record<string, string | undefined>>,
  ): readonly (string | undefined)[] {
    let labels = this.#alphabet(place);
    for (const rule of t.spec.labels ?? []) {
      if (rule.output !== output || (rule.alternative ?? alternative) !== alternative) continue;
      const { only, as } = rule;
      if (only !== undefined) labels = labels.filter((one) => only.includes(one ?? ''));
      if (as !== undefined) labels = labels.filter((one) => one === byInput[as]);
    }
    return labels;
  }

  /** Every alternative with every declared number of tokens. */
  #outputs(
    t: CompiledTransition,
    took: Readonly<Record<string, number>>,
    byInput: Readonly<Record<string, string | undefined>>,
  ): {
    readonly tokens: readonly string[];
    readonly outlets: readonly string[];
    readonly labels: readonly (readonly (string | undefined)[])[];
  }[] {
    const { give } = t.spec;
    const alternatives =
      give.give === 'allOf'
        ? [['', give.outputs] as const]
        : Object.entries(give.alternatives).map(
            ([key, one]) => [key, 'give' in one ? one.outputs : { [key]: one }] as const,
          );
    return alternatives.flatMap(([alternative, outputs]) => {
      let combinations: (readonly [name: string, output: string])[][] = [[]];
      for (const [key, output] of Object.entries(outputs)) {
        const counts =
          'kind' in output
            ? [1]
            : output.arc === 'upTo'
              ? range(Math.min(output.max, this.#bounds.upTo))
              : output.arc === 'optional'
                ? [0, 1]
                : output.arc === 'each'
                  ? [took[output.input] ?? 0]
                  : [0];
        const name = 'kind' in output ? output.name : output.place.name;
        combinations = combinations.flatMap((before) =>
          counts.map((count) => [
            ...before,
            ...Array.from({ length: count }, () => [name, key] as const),
          ]),
        );
      }
      const isOutlet = (name: string): boolean => this.#net.places.get(name)?.kind === 'outlet';
      return combinations.map((all) => {
        const tokens = all.filter(([name]) => !isOutlet(name));
        return {
          tokens: tokens.map(([name]) => name),
          outlets: all.flatMap(([name]) => (isOutlet(name) ? [name] : [])),
          labels: tokens.map(([name, key]) => this.#labelsOf(t, alternative, key, name, byInput)),
        };
      });
    });
  }

  #effectIn(running: string): CompiledTransition {
    const t = this.#net.transitions.find((one) => one.running === running);
    if (t === undefined) throw new Error(`no effect runs in ${running}`);
    return t;
  }
}

/** A net that has a state with more successors than this is skipped. */
const MAX_SUCCESSORS = 2_000;
/** More tokens than the largest output may add to these. */
const MAX_TOKENS = 60;
class TooManySuccessorsError extends Error {}

/** Returns null if the key function throws. */
function keyOf(getKey: CompiledInput['getKey'], value: unknown): string | null {
  try {
    return getKey?.(value) ?? null;
  } catch {
    return null;
  }
}

/** Returns the value, or `otherwise` if some state has too many successors. */
function withinLimits<T>(compute: () => T, otherwise: T): T {
  try {
    return compute();
  } catch (error) {
    if (error instanceof TooManySuccessorsError) return otherwise;
    throw error;
  }
}

interface Binding {
  readonly takes: readonly (readonly number[])[];
  readonly broken: boolean;
}

const noChange: Happened = { taken: [], given: [] };
const ownership: Happened = { taken: [], given: [], ownership: true };

function range(max: number): number[] {
  return Array.from({ length: max + 1 }, (_, n) => n);
}

/** Those that contain the first. */
function combinations(from: readonly number[], count: number): number[][] {
  const [first, ...rest] = from;
  if (first === undefined) return [];
  if (count === 1) return [[first]];
  return rest.flatMap((_, start) =>
    combinations(rest.slice(start), count - 1).map((more) => [first, ...more]),
  );
}

/** The steps between states in which an event is still missing. */
interface Hopes {
  readonly pending: Set<number>;
  /** The states with a step to the event, or in which the net may rest. */
  readonly ends: Set<number>;
  readonly steps: (readonly [from: number, to: number])[];
}

/** True if the event can no longer happen in some pending state. */
function isHopeless({ pending, ends, steps }: Hopes): boolean {
  const hopeful = new Set(ends);
  for (let grows = true; grows;) {
    grows = false;
    for (const [from, to] of steps) {
      if (!hopeful.has(to) || hopeful.has(from)) continue;
      hopeful.add(from);
      grows = true;
    }
  }
  return [...pending].some((id) => !hopeful.has(id));
}

/** True if the time of a transition comes from its token, which may have none. */
function isUncertain({ spec }: CompiledTransition): boolean {
  return typeof spec.after === 'function';
}

/** The names of a token: its place, and its place with its label. */
function namesOf(token: Token): readonly string[] {
  return token.label === undefined ? [token.in] : [token.in, `${token.in}(${token.label})`];
}

/** The input whose label a firing of an effect keeps. */
function keptInput(net: CompiledNet, t: CompiledTransition): CompiledInput | undefined {
  return t.takes.find(
    ({ mode, place }) => mode === 'one' && net.places.get(place)?.label !== undefined,
  );
}

/** The first of these transitions that began. A name with a label stands for firings that took such a token. */
function findBegun(names: readonly string[], { begun, labels = [] }: Happened): string | undefined {
  return names.find(
    (name) => name === begun || labels.some((label) => name === `${begun}(${label})`),
  );
}

function beginMemory(net: CompiledNet, property: Property): number {
  if (property.kind === 'eventually') return property.after === undefined ? 1 : 0;
  if (property.kind !== 'neverFiresAfter') return 0;
  return net.initial.some(({ place, value }) => {
    const label = net.places.get(place.name)?.label?.(value);
    return [place.name, `${place.name}(${label})`].includes(property.place);
  })
    ? 1
    : 0;
}

function times(names: readonly string[], name: string): number {
  return names.filter((one) => one === name).length;
}

function events(happened: Happened, name: string): number {
  return (findBegun([name], happened) === undefined ? 0 : 1) + times(happened.given, name);
}

/** True if a step takes a token from a place, or from one of several. */
function renews(per: string | readonly string[] | undefined, { taken }: Happened): boolean {
  return [per ?? []].flat().some((place) => taken.includes(place));
}

/** Returns the memory of a property after a step. Undefined if the step violates it. */
function remember(
  property: Property,
  { memory: before }: NaiveState,
  { tokens }: NaiveState,
  happened: Happened,
): number | undefined {
  switch (property.kind) {
    case 'atMost': {
      const since = renews(property.per, happened) ? 0 : before;
      const begun = findBegun(property.transitions, happened);
      if (begun === undefined) return since;
      const cost = property.costs?.[begun] ?? 1;
      return cost > 0 && since + cost > property.max ? undefined : since + cost;
    }
    case 'givesAtMost': {
      const since = renews(property.per, happened) ? 0 : before;
      const after = since + times(happened.given, property.place);
      return after > property.max ? undefined : after;
    }
    case 'neverFiresAfter': {
      if (before === 1 && findBegun(property.transitions, happened) !== undefined) return undefined;
      if (events(happened, property.place) > 0) return 1;
      return [property.until ?? []].flat().some((name) => events(happened, name) > 0) ? 0 : before;
    }
    case 'joinedOrDeadLettered': {
      let after = before + times(happened.taken, property.from);
      for (const end of [property.joined, ...property.deadLetters])
        after -= times(happened.given, end);
      return after < 0 ? undefined : after;
    }
    case 'eventuallyAnswered': {
      let after = before + events(happened, property.asked);
      for (const answer of property.answered) after -= events(happened, answer);
      return Math.max(0, after);
    }
    case 'precedes': {
      const since = renews(property.per, happened) ? 0 : before;
      const follows = findBegun(property.transitions, happened) !== undefined;
      if (follows && since === 0) return undefined;
      const seen = since + events(happened, property.first);
      if (!property.each) return seen > 0 ? 1 : 0;
      return follows ? seen - 1 : seen;
    }
    case 'neverStale': {
      if (before === 1 && property.commits.includes(happened.ended ?? '')) return undefined;
      const isOld = before === 1 || property.renewals.includes(happened.ended ?? '');
      return isOld && tokens.some((token) => property.work.includes(token.in)) ? 1 : 0;
    }
    case 'neverTakes':
      return property.by.includes(happened.begun ?? '') &&
        property.places.some((place) => happened.taken.includes(place))
        ? undefined
        : 0;
    case 'eventually':
      if (property.events.some((name) => events(happened, name) > 0)) return 0;
      return property.after !== undefined && events(happened, property.after) > 0 ? 1 : before;
    case 'deadlockFree':
    case 'placeBound':
    case 'mutualExclusion':
    case 'unreachable':
    case 'canFire':
      return 0;
    case 'settles':
      return 0;
    default:
      return property satisfies never;
  }
}

function breaks(property: Property, { tokens, memory }: NaiveState, stuck: boolean): boolean {
  const count = (place: string): number => tokens.filter((token) => token.in === place).length;
  const mayRest = (resting: readonly QuiescentMarking[]): boolean =>
    resting.some(
      ({ marked, allowed = [] }) =>
        marked.every((place) => count(place) > 0) &&
        tokens.every((token) => marked.includes(token.in) || allowed.includes(token.in)),
    );
  switch (property.kind) {
    case 'deadlockFree':
      return stuck && !mayRest(property.resting);
    case 'placeBound':
      return property.each === true
        ? property.places.some((place) => count(place) > property.max)
        : property.places.reduce((sum, place) => sum + count(place), 0) > property.max;
    case 'mutualExclusion':
      return property.places.filter((place) => count(place) > 0).length > 1;
    case 'unreachable':
      return (
        Object.entries(property.marked).every(([place, least]) => count(place) >= least) &&
        property.empty.every((place) => count(place) === 0)
      );
    case 'joinedOrDeadLettered':
      return stuck && (memory > 0 || property.through.some((place) => count(place) > 0));
    case 'eventuallyAnswered':
    case 'eventually':
      return stuck && memory > 0 && !mayRest(property.resting);
    case 'atMost':
    case 'givesAtMost':
    case 'neverFiresAfter':
    case 'precedes':
    case 'neverStale':
    case 'neverTakes':
    case 'canFire':
      return false;
    case 'settles':
      return false;
    default:
      return property satisfies never;
  }
}

function hasCycle(edges: readonly (readonly number[])[]): boolean {
  const pendingEdges = new Map(edges.map((out, node) => [node, out.length]));
  const into: number[][] = edges.map(() => []);
  edges.forEach((out, node) => {
    for (const to of out) into[to]?.push(node);
  });
  const ends = edges.flatMap((out, node) => (out.length === 0 ? [node] : []));
  for (let at = 0; at < ends.length; at++) {
    for (const node of into[ends[at] ?? 0] ?? []) {
      pendingEdges.set(node, (pendingEdges.get(node) ?? 0) - 1);
      if (pendingEdges.get(node) === 0) ends.push(node);
    }
  }
  return ends.length < edges.length;
}
