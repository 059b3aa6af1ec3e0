import { running } from '../net/index.ts';
import type { AnyPlace, Effect, Net, Place, PlaceKind, Ports } from '../net/index.ts';
import type { TurnPart } from './turn-part.ts';

/** The effects of a net, in flight. */
export function effectsIn(of: Net): readonly AnyPlace[] {
  return of.transitions
    .filter((t): t is Effect => t.kind === 'effect')
    .map((t: Effect) => running(t));
}

/** The net, what its turn part holds being ports. */
export function exposing(of: Net, { owed, dropped, budgets }: TurnPart): Net {
  const held: Ports = Object.fromEntries(
    [...owed, ...dropped, ...budgets]
      .filter(({ kind }) => kind !== 'running')
      .map((place) => [place.name, place]),
  );
  return { ...of, in: { ...of.in, ...held } };
}

/** A place that is the agent's alone. */
export function ownPlace<T, K extends PlaceKind>(
  agentName: string,
  place: Place<T, K>,
): Place<T, K> {
  const name =
    place.kind === 'running'
      ? place.name.replace('running(', `running(${agentName}/`)
      : `${agentName}/${place.name}`;
  return { ...place, name };
}

/** Of these places, those that are a stock one, or some agent's own. */
export function everywhere<T, K extends PlaceKind>(
  place: Place<T, K>,
  names: readonly string[],
): readonly Place<T, K>[] {
  return names
    .filter((name) => name === place.name || name.endsWith(`/${place.name}`))
    .map((name) => ({ ...place, name }));
}
