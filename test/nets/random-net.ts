import * as fc from 'fast-check';
import * as z from 'zod';
import {
  all,
  allOf,
  append,
  effect,
  listPlace,
  many,
  mapPlace,
  matching,
  net,
  oneOf,
  optional,
  outlet,
  place,
  pure,
  put,
  replacePrefix,
  running,
  truncate,
  upTo,
} from '../../src/net/index.ts';
import type {
  AnyPlace,
  Effect,
  ListPlace,
  MapPlace,
  Net,
  Outlet,
  TokenPlace,
  Transition,
} from '../../src/net/index.ts';
import type { OutputArc } from '../../src/net/language/arcs.ts';
import { buildProblems } from '../../src/net/build/build-rules.ts';

type Take = 'one' | 'many' | 'all' | 'rest';
type OutputKind = 'one' | 'upTo' | 'optional' | 'append' | 'cut' | 'replace' | 'put' | 'out';

/** A transition as numbers, so that a failing net shrinks to a small one. */
interface TransitionPlan {
  readonly isEffect: boolean;
  readonly take: readonly (readonly [place: number, how: Take])[];
  readonly keyed: boolean;
  readonly takeRunning: boolean;
  readonly read: readonly number[];
  readonly readAll: boolean;
  readonly unless: readonly number[];
  readonly reset: readonly number[];
  /** Alternatives of outputs. */
  readonly give: readonly (readonly (readonly [place: number, how: OutputKind])[])[];
  readonly priority: number;
  readonly after: number | null;
  readonly attempts: number;
  readonly timeoutMs: number;
  readonly concurrency: number | null;
  readonly reruns: boolean;
  /** One in this many firings throws; 0 means never. */
  readonly throws: number;
}

export interface NetPlan {
  readonly places: number;
  readonly transitions: readonly TransitionPlan[];
}

const take: fc.Arbitrary<Take> = fc.constantFrom('one', 'one', 'one', 'many', 'all', 'rest');
const outputKind: fc.Arbitrary<OutputKind> = fc.constantFrom(
  ...(['one', 'one', 'one', 'upTo', 'optional', 'append', 'cut', 'replace', 'put', 'out'] as const),
);
const index = fc.nat(7);
const some = fc.array(index, { maxLength: 2 });

const transition: fc.Arbitrary<TransitionPlan> = fc.record({
  isEffect: fc.boolean(),
  take: fc.array(fc.tuple(index, take), { minLength: 1, maxLength: 3 }),
  keyed: fc.boolean(),
  takeRunning: fc.boolean(),
  read: some,
  readAll: fc.boolean(),
  unless: fc.oneof(fc.constant([]), some),
  reset: fc.oneof(fc.constant([]), some),
  give: fc.array(fc.array(fc.tuple(index, outputKind), { maxLength: 3 }), {
    minLength: 1,
    maxLength: 2,
  }),
  priority: fc.integer({ min: -1, max: 1 }),
  after: fc.constantFrom(null, null, 0, 50, 200),
  attempts: fc.integer({ min: 1, max: 3 }),
  timeoutMs: fc.constantFrom(100, 500),
  concurrency: fc.constantFrom(null, 1, 2),
  reruns: fc.boolean(),
  throws: fc.constantFrom(0, 0, 7),
});

/** Generates plans of nets that build. */
export const netPlan: fc.Arbitrary<NetPlan> = fc
  .record({
    places: fc.integer({ min: 2, max: 6 }),
    transitions: fc.array(transition, { minLength: 1, maxLength: 7, size: 'max' }),
  })
  .filter((plan) => buildProblems(toNet(plan)).length === 0);

/** The name of a place or transition, and its former names. */
export interface Naming {
  readonly name: string;
  readonly formerNames: readonly string[];
}

/**
 * Every place is an environment place, so that a test can inject anywhere. `rename` gives other names to the places and
 * transitions; their behavior does not depend on their names.
 */
