import { listAlternatives, listInputs } from '../../../src/net/language/arcs.ts';
import type { Net } from '../../../src/net/index.ts';
import type { ContestNet } from './contest-net.ts';

/**
 * Returns an imported net in the plainest form, for an exploration that does not use the prover.
 * @throws RangeError if it has other arcs than those that take and give tokens.
 */
export function toContestNet({ name, out, initial, transitions }: Net): ContestNet {
  const places: Record<string, number> = {};
  for (const place of Object.values(out)) places[place.name] = 0;
  for (const { place, times } of initial) places[place.name] = times;
  return {
    name,
    places,
    transitions: transitions.map((t) => {
      const [give] = listAlternatives(t.give);
      const others = [...Object.keys(t.read), ...t.unless, ...t.reset];
      if (others.length > 0 || give === undefined)
        throw new RangeError(`other arcs of "${t.name}"`);
      const take: Record<string, number> = {};
      for (const { place, count } of listInputs(t.take)) take[place.name] = count;
      const given: Record<string, number> = {};
      for (const { output } of give.outputs)
        given[output.place.name] = (given[output.place.name] ?? 0) + 1;
      return { name: t.name, take, give: given };
    }),
  };
}
