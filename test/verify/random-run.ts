/** Runs a net on the executor with random outcomes and times, and compares every marking with the explored ones. */
import { Executor } from '../../src/net/engine/executor.ts';
import type { CompiledNet, CompiledTransition } from '../../src/net/build/compile.ts';
import { applyRecord } from '../../src/net/journal/apply-record.ts';
import { emptyMarking } from '../../src/net/journal/marking.ts';
import type { Firing, Marking, Token } from '../../src/net/journal/marking.ts';
import { initialToken } from '../../src/net/language/net.ts';
import { expand } from '../../src/verify/system/expand.ts';
import { reachableMarkings, encodeMarking } from '../../src/verify/search/search.ts';
import { toReturnValue, createSkeleton } from '../../src/verify/replay/skeleton.ts';
import type { SkeletonScript, SkeletonValue } from '../../src/verify/replay/skeleton.ts';
import { TransitionSystem } from '../../src/verify/system/transition-system.ts';
import type { NaiveBounds } from './naive-search.ts';
import { Random } from './random.ts';

export interface RunResult {
  /** The number of checked markings. */
  readonly markings: number;
  /** A marking that the executor reached and the search did not. */
  readonly outside: readonly string[];
}

/** A settling with more firings than this is assumed to be endless. The run ends there. */
const ENDLESS = 300;

/** Returns undefined if the net has too many states to explore. */
export function runAtRandom(
  net: CompiledNet,
  bounds: NaiveBounds,
  runs: number,
  seed: number,
  mostStates = 1_000,
): RunResult | undefined {
  const steps = new TransitionSystem(expand(net, bounds), 'unordered');
  const explored = reachableMarkings(steps, { states: mostStates });
  if (explored === undefined) return undefined;
  let markings = 0;
  const outside: string[] = [];
  for (let run = 0; run < runs; run++) {
    const result = new Run(net, bounds, steps, new Random(seed * 1000 + run)).go();
    for (const [markingText, text] of result) {
      markings++;
      if (!explored.has(markingText)) outside.push(text);
    }
  }
  return { markings, outside };
}

class Run {
  readonly #net: CompiledNet;
  readonly #script: SkeletonScript;
  readonly #skeleton: CompiledNet;
  readonly #steps: TransitionSystem;
  readonly #random: Random;
  readonly #closes: boolean;
  readonly #outside: Map<string, number>;
  readonly #upTo: number;
  readonly #firingKeys = new Map<string, (string | null)[]>();
  readonly #shadow = emptyMarking();
  #faults: number;
  #firings = 0;
  #now = 0;
  #executor: Executor;

  constructor(net: CompiledNet, bounds: NaiveBounds, steps: TransitionSystem, random: Random) {
    this.#net = net;
    this.#steps = steps;
    this.#random = random;
    this.#faults = bounds.faults;
    this.#upTo = bounds.upTo;
    this.#closes = bounds.shutdowns;
    this.#outside = new Map(Object.entries(bounds.environment));
    this.#script = this.#scripted();
    this.#skeleton = createSkeleton(net, this.#script);
    this.#executor = this.#open(emptyMarking());
  }