export function toNet(
  plan: NetPlan,
  rename: (name: string) => Naming = (name) => ({ name, formerNames: [] }),
): Net {
  const places = Array.from({ length: plan.places }, (_, n) => {
    const { name, formerNames } = rename(`p.${n}`);
    return place(name, z.number().int(), { environment: true, formerNames });
  });
  const list = rename('p.list');
  const map = rename('p.map');
  const out = rename('p.out');
  const shared: Shared = {
    places,
    list: listPlace(list.name, z.number().int(), list),
    map: mapPlace(map.name, map),
    out: outlet(out.name, z.number().int(), out),
  };
  const effects: Effect[] = [];
  const transitions = plan.transitions.map((spec, n) => {
    const transition = toTransition(spec, n, rename(`t.${n}`), shared, effects.at(-1));
    if (isEffect(transition)) effects.push(transition);
    return transition;
  });
  return net('random', { transitions });
}

interface Shared {
  readonly places: readonly TokenPlace<number>[];
  readonly list: ListPlace<number>;
  readonly map: MapPlace;
  readonly out: Outlet<number>;
}

function isEffect(t: Transition): t is Effect {
  return t.kind === 'effect';
}

function toTransition(
  spec: TransitionPlan,
  n: number,
  { name, formerNames }: Naming,
  shared: Shared,
  other?: Effect,
): Transition {
  const at = (index: number): TokenPlace<number> =>
    shared.places[index % shared.places.length] as never;
  const taken = uniqueBy(spec.take, ([index]) => at(index).name);
  const names = new Set(taken.map(([index]) => at(index).name));
  const free = (indices: readonly number[]): readonly TokenPlace<number>[] =>
    uniqueBy(indices.map(at), ({ name }) => name).filter(({ name }) => !names.has(name));
  const read = free(spec.read);
  const readNames = new Set(read.map(({ name }) => name));
  const seesOther = other !== undefined && !spec.isEffect;
  const arcs = {
    formerNames,
    take: {
      ...Object.fromEntries(
        taken.map(([index, how], k) => [`in${k}`, toInput(at(index), how, spec.keyed)]),
      ),
      ...(seesOther && spec.takeRunning && { cancelled: all(running(other), { min: 0 }) }),
    },
    read: {
      ...Object.fromEntries(
        read.map((from, k) => [`see${k}`, spec.readAll ? all(from, { min: 0 }) : from]),
      ),
      list: shared.list,
      map: shared.map,
      ...(seesOther && !spec.takeRunning && { others: all(running(other), { min: 0 }) }),
    },
    unless: [
      ...free(spec.unless).filter(({ name }) => !readNames.has(name)),
      ...(seesOther && !spec.takeRunning && spec.priority === 1 ? [running(other)] : []),
    ],
    reset: [
      ...free(spec.reset),
      ...(seesOther && !spec.takeRunning && spec.priority === -1 ? [running(other)] : []),
    ] satisfies readonly AnyPlace[],
    priority: spec.priority,
  };
  // Pure firings move tokens only to later places, so that every settling ends.
  const last = Math.max(...taken.map(([index]) => index % shared.places.length));
  const target = (index: number): TokenPlace<number> | undefined =>
    spec.isEffect ? at(index) : shared.places[last + 1 + (index % shared.places.length)];
  const outputs = spec.give.map((alternative) =>
    Object.fromEntries(
      uniqueCuts(alternative).flatMap(([index, how], k) => {
        const output = toOutput(target(index), how, shared);
        return output === undefined ? [] : [[`${how}${k}`, output] as const];
      }),
    ),
  );
  const give = oneOf(Object.fromEntries(outputs.map((each, k) => [`way${k}`, allOf(each)])));
  const answer = (tokens: unknown, salt: number): unknown =>
    computeAnswer(outputs, tokens, `t${n}`, salt);
  if (!spec.isEffect) {
    return pure(name, {
      ...arcs,
      give,
      ...(spec.after !== null && { after: spec.after }),
      run: (tokens: unknown) => {
        if (spec.throws > 0 && hash(JSON.stringify(tokens)) % spec.throws === 0)
          throw new Error('thrown');
        return answer(tokens, 0);
      },
    } as never);
  }
  return effect(name, {
    ...arcs,
    give,
    timeoutMs: spec.timeoutMs,
    retry: { attempts: spec.attempts, backoff: '1s..4s' },
    onCrash: spec.reruns ? 'rerun' : 'unknown',
    ...(spec.concurrency !== null && { concurrency: spec.concurrency }),
    failed: (_: unknown, tokens: unknown) => answer(tokens, 1),
    run: async (tokens: unknown) => answer(tokens, 2),
  } as never);
}

