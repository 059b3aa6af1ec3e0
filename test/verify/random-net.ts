/** Generates small nets with every kind of arc, dense enough for the arcs to interact. */
import * as z from 'zod';
import {
  all,
  allOf,
  each,
  many,
  matching,
  oneOf,
  optional,
  upTo,
} from '../../src/net/language/arcs.ts';
import type { InputArc, Inputs, OutputArc, Outputs } from '../../src/net/language/arcs.ts';
import { compile } from '../../src/net/build/compile.ts';
import type { CompiledNet } from '../../src/net/build/compile.ts';
import { faultPlace } from '../../src/net/language/fault.ts';
import { NetBuildError } from '../../src/net/language/net-errors.ts';
import { initialToken, net } from '../../src/net/language/net.ts';
import { outlet, place } from '../../src/net/language/place.ts';
import type { AnyPlace, Outlet, TokenPlace } from '../../src/net/language/place.ts';
import { effect, pure, running } from '../../src/net/language/transition.ts';
import type { Effect, Transition } from '../../src/net/language/transition.ts';
import {
  atMost,
  canFire,
  costAtMost,
  deadlockFree,
  eventOutBounded,
  eventually,
  eventuallyAnswered,
  joinedOrDeadLettered,
  mutualExclusion,
  neverFiresAfter,
  neverTakes,
  placeBound,
  precedes,
  unreachable,
} from '../../src/verify/properties/create-property.ts';
import type { SearchedProperty as Property } from '../../src/verify/properties/property.ts';
import type { NaiveBounds } from './naive-search.ts';
import { Random } from './random.ts';
import { widenNames } from './widen-names.ts';

export interface RandomNet {
  readonly net: CompiledNet;
  readonly bounds: NaiveBounds;
  readonly property: Property;
  /** The kinds of arcs and features of the net. */
  readonly features: ReadonlySet<Feature>;
}

export const features = [
  'inhibitor',
  'reset',
  'all',
  'weight',
  'keyed join',
  'upTo',
  'each',
  'running',
  'retry',
  'effect',
  'fault',
  'environment',
  'timed',
  'priority',
  'shutdown',
] as const;
export type Feature = (typeof features)[number];

type Any = TokenPlace;

const anyValue = z.unknown();

/**
 * `small`: numbers up to 2, so that a naive search visits all states. `large`: also limits, weights and numbers of
 * tokens above those that a view of the prover counts, and initial tokens whose key function throws.
 */
export type Size = 'small' | 'large';

/**
 * Returns the net of a seed. Undefined if the generated net does not build.
 * @param refuses true for transitions that take some inputs from outside whatever else the marking is
 */
export function randomNet(
  seed: number,
  size: Size = 'small',
  refuses = false,
): RandomNet | undefined {
  try {
    return new Making(new Random(seed), size).net(seed, refuses);
  } catch (error) {
    if (error instanceof NetBuildError) return undefined;
    throw error;
  }
}

class Making {
  readonly #random: Random;
  readonly #size: Size;
  readonly #features = new Set<Feature>();
  readonly #places: readonly Any[];
  readonly #outlet: Outlet;
  readonly #effects: Effect[] = [];
  /** The places that can have tokens so far. */
  readonly #live = new Set<Any>();

