import { omitUndefined } from '../../core/internal.ts';
import { all, allOf, many, matching, oneOf, OutputError, upTo } from '../../net/index.ts';
import type { AnyPlace, EffectFailure, Transition } from '../../net/index.ts';
import type { InputArc, OutputArc } from '../../net/internal.ts';
import { listBranches, findTimeout } from './output-branches.ts';
import type { Branch } from './output-branches.ts';
import type { Libpetri } from './load-libpetri.ts';
import { createActionContext, readActionOutput, runSyncAction } from './run-action.ts';
import type { ActionOutput, ActionInput } from './run-action.ts';
import type { In, Transition as LibpetriTransition } from 'libpetri';

export interface ImportContext {
  readonly lp: Libpetri;
  readonly placeNamed: (name: string) => AnyPlace;
  readonly isSync: boolean;
  /** By place: the most tokens an action produces at once. Default: exactly one. */
  readonly most: Readonly<Record<string, number>>;
}

/** The place that receives an imported effect's failures. No transition consumes it. */
export function failurePlaceName(transition: string): string {
  return `${transition}.failed`;
}

/** Imports a libpetri transition. Unsupported features were rejected before. */
export function importTransition(t: LibpetriTransition, context: ImportContext): Transition {
  const { placeNamed } = context;
  const outcome = importOutcomes(t, context);
  const common = {
    name: t.name,
    take: Object.fromEntries(
      t.inputSpecs.map((input) => [input.place.name, importInput(t, input, placeNamed)]),
    ),
    read: Object.fromEntries(t.reads.map(({ place }) => [place.name, all(placeNamed(place.name))])),
    unless: t.inhibitors.map(({ place }) => placeNamed(place.name)),
    reset: t.resets.map(({ place }) => placeNamed(place.name)),
    priority: t.priority,
    formerNames: [],
  };
  if (context.isSync) return { ...common, ...toPureRun(t, context, outcome) };
  return { ...common, ...toEffectRun(t, context, outcome) };
}

function toPureRun(
  t: LibpetriTransition,
  { lp }: ImportContext,
  outcome: ImportedOutcomes,
): Pick<Transition, 'kind' | 'give' | 'run' | 'after'> {
  const { timing } = t;
  return {
    kind: 'pure',
    give:
      outcome.alternatives.length === 1
        ? allOf(outcome.alternatives[0]?.[1] ?? {})
        : toAlternatives(outcome, {}),
    ...omitUndefined({
      after:
        timing.type === 'delayed'
          ? timing.afterMs
          : timing.type === 'exact'
            ? timing.atMs
            : undefined,
    }),
    run: (values: ActionInput, { firingId }: { readonly firingId: string }) => {
      const returned = outcome.toReturnValue(
        runSyncAction(t, createActionContext(lp, t, values, firingId)),
      );
      return outcome.alternatives.length === 1 ? Object.values(returned)[0] : returned;
    },
  };
}

function toEffectRun(
  t: LibpetriTransition,
  { lp, placeNamed }: ImportContext,
  outcome: ImportedOutcomes,
): Pick<Transition, 'kind' | 'give' | 'run' | 'failed' | 'timeoutMs'> {
  const timeout = findTimeout(t.outputSpec);
  const failed = failurePlaceName(t.name);
  const late = timeout?.outputs.map(({ place }) => [place.name, placeNamed(place.name)] as const);
  return {
    kind: 'effect',
    give: toAlternatives(outcome, {
      ...omitUndefined({ timeout: late === undefined ? undefined : Object.fromEntries(late) }),
      failed: { [failed]: placeNamed(failed) },
    }),
    ...omitUndefined({ timeoutMs: timeout?.afterMs }),
    failed: ({ kind, message, timedOut }: EffectFailure, values: ActionInput) =>
      (kind === 'timeout' || timedOut === true) && timeout !== undefined
        ? {
            timeout: Object.fromEntries(
              timeout.outputs.map(({ place, from }) => [
                place.name,
                from === undefined ? null : values[from],
              ]),
            ),
          }
        : { failed: { [failed]: { transition: t.name, kind, message, values } } },
    run: async (values: ActionInput, { firingId }: { readonly firingId: string }) => {
      const context = createActionContext(lp, t, values, firingId);
      await t.action(context);
      return outcome.toReturnValue(readActionOutput(context));
    },
  };
}

function importInput(
  t: LibpetriTransition,
  input: In,
  placeNamed: (name: string) => AnyPlace,
): InputArc {
  const place = placeNamed(input.place.name);
  const key = t.matchSpec?.keys.find(
    ({ place: keyPlace }) => keyPlace.name === input.place.name,
  )?.key;
  const plain =
    input.type === 'one' ? place : input.type === 'exactly' ? many(input.count, place) : all(place);
  if (key === undefined) return plain;
  const toKey = (value: unknown): string => key(value);
  return 'kind' in plain ? matching(plain, toKey) : matching(plain, toKey);
}

type Outputs = Readonly<Record<string, OutputArc>>;

interface ImportedOutcomes {
  readonly alternatives: readonly (readonly [name: string, outputs: Outputs])[];
  /** @throws Error if the action produced tokens that are none of its outcomes */
  readonly toReturnValue: (output: ActionOutput) => Readonly<Record<string, unknown>>;
}

function importOutcomes(
  t: LibpetriTransition,
  { placeNamed, most }: ImportContext,
): ImportedOutcomes {
  const branches = listBranches(t.outputSpec);
  const branchName = (index: number): string => `branch ${index + 1}`;
  return {
    alternatives: branches.map(({ places }, index) => [
      branchName(index),
      Object.fromEntries(
        places.map(({ name }) => {
          const max = most[name];
          return [name, max === undefined ? placeNamed(name) : upTo(max, placeNamed(name))];
        }),
      ),
    ]),
    toReturnValue: (output) => {
      const index = branches.findIndex((branch) => matchesBranch(branch, output));
      const branch = branches[index];
      if (branch === undefined)
        throw new OutputError(
          t.name,
          `gave to ${[...output.keys()].join(', ') || 'nothing'}, which is not one of its outcomes`,
        );
      const values = branch.places.map(
        ({ name }) => [name, readOutput(t, output, name, most)] as const,
      );
      return { [branchName(index)]: Object.fromEntries(values) };
    },
  };
}

function matchesBranch({ places }: Branch, output: ActionOutput): boolean {
  return places.length === output.size && places.every(({ name }) => output.has(name));
}

function readOutput(
  t: LibpetriTransition,
  output: ActionOutput,
  place: string,
  most: ImportContext['most'],
): unknown {
  const values = output.get(place) ?? [];
  if (most[place] !== undefined) return values;
  if (values.length > 1)
    throw new OutputError(
      t.name,
      `gave ${values.length} tokens to "${place}": import it with { most: { "${place}": … } }`,
    );
  return values[0];
}

function toAlternatives(
  { alternatives: own }: ImportedOutcomes,
  more: Readonly<Record<string, Outputs>>,
): Transition['give'] {
  const named = [...own, ...Object.entries(more)].map(
    ([name, outputs]) => [name, allOf(outputs)] as const,
  );
  return oneOf(Object.fromEntries(named));
}