function toInput(from: TokenPlace<number>, how: Take, keyed: boolean): unknown {
  const arc =
    how === 'one'
      ? from
      : how === 'many'
        ? many(2, from)
        : all(from, { min: how === 'all' ? 1 : 0 });
  return keyed ? matching(arc as typeof from, (value) => String(value % 3)) : arc;
}

function toOutput(
  to: TokenPlace<number> | undefined,
  how: OutputKind,
  shared: Shared,
): OutputArc | undefined {
  switch (how) {
    case 'append':
      return append(shared.list);
    case 'cut':
      return truncate(shared.list);
    case 'replace':
      return replacePrefix(shared.list);
    case 'put':
      return put(shared.map);
    case 'out':
      return shared.out;
    case 'one':
      return to;
    case 'upTo':
      return to === undefined ? undefined : upTo(2, to);
    case 'optional':
      return to === undefined ? undefined : optional(to);
    default:
      return how satisfies never;
  }
}

/** Returns the outputs of a transition, computed only from its tokens. */
function computeAnswer(
  outputs: readonly Readonly<Record<string, unknown>>[],
  tokens: unknown,
  name: string,
  salt: number,
): unknown {
  const seed = hash(`${name} ${salt} ${JSON.stringify(tokens)}`);
  const alternative = seed % outputs.length;
  const list = (tokens as { readonly list?: readonly number[] }).list ?? [];
  const values = Object.keys(outputs[alternative] ?? {}).map((key, k) => {
    const value = (seed + 7 * k) % 9;
    return [key, valueFor(key, value, list.length)];
  });
  return { [`way${alternative}`]: Object.fromEntries(values) };
}

function valueFor(key: string, value: number, length: number): unknown {
  const how = key.replace(/\d+$/, '') as OutputKind;
  switch (how) {
    case 'one':
    case 'out':
      return value;
    case 'optional':
      return value % 2 === 0 ? value : undefined;
    case 'upTo':
      return [value, value + 1].slice(0, value % 3);
    case 'append':
      return [value, value + 1].slice(0, 1 + (value % 2));
    case 'cut':
      return { length: value % (length + 1) };
    case 'replace':
      return { length: value % (length + 1), item: value };
    case 'put':
      return { set: { [`k${value % 3}`]: value }, increment: { n: 1 }, append: { l: [value] } };
    default:
      return how satisfies never;
  }
}

function uniqueCuts(outputs: TransitionPlan['give'][number]): TransitionPlan['give'][number] {
  return uniqueBy(outputs, ([index, how]) =>
    how === 'cut' || how === 'replace' ? 'cut' : `${how} ${index}`,
  );
}

function uniqueBy<T>(items: readonly T[], toKey: (item: T) => string): readonly T[] {
  return [...new Map(items.map((item) => [toKey(item), item])).values()];
}

/** The FNV-1a hash of a text. */
function hash(text: string): number {
  let value = 2_166_136_261;
  for (let n = 0; n < text.length; n++) {
    value = Math.imul(value ^ text.charCodeAt(n), 16_777_619) >>> 0;
  }
  return value;
}
