import { faultPlace, unhandledFaultPlace } from '../language/fault.ts';
import { placesIn } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import { areCompatible } from '../language/place.ts';
import type { AnyPlace } from '../language/place.ts';
import { parseTokenValue } from '../language/parse-token-value.ts';

/** Places of one name hold the same: one schema object, or one declared version. */
export function placesAgree(net: Net): readonly string[] {
  const known = new Map<string, AnyPlace>(
    [faultPlace, unhandledFaultPlace].map((place) => [place.name, place]),
  );
  const problems = new Set<string>();
  for (const place of placesIn(net)) {
    const before = known.get(place.name);
    known.set(place.name, before ?? place);
    if (before === undefined || areCompatible(before, place)) continue;
    problems.add(
      before.kind === place.kind
        ? `place "${place.name}" has two schemas: share one place object, or give both the same { version }`
        : `place "${place.name}" is a ${before.kind} place here and a ${place.kind} place there`,
    );
  }
  return [...problems];
}

export function placesHaveNames(net: Net): readonly string[] {
  const odd = placesIn(net).filter(
    ({ kind, name }) => name === '' || (kind !== 'running' && name.startsWith('running(')),
  );
  return unique(odd.map(({ name }) => `a place may not be called "${name}": call it area.thing`));
}

/** A token has somewhere to be: a list, a map and an outlet hold none. */
export function tokensHavePlaces(net: Net): readonly string[] {
  const notTokens = (place: AnyPlace): boolean => place.kind !== 'tokens';
  return unique([
    ...placesIn(net)
      .filter((place) => place.environment && notTokens(place))
      .map(
        ({ kind, name }) =>
          `the ${kind} place "${name}" cannot be an environment place: let a transition take what enters and write it there`,
      ),
    ...net.initial.flatMap(({ place, value, times }) => {
      if (notTokens(place)) {
        return [`the ${place.kind} place "${place.name}" cannot begin with tokens`];
      }
      if (!Number.isInteger(times) || times < 1) {
        return [`place "${place.name}" begins with ${times} tokens: leave it out, or give it some`];
      }
      const problem = findTokenProblem(place, value);
      return problem === undefined ? [] : [`it cannot begin: ${problem}`];
    }),
  ]);
}

function findTokenProblem(place: AnyPlace, value: unknown): string | undefined {
  try {
    parseTokenValue(place, value);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A firing cannot wait for a schema. A schema that is asynchronous for some values only is found when one comes. */
export function schemasAreSynchronous(net: Net): readonly string[] {
  return unique(
    placesIn(net)
      .filter(
        (place) =>
          place.schema !== undefined && probes.some((value) => isAsynchronous(place, value)),
      )
      .map(
        ({ name }) => `the schema of place "${name}" is asynchronous: a firing cannot wait for it`,
      ),
  );
}

const probes: readonly unknown[] = [undefined, null, '', 0, false, {}, []];

function isAsynchronous({ schema }: AnyPlace, value: unknown): boolean {
  try {
    const result = schema?.['~standard'].validate(value);
    if (!(result instanceof Promise)) return false;
    result.catch(() => {});
    return true;
  } catch {
    return false;
  }
}

function unique(problems: readonly string[]): readonly string[] {
  return [...new Set(problems)];
}
