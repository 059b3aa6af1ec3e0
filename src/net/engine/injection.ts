import type { Json } from '../../core/json/json.ts';
import type { CompiledNet } from '../build/compile.ts';
import { UnknownPlaceError } from '../language/net-errors.ts';
import type { AnyPlace } from '../language/place.ts';
import { parseTokenValue } from '../language/parse-token-value.ts';

/**
 * The value as the net would take it, before anything is written down.
 * @throws UnknownPlaceError, TokenSchemaError
 */
export function checkInjection(net: CompiledNet, place: string, value: unknown): Json {
  return parseTokenValue(environmentPlace(net, place), value);
}

/** @throws UnknownPlaceError when nothing from outside may enter there */
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
