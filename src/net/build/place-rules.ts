import { faultPlace, unhandledFaultPlace } from '../language/fault.ts';
import { placesIn } from '../language/net.ts';
import type { Net } from '../language/net.ts';
import { isRunningPlaceName } from '../language/place-identity.ts';
import { areCompatible } from '../language/place.ts';
import type { AnyPlace } from '../language/place.ts';
import { parseTokenValue } from '../language/parse-token-value.ts';

/** All places with one name must share the kind, and the schema object or the declared version. */
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
        ? `place "${place.name}" has two schemas: share one place object, or declare the same { version } for both`
        : `place "${place.name}" is declared as a ${before.kind} place and as a ${place.kind} place: rename one`,
    );
  }
  return [...problems];
}

/** A place name must not be empty, and only a running place may be named like one. */
export function placesHaveNames(net: Net): readonly string[] {
  const invalid = placesIn(net).filter(
    ({ kind, name }) => name === '' || (kind !== 'running' && isRunningPlaceName(name)),
  );
  return unique(
    invalid.map(({ name }) => `a place has the name "${name}": use a name like area.thing`),
  );
}

/** Only a tokens place can hold injected and initial tokens; list, map and outlet places cannot. */
export function tokensHavePlaces(net: Net): readonly string[] {
  const notTokens = (place: AnyPlace): boolean => place.kind !== 'tokens';
  return unique([
    ...placesIn(net)
      .filter((place) => place.environment && notTokens(place))
      .map(
        ({ kind, name }) =>
          `the ${kind} place "${name}" cannot be an environment place: inject into a tokens place, and let a transition write the value to "${name}"`,
      ),
    ...net.initial.flatMap(({ place, value, times }) => {
      if (notTokens(place)) {
        return [
          `the ${place.kind} place "${place.name}" cannot have initial tokens: use a tokens place`,
        ];
      }
      if (!Number.isInteger(times) || times < 1) {
        return [
          `place "${place.name}" has ${times} initial tokens: use an integer of at least 1, or remove it`,
        ];
      }
      const problem = findTokenProblem(place, value);
      return problem === undefined ? [] : [`an initial token is invalid: ${problem}`];
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

/**
 * A schema must be synchronous, because a firing cannot wait. This probes a few values; a schema that is asynchronous
 * only for other values fails when such a token arrives.
 */
export function schemasAreSynchronous(net: Net): readonly string[] {
  return unique(
    placesIn(net)
      .filter(
        (place) =>
          place.schema !== undefined && probes.some((value) => isAsynchronous(place, value)),
      )
      .map(({ name }) => `the schema of place "${name}" is asynchronous: use a synchronous schema`),
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
