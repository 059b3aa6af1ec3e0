import { all, allOf, many, matching, oneOf, upTo } from '../../net/index.ts';
import type { AnyPlace, EffectFailure, Transition } from '../../net/index.ts';
import type { Input, Output } from '../../net/arcs.ts';
import { branchesOf, timeoutOf } from './branches.ts';
import type { Branch } from './branches.ts';
import type { Libpetri } from './load-libpetri.ts';
import { contextFor, givenIn, runNow } from './run-action.ts';
import type { Given, Values } from './run-action.ts';
import type { In, Transition as LibpetriTransition } from 'libpetri';

export interface ImportedAs {
  readonly lp: Libpetri;
  readonly placeNamed: (name: string) => AnyPlace;
  readonly isSync: boolean;
  /** Most tokens an action gives at once, by place; exactly one where nothing is said. */
  readonly most: Readonly<Record<string, number>>;
}

/** Where an imported effect's failure goes: nothing takes it by itself. */
export function failedName(transition: string): string {
  return `${transition}.failed`;
}

/** A libpetri transition as ours; what cannot be was refused before. */
export function importTransition(t: LibpetriTransition, as: ImportedAs): Transition {
  const { placeNamed } = as;
  const outcome = outcomesOf(t, as);
  const common = {
    name: t.name,
    take: Object.fromEntries(
      t.inputSpecs.map((input) => [input.place.name, inputOf(t, input, placeNamed)]),
    ),
    read: Object.fromEntries(t.reads.map(({ place }) => [place.name, all(placeNamed(place.name))])),
    unless: t.inhibitors.map(({ place }) => placeNamed(place.name)),
    reset: t.resets.map(({ place }) => placeNamed(place.name)),
    priority: t.priority,
  };
  if (as.isSync) return { ...common, ...pureRun(t, as, outcome) };
  return { ...common, ...effectRun(t, as, outcome) };
}

function pureRun(
  t: LibpetriTransition,
  { lp }: ImportedAs,
  outcome: Outcomes,
): Pick<Transition, 'kind' | 'give' | 'run' | 'after'> {
  const { timing } = t;
  return {
    kind: 'pure',
    give:
      outcome.alternatives.length === 1
        ? allOf(outcome.alternatives[0]?.[1] ?? {})
        : alternatives(outcome, {}),
    ...(timing.type === 'delayed' && { after: timing.afterMs }),
    ...(timing.type === 'exact' && { after: timing.atMs }),
    run: (values: Values, { firingId }: { readonly firingId: string }) => {
      const returned = outcome.returned(runNow(t, contextFor(lp, t, values, firingId)));
      return outcome.alternatives.length === 1 ? Object.values(returned)[0] : returned;
    },
  };
}

function effectRun(
  t: LibpetriTransition,
  { lp, placeNamed }: ImportedAs,
  outcome: Outcomes,
): Pick<Transition, 'kind' | 'give' | 'run' | 'failed' | 'timeoutMs'> {
  const timeout = timeoutOf(t.outputSpec);
  const failed = failedName(t.name);
  const late = timeout?.gives.map(({ place }) => [place.name, placeNamed(place.name)] as const);
  return {
    kind: 'effect',
    give: alternatives(outcome, {
      ...(late !== undefined && { timeout: Object.fromEntries(late) }),
      failed: { [failed]: placeNamed(failed) },
    }),
    ...(timeout !== undefined && { timeoutMs: timeout.afterMs }),
    failed: ({ kind, message, timedOut }: EffectFailure, values: Values) =>
      (kind === 'timeout' || timedOut === true) && timeout !== undefined
        ? {
            timeout: Object.fromEntries(
              timeout.gives.map(({ place, from }) => [
                place.name,
                from === undefined ? null : values[from],
              ]),
            ),
          }
        : { failed: { [failed]: { transition: t.name, kind, message, values } } },
    run: async (values: Values, { firingId }: { readonly firingId: string }) => {
      const context = contextFor(lp, t, values, firingId);
      await t.action(context);
      return outcome.returned(givenIn(context));
    },
  };
}

function inputOf(t: LibpetriTransition, input: In, placeNamed: (name: string) => AnyPlace): Input {
  const place = placeNamed(input.place.name);
  const key = t.matchSpec?.keys.find((one) => one.place.name === input.place.name)?.key;
  const plain =
    input.type === 'one' ? place : input.type === 'exactly' ? many(input.count, place) : all(place);
  if (key === undefined) return plain;
  const keyOf = (value: unknown): string => key(value);
  return 'kind' in plain ? matching(plain, keyOf) : matching(plain, keyOf);
}

type Outputs = Readonly<Record<string, Output>>;

interface Outcomes {
  readonly alternatives: readonly (readonly [name: string, outputs: Outputs])[];
  /** @throws Error when the action gave what it had not declared */
  readonly returned: (given: Given) => Readonly<Record<string, unknown>>;
}

function outcomesOf(t: LibpetriTransition, { placeNamed, most }: ImportedAs): Outcomes {
  const branches = branchesOf(t.outputSpec);
  const nameOf = (index: number): string => `branch ${index + 1}`;
  return {
    alternatives: branches.map(({ places }, index) => [
      nameOf(index),
      Object.fromEntries(
        places.map(({ name }) => {
          const max = most[name];
          return [name, max === undefined ? placeNamed(name) : upTo(max, placeNamed(name))];
        }),
      ),
    ]),
    returned: (given) => {
      const index = branches.findIndex((branch) => gave(branch, given));
      const branch = branches[index];
      if (branch === undefined)
        throw new Error(
          `"${t.name}" gave to ${[...given.keys()].join(', ') || 'nothing'}, which is none of its outcomes`,
        );
      const values = branch.places.map(
        ({ name }) => [name, valueIn(t, given, name, most)] as const,
      );
      return { [nameOf(index)]: Object.fromEntries(values) };
    },
  };
}

function gave({ places }: Branch, given: Given): boolean {
  return places.length === given.size && places.every(({ name }) => given.has(name));
}

function valueIn(
  t: LibpetriTransition,
  given: Given,
  place: string,
  most: ImportedAs['most'],
): unknown {
  const values = given.get(place) ?? [];
  if (most[place] !== undefined) return values;
  if (values.length > 1)
    throw new Error(
      `"${t.name}" gave ${values.length} tokens to "${place}": import it with { most: { "${place}": … } }`,
    );
  return values[0];
}

function alternatives(
  { alternatives: own }: Outcomes,
  more: Readonly<Record<string, Outputs>>,
): Transition['give'] {
  const named = [...own, ...Object.entries(more)].map(
    ([name, outputs]) => [name, allOf(outputs)] as const,
  );
  return oneOf(Object.fromEntries(named));
}
