import { UNLIMITED } from '../properties/bounds.ts';
import type { ExpandedNet, ExpandedTransition } from '../system/expand.ts';
import type { State } from '../system/state.ts';
import type { TokenClasses } from '../system/token-classes.ts';

/** A step of the relaxed net: it needs a token in each of some places, and gives tokens without taking any. */
interface RelaxedStep {
  readonly needs: readonly number[];
  readonly gives: readonly number[];
  /** The transition that begins with this step; -1 for none. */
  readonly begins: number;
  /** The index of an environment place; -1 for none. */
  readonly environment: number;
  readonly isFault: boolean;
}

const UNREACHED = -1;
const MARKED = -2;
/** More needs than a step has. */
const NEVER = 1_000_000_000;

/**
 * Estimates how far a state is from the firing of a transition: by the steps that lead to it if no token was ever used up
 * and nothing was inhibited.
 */
export class RelaxedDistance {
  readonly #tokenClasses: TokenClasses;
  readonly #steps: readonly RelaxedStep[];
  /** By place: the steps that need a token of it. */
  readonly #users: readonly (readonly number[])[];
  /** By transition: the step that begins it. */
  readonly #beginnings = new Map<number, number>();
  /** By place: the step that first gave it a token. */
  readonly #givenBy: Int32Array;
  readonly #missing: Int32Array;

  constructor(net: ExpandedNet, tokenClasses: TokenClasses) {
    this.#tokenClasses = tokenClasses;
    this.#steps = listSteps(net);
    const users: number[][] = net.places.map(() => []);
    this.#steps.forEach(({ needs, begins }, index) => {
      for (const place of needs) users[place]?.push(index);
      if (begins >= 0) this.#beginnings.set(begins, index);
    });
    this.#users = users;
    this.#givenBy = new Int32Array(net.places.length);
    this.#missing = new Int32Array(this.#steps.length);
  }

  /** Returns the transition of some that the fewest rounds of relaxed steps lead to. Undefined if none is reached. */
  findNearest(state: State, targets: ReadonlySet<number>): number | undefined {
    return this.#explore(state, (t) => targets.has(t));
  }

  /** Returns the number of relaxed steps to a firing of the transition. Undefined if no steps lead to it. */
  measure(state: State, target: number): number | undefined {
    if (this.#explore(state, (t) => t === target) === undefined) return undefined;
    const plan = new Set<number>();
    const open = [this.#beginnings.get(target) ?? -1];
    for (let step = open.pop(); step !== undefined; step = open.pop()) {
      if (plan.has(step)) continue;
      plan.add(step);
      for (const place of this.#steps[step]?.needs ?? []) {
        const before = this.#givenBy[place] ?? MARKED;
        if (before >= 0) open.push(before);
      }
    }
    return plan.size;
  }

  /** Takes relaxed steps, nearest first, up to the first that begins a wanted transition, and returns this transition. */
  #explore(
    { tokens, environment, faults }: State,
    isWanted: (t: number) => boolean,
  ): number | undefined {
    const steps = this.#steps;
    this.#givenBy.fill(UNREACHED);
    const open: number[] = [];
    steps.forEach((step, index) => {
      this.#missing[index] = step.needs.length;
      const isPossible =
        (step.environment < 0 || (environment[step.environment] ?? 0) > 0) &&
        (!step.isFault || faults === UNLIMITED || faults > 0);
      if (!isPossible) this.#missing[index] = NEVER;
      else if (step.needs.length === 0) open.push(index);
    });
    const reach = (place: number, by: number): void => {
      if (this.#givenBy[place] !== UNREACHED) return;
      this.#givenBy[place] = by;
      for (const user of this.#users[place] ?? []) {
        const left = (this.#missing[user] ?? 0) - 1;
        this.#missing[user] = left;
        if (left === 0) open.push(user);
      }
    };
    for (const code of tokens) reach(this.#tokenClasses.get(code).place, MARKED);
    for (let next = 0; next < open.length; next++) {
      const index = open[next] ?? -1;
      const step = steps[index];
      if (step === undefined) continue;
      if (step.begins >= 0 && isWanted(step.begins)) return step.begins;
      for (const place of step.gives) reach(place, index);
    }
    return undefined;
  }
}

function listSteps(net: ExpandedNet): readonly RelaxedStep[] {
  const none = { needs: [], begins: -1, environment: -1, isFault: false };
  return [
    ...net.transitions.flatMap((t) => listTransitionSteps(t)),
    ...net.environment.map(({ place }, environment) => ({ ...none, gives: [place], environment })),
    {
      ...none,
      gives: [net.fault, net.unhandledFault].filter((place) => place >= 0),
      isFault: true,
    },
  ];
}

function listTransitionSteps(t: ExpandedTransition): readonly RelaxedStep[] {
  if (t.timed === 'never') return [];
  const first = t.timed === 'no' ? [] : t.takes.slice(0, 1);
  const needed = [...t.takes, ...t.reads].filter(({ count }) => count > 0);
  const needs = [...new Set([...first, ...needed].map(({ place }) => place))];
  const outputs = t.alternatives.flatMap((one) => one.outputs);
  const gives = [...new Set(outputs.flatMap(({ place, max }) => (max > 0 ? [place] : [])))].filter(
    (place) => place >= 0,
  );
  const plain = { environment: -1, isFault: false };
  if (t.kind === 'pure') return [{ ...plain, needs, gives, begins: t.index }];
  return [
    { ...plain, needs, gives: [t.running], begins: t.index },
    { ...plain, needs: [t.running], gives, begins: -1 },
  ];
}
