import { UnknownNameError } from '../properties/verify-errors.ts';
import type { ExpandedNet } from './expand.ts';

/** The index of the transition that begins, or of the place that receives a token. */
export type NamedEvent =
  | { readonly transition: number; readonly place?: undefined }
  | { readonly place: number; readonly transition?: undefined };

/**
 * Returns the index of a place.
 * @throws UnknownNameError if the net has no such place.
 */
export function findPlace({ net, placeIndex }: ExpandedNet, name: string): number {
  const index = placeIndex.get(name);
  if (index !== undefined) return index;
  throw new UnknownNameError(net.name, `place "${name}"`, [...placeIndex.keys()]);
}

/**
 * Returns the index of a transition.
 * @throws UnknownNameError if the net has no such transition.
 */
export function findTransition({ net }: ExpandedNet, name: string): number {
  const t = net.byName.get(name);
  if (t !== undefined) return t.index;
  throw new UnknownNameError(net.name, `transition "${name}"`, [...net.byName.keys()]);
}

/**
 * Returns the transition or the place that an event names.
 * @throws UnknownNameError if the net has neither.
 */
export function findEvent({ net, placeIndex }: ExpandedNet, name: string): NamedEvent {
  const t = net.byName.get(name);
  if (t !== undefined) return { transition: t.index };
  const place = placeIndex.get(name);
  if (place !== undefined) return { place };
  throw new UnknownNameError(net.name, `transition or place "${name}"`, [
    ...net.byName.keys(),
    ...placeIndex.keys(),
  ]);
}
