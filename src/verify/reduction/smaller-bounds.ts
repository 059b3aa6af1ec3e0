import { readOwn } from '../../core/internal.ts';
import type { Bounds } from '../properties/bounds.ts';
import { expand } from '../system/expand.ts';
import type { ExpandedNet } from '../system/expand.ts';

/**
 * Returns the net within smaller bounds, smallest first: without faults, retries and shutdowns, and with at most 0 or 1
 * tokens of each `upTo` output. Each of its runs is a run within the bounds, so a violation of a safety property in it
 * is a violation. Most faults of a net need little: these searches find them before the search within the bounds does.
 */
export function listSmallerNets(net: ExpandedNet, bounds: Bounds): readonly ExpandedNet[] {
  const texts = new Set([describeSize(net)]);
  return [0, 1].flatMap((upTo) => {
    const smaller = expand(net.net, limitBounds(net, bounds, upTo), net.tracked.labels);
    const text = describeSize(smaller);
    if (texts.has(text)) return [];
    texts.add(text);
    return [smaller];
  });
}

/**
 * Returns the net without faults, retries and shutdowns, and with tokens of one environment place only, for each of these
 * places. Each of its runs is a run within the bounds: what fires in it can fire.
 */
export function listQuietNets(net: ExpandedNet, bounds: Bounds): readonly ExpandedNet[] {
  const sources = net.environment.map(({ place }) => net.places[place]?.name ?? '');
  return sources.map((source) => {
    const others = sources.filter((name) => name !== source).map((name) => [name, 0]);
    const environment = { ...bounds.environment, ...Object.fromEntries(others) };
    const quiet = { ...bounds, environment, faults: 0, attempts: 1, shutdowns: false };
    return expand(net.net, quiet, net.tracked.labels);
  });
}

function limitBounds({ net }: ExpandedNet, bounds: Bounds, most: number): Bounds {
  const { upTo = {} } = bounds;
  const limit = (place: string): number =>
    Math.min(most, typeof upTo === 'number' ? upTo : (readOwn(upTo, place) ?? most));
  return {
    ...bounds,
    upTo: Object.fromEntries([...net.places.keys()].map((place) => [place, limit(place)])),
    faults: 0,
    attempts: 1,
    shutdowns: false,
  };
}

/** Equal for nets whose bounds allow the same runs. */
function describeSize({ transitions, faults, bounds }: ExpandedNet): string {
  const outputs = transitions.flatMap((t) => t.alternatives.map((one) => one.outputs));
  const limits = outputs.flatMap((some) => some.map(({ max }) => max));
  return [faults, bounds.shutdowns, limits, transitions.map(({ attempts }) => attempts)].join();
}
