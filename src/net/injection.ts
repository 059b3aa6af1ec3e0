import type { Json } from '../core/json.ts';
import type { CompiledNet } from './compile.ts';
import { UnknownPlaceError } from './net-errors.ts';
import type { AnyPlace } from './place.ts';
import { toTokenValue } from './schema.ts';

/**
 * The value as the net would take it, before anything is written down.
 * @throws UnknownPlaceError, TokenSchemaError
 */
export function checkInjection(net: CompiledNet, place: string, value: unknown): Json {
  return toTokenValue(environmentPlace(net, place), value);
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
