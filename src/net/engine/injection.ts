import type { Json } from '../../core/index.ts';
import type { CompiledNet } from '../build/compile.ts';
import { UnknownPlaceError } from '../language/net-errors.ts';
import type { AnyPlace } from '../language/place.ts';
import { parseTokenValue } from '../language/parse-token-value.ts';

/**
 * Validates a value for injection, without changing the net. Returns the value as the net would store it.
 * @throws UnknownPlaceError if the net has no environment place of this name.
 * @throws TokenSchemaError if the value does not match the schema of the place.
 */
export function checkInjection(net: CompiledNet, place: string, value: unknown): Json {
  return parseTokenValue(environmentPlace(net, place), value);
}

/** Returns the environment place of this name. @throws UnknownPlaceError if the net has none. */
export function environmentPlace(net: CompiledNet, place: string): AnyPlace {
  const target = net.places.get(place);
  if (target?.environment === true) return target;
  const known = [...net.places.values()].filter(({ environment }) => environment);
  throw new UnknownPlaceError(
    net.name,
    place,
    known.map(({ name }) => name),
  );
}
