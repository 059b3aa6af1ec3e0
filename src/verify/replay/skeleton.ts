import { isObject } from '../../core/internal.ts';
import {
  append,
  type CompiledNet,
  listPlace,
  type AnyPlace,
  type EffectFailure,
} from '../../net/index.ts';
import type {
  CompiledInput,
  CompiledOutput,
  CompiledTransition,
  InitialToken,
} from '../../net/internal.ts';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { keySlots } from '../system/key-slots.ts';

/** The value of a token in a skeleton. */
export interface SkeletonValue {
  /** The key of each key slot. Null means that the key function throws. */
  readonly keys: readonly (string | null)[];
  /** By timed transition: the delay of its clock, in milliseconds. */
  readonly after?: Readonly<Record<string, number>>;
}

/** The tokens that a firing took, by input: one value, or a list of values. */
export type TakenTokens = Readonly<Record<string, unknown>>;

/** Decides what the transitions of a skeleton do. If a function throws, the firing becomes a fault. */
export interface SkeletonScript {
  /** Returns the outputs of a pure transition. */
  readonly fire: (t: CompiledTransition, tokens: TakenTokens) => unknown;
  /** Called before an attempt of an effect starts. Returns its timeout in milliseconds. */
  readonly start: (t: CompiledTransition) => number;
  /** Returns the outputs of `failed`. */
  readonly fail: (t: CompiledTransition, tokens: TakenTokens) => unknown;
  /** Returns the delay before the next attempt in milliseconds, or undefined for none. */
  readonly retry: (t: CompiledTransition) => number | undefined;
  /** Returns the keys of a firing in flight. `firingId` is the number of its `started` record. */
  readonly firingKeys: (firingId: string) => readonly (string | null)[];
  /** Returns the error that a key function throws for a token without that key. */
  readonly brokenKeyError: () => Error;
  readonly initial: readonly InitialToken[];
}

const anySchema: StandardSchemaV1 = {
  '~standard': { version: 1, vendor: 'petrichor', validate: (value) => ({ value }) },
};

/**
 * Returns a copy of a net without its logic and values. It keeps the places, arcs, multiplicities, priorities,
 * concurrency limits and attempts of the net. The script decides what transitions return and how long they take. The
 * executor runs it like any net.
 */
export function createSkeleton(net: CompiledNet, script: SkeletonScript): CompiledNet {
  const slots = keySlots(net);
  const places = new Map<string, AnyPlace>(
    [...net.places].map(([name, place]) => [name, withoutSchema(place)]),
  );
  const toSkeletonPlace = (place: AnyPlace): AnyPlace => places.get(place.name) ?? place;
  const toSkeletonInput = (input: CompiledInput): CompiledInput => {
    if (input.getKey === undefined) return input;
    const slot = slots.getSlot(input);
    return { ...input, getKey: (value) => keyAt(value, slot, script) };
  };
  const transitions = net.transitions.map((t): CompiledTransition => {
    const { after } = t.spec;
    return {
      ...t,
      spec: {
        ...t.spec,
        ...(after !== undefined && {
          after:
            typeof after === 'number' && !Number.isFinite(after)
              ? after
              : (value: SkeletonValue) => value.after?.[t.name] ?? Number.POSITIVE_INFINITY,
        }),
        ...(t.spec.kind === 'pure'
          ? { run: (tokens: TakenTokens) => script.fire(t, tokens) }
          : {
              run: () => Promise.resolve(),
              timeoutMs: () => script.start(t),
              failed: (_failure: EffectFailure, tokens: TakenTokens) => script.fail(t, tokens),
              ...(t.spec.retry !== undefined && {
                retry: {
                  attempts: t.spec.retry.attempts,
                  backoff: () => script.retry(t),
                },
              }),
            }),
      },
      takes: t.takes.map(toSkeletonInput),
      reads: t.reads.filter(({ kind }) => kind === 'tokens' || kind === 'running'),
      alternatives: new Map(
        [...t.alternatives].map(([name, alternative]) => [
          name,
          {
            ...alternative,
            outputs: alternative.outputs.map((output) => toSkeletonOutput(output, toSkeletonPlace)),
          },
        ]),
      ),
    };
  });
  const byName = new Map(transitions.map((t) => [t.name, t]));
  const remapTransitions = (
    map: ReadonlyMap<string, readonly CompiledTransition[]>,
  ): ReadonlyMap<string, readonly CompiledTransition[]> =>
    new Map(
      [...map].map(([place, list]) => [place, list.flatMap((t) => byName.get(t.name) ?? [])]),
    );
  return {
    ...net,
    places,
    transitions,
    byName,
    initial: script.initial.map((token) => ({ ...token, place: toSkeletonPlace(token.place) })),
    touched: remapTransitions(net.touched),
    timedBy: remapTransitions(net.timedBy),
  };
}

/** Returns the value that a skeleton's transition must return to output these tokens. */
export function toReturnValue(
  t: CompiledTransition,
  alternative: string,
  tokens: (output: CompiledOutput) => readonly SkeletonValue[],
): unknown {
  const selected = t.alternatives.get(alternative);
  if (selected === undefined)
    throw new RangeError(`"${t.name}" has no alternative "${alternative}"`);
  const values = Object.fromEntries(
    selected.outputs.map((output) => [output.key, toOutputValue(output, tokens(output))]),
  );
  return alternative === '' || !selected.grouped ? values : { [alternative]: values };
}

function toOutputValue({ output }: CompiledOutput, tokens: readonly SkeletonValue[]): unknown {
  if (output.arc === 'one' || output.arc === 'optional') return tokens[0];
  return output.arc === 'upTo' || output.arc === 'each' ? tokens : [];
}

function keyAt(value: unknown, slot: number, script: SkeletonScript): string {
  const keys = isObject(value) ? readKeys(value, script) : [];
  const key = keys[slot];
  if (typeof key !== 'string') throw script.brokenKeyError();
  return key;
}

function readKeys(value: object, script: SkeletonScript): readonly unknown[] {
  if ('keys' in value && Array.isArray(value.keys)) return value.keys;
  if ('firingId' in value) return script.firingKeys(String(value.firingId));
  // A fault caused by a script carries the keys of its token in its message.
  return 'message' in value ? parseKeys(String(value.message)) : [];
}

function parseKeys(message: string): readonly unknown[] {
  try {
    const keys: unknown = JSON.parse(message);
    return Array.isArray(keys) ? keys : [];
  } catch {
    return [];
  }
}

function withoutSchema(place: AnyPlace): AnyPlace {
  const environment = place.kind === 'tokens';
  // The values of a skeleton have no labels.
  return { ...place, schema: anySchema, environment, label: undefined };
}

/** Proofs ignore list and map places, so every write to them becomes an empty append. */
function toSkeletonOutput(
  { key, output, place }: CompiledOutput,
  toSkeletonPlace: (place: AnyPlace) => AnyPlace,
): CompiledOutput {
  const own = toSkeletonPlace(place);
  if (output.arc === 'one') return { key, output: { arc: 'one', place: own }, place: own };
  if (output.arc === 'replacePrefix' || output.arc === 'truncate' || output.arc === 'put') {
    const list = listPlace(place.name, anySchema);
    return { key, output: append(list), place: list };
  }
  if (output.arc === 'append') return { key, output, place };
  return { key, output: { ...output, place: own }, place: own };
}
