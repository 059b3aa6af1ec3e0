import { listBranches, findTimeout } from './output-branches.ts';
import type { Refusal, RefusedFeature } from './libpetri-errors.ts';
import type { In, Out, Place as LibpetriPlace, Transition as LibpetriTransition } from 'libpetri';

/** The features of a transition that cannot be imported, by name. */
export function listRefusals(t: LibpetriTransition, isSync: boolean): readonly Refusal[] {
  const refuse = (feature: RefusedFeature, problem: string): Refusal => ({
    transition: t.name,
    feature,
    problem: `transition "${t.name}" ${problem}`,
  });
  return [
    ...t.inputSpecs
      .filter((input) => input.guard !== undefined)
      .map(({ place }) =>
        refuse(
          'guard',
          `has a guard on "${place.name}": use a separate transition with several outcomes instead`,
        ),
      ),
    ...t.inputSpecs.flatMap((input) =>
      input.type === 'at-least' && input.minimum > 1
        ? [
            refuse(
              'at-least',
              `needs at least ${input.minimum} tokens of "${input.place.name}" and takes all: take an exact number, or all`,
            ),
          ]
        : [],
    ),
    ...findDoubleArcs(t).map((problem) => refuse('double arc', problem)),
    ...findClockProblems(t, isSync).map(([feature, problem]) => refuse(feature, problem)),
    ...findTimeoutProblems(t, isSync).map((problem) => refuse('timeout', problem)),
    ...findMatchProblems(t).map((problem) => refuse('match', problem)),
  ];
}

function findDoubleArcs(t: LibpetriTransition): readonly string[] {
  const inputs = t.inputSpecs.map(({ place }) => place);
  const reads = t.reads.map(({ place }) => place);
  const isInput = ({ name }: LibpetriPlace<unknown>): boolean =>
    inputs.some((input) => input.name === name);
  const inhibitors = t.inhibitors.map(({ place }) => place);
  return [
    ...listRepeated(inputs).map(
      (name) => `takes from "${name}" twice: use one arc that takes exactly two`,
    ),
    ...listRepeated(reads).map((name) => `reads "${name}" twice`),
    ...reads.filter(isInput).map(({ name }) => `takes and reads "${name}": remove the read arc`),
    ...inhibitors
      .filter((place) => isInput(place) || reads.some(({ name }) => name === place.name))
      .map(({ name }) => `needs a token of "${name}" and needs it empty: it can never fire`),
    ...listBranches(t.outputSpec).flatMap(({ places }) =>
      listRepeated(places).map(
        (name) => `gives to "${name}" by two arcs: use one arc for both tokens`,
      ),
    ),
  ];
}

function findClockProblems(
  t: LibpetriTransition,
  isSync: boolean,
): readonly (readonly [RefusedFeature, string])[] {
  const { timing } = t;
  if (timing.type === 'immediate') return [];
  if (timing.type === 'deadline' || timing.type === 'window')
    return [
      [
        'deadline',
        `must fire by a ${timing.type}, which Petrichor does not have: let a timed transition take the token instead`,
      ],
    ];
  const [first, ...more] = t.inputSpecs;
  const only = more.length + t.reads.length + t.inhibitors.length === 0 && first?.type === 'one';
  return [
    ...(isSync
      ? []
      : [
          [
            'timed effect',
            'has a delay and an asynchronous action: delay a synchronous transition instead',
          ] as const,
        ]),
    // Here a clock belongs to a token, in libpetri to a transition. They agree if the transition
    // needs exactly one token.
    ...(only
      ? []
      : [
          [
            'clock',
            'has a delay and needs more than one token: delay a transition with one input instead',
          ] as const,
        ]),
  ];
}

function findTimeoutProblems(t: LibpetriTransition, isSync: boolean): readonly string[] {
  if (!t.hasActionTimeout()) return [];
  if (isSync) return ['has a timeout, but was declared synchronous'];
  return findTimeout(t.outputSpec) === undefined || countTimeouts(t.outputSpec) > 1
    ? ['has a timeout inside another outcome: make it one of the alternatives']
    : [];
}

function countTimeouts(out: Out | null): number {
  if (out === null) return 0;
  if (out.type === 'timeout') return 1 + countTimeouts(out.child);
  return out.type === 'and' || out.type === 'xor'
    ? out.children.reduce((sum, child) => sum + countTimeouts(child), 0)
    : 0;
}

function findMatchProblems({ matchSpec, inputSpecs }: LibpetriTransition): readonly string[] {
  const keys = matchSpec?.keys ?? [];
  const isTaken = ({ place }: { readonly place: LibpetriPlace<unknown> }): boolean =>
    inputSpecs.some((input: In) => input.place.name === place.name);
  return [
    ...keys
      .filter((key) => !isTaken(key))
      .map(({ place }) => `matches tokens of "${place.name}", which it does not take`),
    ...listRepeated(keys.map(({ place }) => place)).map((name) => `matches "${name}" by two keys`),
  ];
}

function listRepeated(places: readonly LibpetriPlace<unknown>[]): readonly string[] {
  const seen = new Set<string>();
  return [
    ...new Set(places.map(({ name }) => name).filter((name) => seen.has(name) || !seen.add(name))),
  ];
}
