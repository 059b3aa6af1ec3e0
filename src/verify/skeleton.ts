import { append } from '../net/arcs.ts';
import type {
  CompiledInput,
  CompiledNet,
  CompiledOutput,
  CompiledTransition,
} from '../net/compile.ts';
import type { InitialToken } from '../net/net.ts';
import { listPlace } from '../net/place.ts';
import type { AnyPlace } from '../net/place.ts';
import type { EffectFailure } from '../net/transition.ts';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { keySlots } from './key-slots.ts';

/** What a token of a skeleton holds: the keys it is matched by (null: the key function throws), and its clocks. */
export interface SkeletonValue {
  readonly keys: readonly (string | null)[];
  /** By timed transition: how long after its arrival the token may be taken. */
  readonly after?: Readonly<Record<string, number>>;
}

/** What a firing took, by input: one value, or a list. */
export type Taken = Readonly<Record<string, unknown>>;

/** Decides what the transitions of a skeleton do. Whatever throws is a fault of the transition. */
export interface Script {
  /** What a pure transition returns. */
  readonly fire: (t: CompiledTransition, tokens: Taken) => unknown;
  /** Called before an effect starts: how long an attempt may take, in milliseconds. */
  readonly start: (t: CompiledTransition) => number;
  /** What `failed` returns. */
  readonly fail: (t: CompiledTransition, tokens: Taken) => unknown;
  /** How long until the next attempt; undefined for none. */
  readonly retry: (t: CompiledTransition) => number | undefined;
  /** The keys of a firing in flight, by the number of its `started` record. */
  readonly keysOfFiring: (firingId: string) => readonly (string | null)[];
  /** What a key function throws for a token without that key. */
  readonly broken: () => Error;
  readonly initial: readonly InitialToken[];
}

const anything: StandardSchemaV1 = {
  '~standard': { version: 1, vendor: 'petrichor', validate: (value) => ({ value }) },
};

/**
 * The same net with its logic and its values taken out: places, arcs, multiplicities, priorities, concurrency and
 * attempts are the net's own, what transitions return and how long anything takes is the script's. It runs on the
 * executor like any net.
 */
export function skeletonOf(net: CompiledNet, script: Script): CompiledNet {
  const slots = keySlots(net);
  const places = new Map<string, AnyPlace>(
    [...net.places].map(([name, place]) => [name, bare(place)]),
  );
  const placeOf = (place: AnyPlace): AnyPlace => places.get(place.name) ?? place;
  const inputOf = (input: CompiledInput): CompiledInput => {
    if (input.keyOf === undefined) return input;
    const slot = slots.slotOf(input);
    return { ...input, keyOf: (value) => keyAt(value, slot, script) };
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
          ? { run: (tokens: Taken) => script.fire(t, tokens) }
          : {
              run: () => Promise.resolve(),
              timeoutMs: () => script.start(t),
              failed: (_failure: EffectFailure, tokens: Taken) => script.fail(t, tokens),
              ...(t.spec.retry !== undefined && {
                retry: {
                  attempts: t.spec.retry.attempts,
                  backoff: () => script.retry(t),
                },
              }),
            }),
      },
      takes: t.takes.map(inputOf),
      reads: t.reads.filter(({ kind }) => kind === 'tokens' || kind === 'running'),
      alternatives: new Map(
        [...t.alternatives].map(([name, alternative]) => [
          name,
          {
            ...alternative,
            outputs: alternative.outputs.map((output) => outputOf(output, placeOf)),
          },
        ]),
      ),
    };
  });
  const byName = new Map(transitions.map((t) => [t.name, t]));
  const renewed = (
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
    initial: script.initial.map((token) => ({ ...token, place: placeOf(token.place) })),
    touched: renewed(net.touched),
    timedBy: renewed(net.timedBy),
  };
}

/** What a skeleton's transition returns so that it gives these tokens, by output. */
export function returnedFor(
  t: CompiledTransition,
  alternative: string,
  tokens: (output: CompiledOutput) => readonly SkeletonValue[],
): unknown {
  const of = t.alternatives.get(alternative);
  if (of === undefined) throw new RangeError(`"${t.name}" has no alternative "${alternative}"`);
  const values = Object.fromEntries(
    of.outputs.map((output) => [output.key, valueFor(output, tokens(output))]),
  );
  return alternative === '' || !of.grouped ? values : { [alternative]: values };
}

function valueFor({ output }: CompiledOutput, tokens: readonly SkeletonValue[]): unknown {
  if ('kind' in output || output.arc === 'optional') return tokens[0];
  return output.arc === 'upTo' || output.arc === 'each' ? tokens : [];
}

function keyAt(value: unknown, slot: number, script: Script): string {
  const keys = isObject(value) ? keysIn(value, script) : [];
  const key = keys[slot];
  if (typeof key !== 'string') throw script.broken();
  return key;
}

function keysIn(value: object, script: Script): readonly unknown[] {
  if ('keys' in value && Array.isArray(value.keys)) return value.keys;
  if ('firingId' in value) return script.keysOfFiring(String(value.firingId));
  // A fault that a script made carries the keys of its token in its message.
  return 'message' in value ? keysInMessage(String(value.message)) : [];
}

function keysInMessage(message: string): readonly unknown[] {
  try {
    const keys: unknown = JSON.parse(message);
    return Array.isArray(keys) ? keys : [];
  } catch {
    return [];
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function bare(place: AnyPlace): AnyPlace {
  const environment = place.kind === 'tokens';
  return { ...place, schema: anything, environment };
}

/** Lists and maps are not part of what is proved: nothing is written to them. */
function outputOf(
  { key, output, place }: CompiledOutput,
  placeOf: (place: AnyPlace) => AnyPlace,
): CompiledOutput {
  const own = placeOf(place);
  if ('kind' in output) return { key, output: own, place: own };
  if (output.arc === 'replacePrefix' || output.arc === 'truncate' || output.arc === 'put') {
    const list = listPlace(place.name, anything);
    return { key, output: append(list), place: list };
  }
  if (output.arc === 'append') return { key, output, place };
  return { key, output: { ...output, place: own }, place: own };
}
