import { net } from '../../net/index.ts';
import type { AnyPlace, Net } from '../../net/index.ts';

/**
 * The model step of text turns, for a session without a connection: while one is open or wanted, the live model answers.
 */
export function whileNotLinked(modelStep: Net, linkPlaces: readonly AnyPlace[]): Net {
  const ports = linkPlaces.filter(({ kind }) => kind !== 'running');
  return net(modelStep.name, {
    in: { ...modelStep.in, ...Object.fromEntries(ports.map((place) => [place.name, place])) },
    out: modelStep.out,
    transitions: modelStep.transitions.map((t) =>
      t.name === 'model.call' ? { ...t, unless: [...t.unless, ...linkPlaces] } : t,
    ),
  });
}