  constructor(random: Random, size: Size) {
    this.#random = random;
    this.#size = size;
    const count = 4 + random.below(3);
    const outside = random.chance(0.55) ? 1 + random.below(2) : 0;
    if (outside > 0) this.#features.add('environment');
    this.#places = Array.from({ length: count }, (_, index) =>
      place(`p${index}`, anyValue, { environment: index < outside }),
    );
    this.#outlet = outlet('out', anyValue);
  }

  net(seed: number, refuses: boolean): RandomNet {
    const random = this.#random;
    const initial = random
      .some(this.#places, 1 + random.below(3))
      .map((one) =>
        initialToken(
          one,
          { keys: this.#isLarge(0.1) ? [] : ['i'] },
          this.#isLarge(0.5)
            ? random.pick([3, 4, 5, 6, 63, 64, 65, 70])
            : random.chance(0.35)
              ? 2
              : 1,
        ),
      );
    for (const one of this.#places)
      if (one.environment || initial.some((token) => token.place === one)) this.#live.add(one);
    const count = 3 + random.below(3);
    const transitions: Transition[] = [];
    for (let index = 0; index < count; index++) {
      const transition = this.#transition(`t${index}`, index);
      transitions.push(transition);
      if (transition.kind === 'effect') this.#effects.push(transition as Effect);
    }
    // Transitions that cancel come last, because they refer to the effects.
    if (this.#effects.length > 0 && random.chance(0.75)) transitions.push(this.#cancelling());
    if (refuses) transitions.push(...this.#refusals(new Random(seed + 5_000_011)));
    const ports = Object.fromEntries(this.#places.map((one) => [one.name, one]));
    const compiled = compile(
      net(`random-${seed}`, { in: ports, out: { out: this.#outlet }, initial, transitions }),
    );
    const faults = random.chance(0.4) ? 1 : 0;
    if (faults > 0) this.#features.add('fault');
    const shutdowns = this.#effects.length > 0 && random.chance(0.45);
    if (shutdowns) this.#features.add('shutdown');
    const environment = Object.fromEntries(
      this.#places
        .filter((one) => one.environment)
        .map((one) => [
          one.name,
          this.#isLarge(0.3) ? random.pick([3, 4, 5, 6]) : 1 + (random.chance(0.3) ? 1 : 0),
        ]),
    );
    return {
      net: compiled,
      bounds: {
        environment,
        upTo: this.#size === 'large' ? 70 : 2,
        attempts: 2,
        faults,
        shutdowns,
      },
      property: widenNames(
        this.#property(compiled),
        [...this.#live].map(({ name }) => name),
      ),
      features: this.#features,
    };
  }

  /** True with this probability if the net may have large numbers. */
  #isLarge(probability: number): boolean {
    return this.#size === 'large' && this.#random.chance(probability);
  }

  #transition(name: string, index: number): Transition {
    const random = this.#random;
    const isEffect = random.chance(0.35);
    const take = this.#takes();
    const taken = Object.values(take).map(nameOfInput);
    const rest = this.#places.filter((one) => !taken.includes(one.name));
    const read: Record<string, InputArc> = {};
    if (random.chance(0.15) && rest.length > 0) read['r'] = random.pick(rest);
    const unless: AnyPlace[] = [];
    const readable = Object.values(read).map(nameOfInput);
    if (random.chance(0.3)) {
      const free = rest.filter((one) => !readable.includes(one.name));
      if (free.length > 0) {
        unless.push(random.pick(free));
        this.#features.add('inhibitor');
      }
    }
    if (this.#effects.length > 0 && random.chance(0.12))
      unless.push(running(random.pick(this.#effects)));
    const reset: AnyPlace[] = [];
    if (random.chance(0.25)) {
      reset.push(random.pick(this.#places));
      this.#features.add('reset');
    }
    if (this.#effects.length > 0 && random.chance(0.1)) {
      reset.push(running(random.pick(this.#effects)));
      this.#features.add('running');
    }
    const priority = random.chance(0.3) ? random.pick([-1, 1, 2]) : 0;
    if (priority !== 0) this.#features.add('priority');
    const common = { take, read, unless, reset, priority, give: this.#gives(take, index) };
    if (isEffect) {
      this.#features.add('effect');
      const retry = random.chance(0.6);
      if (retry) this.#features.add('retry');
      const candidate: unknown = effect(name, {
        ...common,
        ...(retry && { retry: { attempts: 2, backoff: '1s..2s' as const } }),
        ...(random.chance(0.3) && {
          concurrency: this.#isLarge(0.6) ? 4 + random.below(3) : 1 + random.below(2),
        }),
        failed: () => unused(),
        run: () => Promise.reject(new Error('never run')),
      } as never);
      return candidate as Transition;
    }
    const timed = random.chance(0.2);
    if (timed) this.#features.add('timed');
    const candidate: unknown = pure(name, {
      ...common,
      ...(timed && { after: random.chance(0.5) ? 10 : () => 10 }),
      run: () => unused(),
    } as never);
    return candidate as Transition;
  }

  #takes(): Inputs {
    const random = this.#random;
    if (random.chance(0.22)) {
      const [a, b, c] = this.#fromLive(3);
      if (a !== undefined && b !== undefined) {
        this.#features.add('keyed join');
        const second = random.chance(0.25) ? all(b, { min: random.pick([0, 1] as const) }) : b;
        if (second !== b) this.#features.add('all');
        const keyed: Record<string, InputArc> = {
          a: matching(a, (value) => toKey(value, 0)),
          b: matching(second as typeof b, (value) => toKey(value, 0)),
        };
        return c !== undefined && random.chance(0.2) ? { ...keyed, c } : keyed;
      }
    }
    const inputs: Record<string, InputArc> = {};
    for (const [index, one] of this.#fromLive(1 + random.below(2)).entries()) {
      const kind = random.next();
      if (kind < 0.17) {
        this.#features.add('weight');
        inputs[`i${index}`] = many(this.#isLarge(0.6) ? random.pick([3, 4, 64, 65, 70]) : 2, one);
      } else if (kind < 0.45) {
        this.#features.add('all');
        inputs[`i${index}`] = all(one, { min: index === 0 ? 1 : 0 });
      } else inputs[`i${index}`] = one;
    }
    if (random.chance(0.06)) inputs['fault'] = faultPlace;
    return inputs;
  }

  /** Returns places that can usually have tokens. */
  #fromLive(count: number): Any[] {
    const random = this.#random;
    const others = this.#places.filter((one) => !this.#live.has(one));
    const live = random.some([...this.#live], count);
    return live.map((one) => (others.length > 0 && random.chance(0.1) ? random.pick(others) : one));
  }

  #gives(take: Inputs, index: number): ReturnType<typeof allOf> | ReturnType<typeof oneOf> {
    const random = this.#random;
    if (random.chance(0.3)) {
      const [a, b] = random.some(this.#places, 2);
      if (a !== undefined && b !== undefined) {
        this.#live.add(a).add(b);
        return oneOf({
          left: a,
          right: random.chance(0.5) ? b : allOf(this.#outputs(take, index)),
        });
      }
    }
    return allOf(this.#outputs(take, index));
  }

  #outputs(take: Inputs, index: number): Outputs {
    const random = this.#random;
    const outputs: Record<string, OutputArc> = {};
    // Usually to later places, so that most nets end.
    const onwards = this.#places.filter((_, at) => at > index || random.chance(0.3));
    for (const [at, one] of random.some(onwards, random.below(4)).entries()) {
      this.#live.add(one);
      const kind = random.next();
      if (kind < 0.2) {
        this.#features.add('upTo');
        outputs[`o${at}`] = upTo(this.#isLarge(0.5) ? random.pick([4, 5, 6, 70]) : 2, one);
      } else if (kind < 0.3) outputs[`o${at}`] = optional(one);
      else if (kind < 0.48) {
        const counted = Object.keys(take);
        const takenWhole = counted.filter((key) => isAll(take[key]));
        this.#features.add('each');
        outputs[`o${at}`] = each(random.pick(takenWhole.length > 0 ? takenWhole : counted), one);
      } else outputs[`o${at}`] = one;
    }
    if (random.chance(0.15)) outputs['out'] = this.#outlet;
    return outputs;
  }

  #cancelling(): Transition {
    const random = this.#random;
    this.#features.add('running');
    const victim = random.pick(this.#effects);
    const cause = random.pick(this.#places);
    const to = random.pick(this.#places);
    const flying = running(victim);
    const take: Inputs = {
      cause,
      flying: random.chance(0.5) ? all(flying, { min: random.pick([0, 1] as const) }) : flying,
    };
    this.#features.add('each');
    const candidate: unknown = pure('cancel', {
      take,
      priority: random.pick([0, 3]),
      give: allOf({ given: each('flying', to) }),
      run: () => unused(),
    } as never);
    return candidate as Transition;
  }

  #refusals(random: Random): readonly Transition[] {
    const inputs = this.#places.filter((one) => one.environment && random.chance(0.8));
    return inputs.map((input) => {
      const others = this.#places.filter((one) => one !== input);
      const read = random.chance(0.3) ? { r: all(random.pick(others), { min: 0 }) } : {};
      // Few of them need more, so that they may leave their input.
      const unless = random.chance(0.15) && !('r' in read) ? [random.pick(others)] : [];
      const given = random.chance(0.3) ? { o: random.pick(others) } : {};
      const candidate: unknown = pure(`refuse.${input.name}`, {
        take: { asked: input },
        read,
        unless,
        priority: random.pick([-1, -1, 0, 3]),
        give: allOf(given),
        run: () => unused(),
      } as never);
      return candidate as Transition;
    });
  }

  #property(net: CompiledNet): Property {
    const random = this.#random;
    const places = [...this.#live].map((one) => one.name);
    const counted = [...places, ...this.#effects.map((one) => `running(${one.name})`)];
    const transitions = net.transitions.map((t) => t.name);
    const any = (): string => random.pick(counted);
    const per = random.chance(0.4) ? { per: random.pick(places) } : {};
    const kind = random.below(19);
    switch (kind) {
      case 0:
      case 1:
        return deadlockFree([
          { marked: [], allowed: random.some([...counted, 'net.fault'], 3 + random.below(4)) },
        ]);
      case 2:
        return placeBound(random.some(counted, 1 + random.below(2)), 1 + random.below(3));
      case 3: {
        const two = random.some(counted, 2);
        return mutualExclusion(...two);
      }
      case 4:
        return unreachable({ [any()]: 1 + random.below(2) }, random.some(places, random.below(2)));
      case 5:
        return unreachable({ [any()]: 1, [any()]: 1 });
      case 6:
        return atMost(random.some(transitions, 1 + random.below(2)), 1 + random.below(2), per);
      case 7:
        return eventOutBounded(
          random.chance(0.3) && net.places.has('out') ? 'out' : random.pick(places),
          1 + random.below(3),
          per,
        );
      case 8:
        return neverFiresAfter(random.pick(transitions), random.pick([...places, ...transitions]), {
          ...(random.chance(0.3) && { until: random.pick([...transitions, ...places]) }),
        });
      case 9:
        return joinedOrDeadLettered({
          from: random.pick(places),
          joined: random.pick(places),
          deadLetters: random.chance(0.6) ? ['net.fault'] : [],
          through: random.some(places, random.below(2)),
        });
      case 10:
        return {
          kind: 'placeBound',
          name: 'each',
          places: counted,
          max: 1 + random.below(3),
          each: true,
        };
      case 11:
        return costAtMost(
          Object.fromEntries(random.some(transitions, 2).map((t) => [t, random.below(3)])),
          1 + random.below(4),
          per,
        );
      case 12:
        return precedes(
          random.pick([...places, ...transitions]),
          random.some(transitions, 1 + random.below(2)),
          { each: random.chance(0.5), ...per },
        );
      case 13:
        return {
          kind: 'neverStale',
          name: 'never stale',
          commits: random.some(transitions, 1 + random.below(2)),
          renewals: random.some(transitions, 1 + random.below(2)),
          work: random.some(counted, 1 + random.below(3)),
        };
      case 14:
      case 15:
        return eventually(random.some([...places, ...transitions], 1 + random.below(3)), {
          ...(random.chance(0.7) && { after: random.pick([...places, ...transitions]) }),
          ...(random.chance(0.5) && {
            resting: [{ marked: [], allowed: random.some(counted, 5) }],
          }),
        });
      case 16:
        return neverTakes(random.some(transitions, 1 + random.below(2)), {
          from: random.some(counted, 1 + random.below(2)),
        });
      case 17:
        return canFire(...random.some(transitions, 1 + random.below(2)));
      default:
        return eventuallyAnswered(
          random.pick([...places, ...transitions]),
          random.some([...places, ...transitions], 1 + random.below(3)),
          random.chance(0.5)
            ? { resting: [{ marked: random.some(counted, 1), allowed: random.some(counted, 4) }] }
            : {},
        );
    }
  }
}

function isAll(input: InputArc | undefined): boolean {
  if (input === undefined || 'kind' in input) return false;
  return input.arc === 'all' || (input.arc === 'matching' && isAll(input.of));
}

function nameOfInput(input: InputArc): string {
  if ('kind' in input) return input.name;
  return input.arc === 'matching' ? nameOfInput(input.of) : input.place.name;
}

function toKey(value: unknown, slot: number): string {
  const keys: unknown = Reflect.get(Object(value), 'keys');
  const key: unknown = Array.isArray(keys) ? keys[slot] : undefined;
  if (typeof key !== 'string') throw new Error('no key');
  return key;
}

function unused(): never {
  throw new Error('a proof runs no transition');
}
