/** Random nets whose tokens have labels, and properties that name labels. */
import { NetBuildError, compile, initialToken, net } from '../../src/net/index.ts';
import type { AnyPlace, CompiledNet, LabelRule, TokenPlace } from '../../src/net/index.ts';
import type { CompiledTransition } from '../../src/net/internal.ts';
import {
  atMost,
  eventOutBounded,
  eventually,
  neverFiresAfter,
  precedes,
} from '../../src/verify/index.ts';
import type { SearchedProperty } from '../../src/verify/properties/property.ts';
import { randomNet } from './random-net.ts';
import type { RandomNet } from './random-net.ts';
import { Random } from './random.ts';

const LABELS = ['a', 'b', 'c'];

/** Returns a random net with labels. Undefined if the net of the seed does not build or has no label to name. */
export function randomLabeledNet(seed: number): RandomNet | undefined {
  const plain = randomNet(seed);
  if (plain === undefined) return undefined;
  const random = new Random(seed + 1_000_003);
  const { transitions: before, places, initial, name } = plain.net;
  const tokenPlaces = [...places.values()].filter(
    (one) => one.kind === 'tokens' && !one.name.startsWith('net.'),
  );
  const labeled = new Set(
    random.some(tokenPlaces, 2 + random.below(tokenPlaces.length)).map((one) => one.name),
  );
  const toLabeled = (one: AnyPlace): AnyPlace =>
    labeled.has(one.name) ? { ...one, label: readLabel } : one;
  const ports = Object.fromEntries(tokenPlaces.map((one) => [one.name, toLabeled(one)]));
  const outlets = [...places.values()].filter(({ kind }) => kind === 'outlet');
  const transitions = before.map((t) => ({ ...t.spec, labels: randomRules(t, labeled, random) }));
  try {
    const compiled = compile(
      net(`${name}-labeled`, {
        in: ports,
        out: Object.fromEntries(outlets.map((one) => [one.name, one])),
        initial: initial.map((token) =>
          initialToken(
            toLabeled(token.place) as TokenPlace,
            { ...Object(token.value), label: random.pick([...LABELS, '*']) } as never,
            token.times,
          ),
        ),
        transitions,
      }),
    );
    const property = randomProperty(compiled, labeled, random);
    return property && { ...plain, net: compiled, property };
  } catch (error) {
    if (error instanceof NetBuildError) return undefined;
    throw error;
  }
}

function readLabel(token: unknown): string {
  return String(Reflect.get(Object(token), 'label'));
}

function randomRules(
  t: CompiledTransition,
  labeled: ReadonlySet<string>,
  random: Random,
): readonly LabelRule[] {
  const sources = t.takes.filter(({ mode, place: from }) => mode === 'one' && labeled.has(from));
  const usable = t.spec.kind === 'effect' ? sources.slice(0, 1) : sources;
  return [...t.alternatives].flatMap(([alternative, { outputs }]) =>
    outputs
      .filter(({ place: to }) => labeled.has(to.name))
      .flatMap(({ key: output }): LabelRule[] => {
        const rule = { output, ...(random.chance(0.5) && { alternative }) };
        return [
          ...(random.chance(0.5)
            ? [{ ...rule, only: random.some(LABELS, 1 + random.below(2)) }]
            : []),
          ...(usable.length > 0 && random.chance(0.5)
            ? [{ ...rule, as: random.pick(usable).key }]
            : []),
        ];
      }),
  );
}

function randomProperty(
  compiled: CompiledNet,
  labeled: ReadonlySet<string>,
  random: Random,
): SearchedProperty | undefined {
  const named = compiled.transitions.flatMap(({ spec }) =>
    (spec.labels ?? []).flatMap(({ only = [] }) => only),
  );
  const takers = compiled.transitions.filter((t) => t.takes.some((one) => labeled.has(one.place)));
  if (named.length === 0 || takers.length === 0) return undefined;
  const taker = (): string => `${random.pick(takers).name}(${random.pick(named)})`;
  const filled = (): string => `${random.pick([...labeled])}(${random.pick(named)})`;
  const event = (): string => (random.chance(0.5) ? taker() : filled());
  switch (random.below(6)) {
    case 0:
      return precedes(event(), [taker()], { each: random.chance(0.5) });
    case 1:
      return precedes(event(), [taker(), random.pick(takers).name]);
    case 2:
      return atMost([taker(), taker()], random.below(3));
    case 3:
      return eventOutBounded(filled(), random.below(3));
    case 4:
      return neverFiresAfter([taker()], event(), random.chance(0.4) ? { until: event() } : {});
    default:
      return eventually([event(), event()], random.chance(0.6) ? { after: event() } : {});
  }
}