  /** Returns every marking of one run, with the steps before it. */
  go(): Map<string, string> {
    const seen = new Map<string, string>();
    this.#executor.begin(this.#now);
    for (let round = 0; round < 25; round++) {
      if (this.#random.chance(0.1) && !this.#crash(seen)) break;
      for (let inputs = this.#random.below(4); inputs > 0; inputs--) this.#input();
      if (this.#closes && this.#random.chance(0.1) && !this.#close(seen)) break;
      this.#now += this.#random.below(60);
      this.#executor.settle(this.#now);
      if (!this.#note(seen)) break;
    }
    return seen;
  }

  #open(marking: Marking): Executor {
    return new Executor(this.#skeleton, marking, { toFiringId: String });
  }

  #input(): void {
    const flying = [...this.#executor.marking.firings.values()].filter(
      (firing) => firing.retryAt === undefined,
    );
    const places = [...this.#outside]
      .filter(([, remaining]) => remaining > 0)
      .map(([place]) => place);
    if (flying.length > 0 && (places.length === 0 || this.#random.chance(0.6))) {
      this.#finish(this.#random.pick(flying));
    } else if (places.length > 0) {
      const place = this.#random.pick(places);
      this.#outside.set(place, (this.#outside.get(place) ?? 0) - 1);
      this.#executor.inject(place, this.#value(place), this.#now);
    }
  }

  #finish({ id: firing, attempt, t, inputs }: Firing): void {
    const transition = this.#net.byName.get(t);
    if (transition === undefined) throw new Error(`no ${t}`);
    const taken = (key: string): number =>
      inputs.get(transition.takes.find((input) => input.key === key)?.place ?? '')?.length ?? 0;
    const result = this.#random.chance(0.3)
      ? { ok: false as const, kind: 'error' as const, error: new Error('[]') }
      : { ok: true as const, value: this.#given(transition, taken) };
    this.#executor.finish(firing, attempt, result, this.#now, t);
  }

  /** Continues from the committed records under the next owner. */
  #crash(seen: Map<string, string>): boolean {
    if (!this.#note(seen)) return false;
    this.#executor = this.#open(this.#executor.marking);
    this.#executor.recover(this.#now);
    return true;
  }

  #close(seen: Map<string, string>): boolean {
    this.#executor.drain();
    for (let rounds = this.#random.below(3); rounds > 0; rounds--) {
      this.#input();
      this.#executor.settle(this.#now);
    }
    this.#executor.shutDown(this.#now);
    this.#executor.settle(this.#now);
    if (!this.#note(seen)) return false;
    this.#executor = this.#open(this.#executor.marking);
    return true;
  }

  /** Follows the records one by one: what lies between two of them is a marking, too. False when it ran away. */
  #note(seen: Map<string, string>): boolean {
    const { records } = this.#executor.takeSettled();
    if (this.#firings > ENDLESS) return false;
    this.#firings = 0;
    for (const record of records) {
      applyRecord(this.#shadow, record);
      const markingText = this.#word(this.#shadow);
      if (!seen.has(markingText))
        seen.set(markingText, `${JSON.stringify(record)} → ${describe(this.#shadow)}`);
    }
    return true;
  }

  #scripted(): SkeletonScript {
    return {
      fire: (t, tokens) => {
        this.#maybeFault();
        return this.#given(t, (key) => countTaken(tokens[key]));
      },
      start: () => {
        this.#maybeFault();
        return this.#random.chance(0.2) ? this.#random.below(50) : 1e9;
      },
      fail: (t, tokens) => {
        this.#maybeFault();
        return this.#given(t, (key) => countTaken(tokens[key]));
      },
      retry: () => (this.#random.chance(0.7) ? this.#random.below(80) : undefined),
      firingKeys: (firingId) => {
        const known = this.#firingKeys.get(firingId);
        if (known !== undefined) return known;
        const keys = Array.from({ length: 4 }, () => this.#random.pick(['a', 'b']));
        this.#firingKeys.set(firingId, keys);
        return keys;
      },
      brokenKeyError: () => new Error('[]'),
      initial: this.#net.initial.map((token) =>
        initialToken(
          token.place,
          this.#keyed(token.place.name, () => 'i'),
          token.times,
        ),
      ),
    };
  }

  #maybeFault(): void {
    if (++this.#firings > ENDLESS) throw new Error('[]');
    if (this.#faults === 0 || this.#random.chance(0.8)) return;
    this.#faults--;
    throw new Error('[]');
  }

  #given(t: CompiledTransition, taken: (key: string) => number): unknown {
    const alternative = this.#random.pick([...t.alternatives.keys()]);
    return toReturnValue(t, alternative, ({ output, place }) => {
      const tokens =
        output.arc === 'one'
          ? 1
          : output.arc === 'upTo'
            ? this.#random.below(Math.min(output.max, this.#upTo) + 1)
            : output.arc === 'optional'
              ? this.#random.below(2)
              : output.arc === 'each'
                ? taken(output.input)
                : 0;
      return Array.from({ length: tokens }, () => this.#value(place.name));
    });
  }

  #value(place: string): SkeletonValue {
    const value = this.#keyed(place, () => {
      if (this.#faults > 0 && this.#random.chance(0.1)) {
        this.#faults--;
        return null;
      }
      return this.#random.pick(['a', 'b', 'i']);
    });
    const after: Record<string, number> = {};
    for (const t of this.#net.timedBy.get(place) ?? [])
      if (typeof t.spec.after === 'number' || this.#random.chance(0.8))
        after[t.name] = this.#random.below(100);
    return { ...value, after };
  }

  #keyed(place: string, key: () => string | null): SkeletonValue {
    return { keys: this.#steps.net.keys.getKeyFunctions(place).map(key) };
  }

  #word(marking: Marking): string {
    const { net, tokenClasses: alphabet } = this.#steps;
    const names: Map<string, number>[] = Array.from({ length: net.keys.domains }, () => new Map());
    const named = (place: string, keys: readonly (string | null)[]): number[] =>
      net.keys.getDomains(place).map((domain, slot) => {
        const key = keys[slot] ?? null;
        if (key === null) return -1;
        const inDomain = names[domain] ?? new Map<string, number>();
        const name = inDomain.get(key) ?? inDomain.size;
        inDomain.set(key, name);
        return name;
      });
    const codes: number[] = [];
    const getIndex = (place: string): number => net.placeIndex.get(place) ?? -1;
    for (const [place, tokens] of marking.tokens) {
      for (const token of tokens)
        codes.push(
          alphabet.codeFor({
            place: getIndex(place),
            attemptState: 0,
            inputCounts: [],
            names: named(place, listKeys(token)),
            color: 0,
          }),
        );
    }
    for (const firing of marking.firings.values()) {
      const place = `running(${firing.t})`;
      const t = net.transitions.find(({ running }) => running === getIndex(place));
      const inputCounts = (t?.remembered ?? []).map((input) => {
        const from = this.#net.byName.get(firing.t)?.takes[input]?.place ?? '';
        return firing.inputs.get(from)?.length ?? 0;
      });
      const keys = this.#script.firingKeys(String(firing.id));
      codes.push(
        alphabet.codeFor({
          place: getIndex(place),
          attemptState: 0,
          inputCounts,
          names: named(place, keys),
          color: 0,
        }),
      );
    }
    return encodeMarking(this.#steps, codes);
  }
}

function countTaken(taken: unknown): number {
  return Array.isArray(taken) ? taken.length : 1;
}

function listKeys({ value }: Token): readonly (string | null)[] {
  const keys: unknown = Reflect.get(Object(value), 'keys');
  return Array.isArray(keys) ? keys : [];
}

function describe(marking: Marking): string {
  const tokens = [...marking.tokens].map(([place, held]) => `${held.length} ${place}`);
  return [...tokens, ...[...marking.firings.values()].map(({ t }) => `running(${t})`)].join(', ');
}
