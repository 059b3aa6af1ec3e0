import { mapInputPlace, mapOutputPlace } from '../../src/net/language/arcs.ts';
import type { Alternatives, OutputSpec, Outputs } from '../../src/net/language/arcs.ts';
import { runningPlaceName } from '../../src/net/language/place-identity.ts';
import type { AnyPlace, Net, Transition } from '../../src/net/index.ts';

/** Returns a net as it was before its places and transitions got their present names. */
export function withFormerNames(net: Net): Net {
  const running = new Map(
    net.transitions.map((t) => [runningPlaceName(t.name), runningPlaceName(formerName(t))]),
  );
  const toFormer = (place: AnyPlace): AnyPlace => ({
    ...place,
    name: running.get(place.name) ?? formerName(place),
    formerNames: [],
  });
  const ports = (of: Net['in']): Net['in'] => mapValues(of, toFormer);
  return {
    ...net,
    in: ports(net.in),
    out: ports(net.out),
    initial: net.initial.map((token) => ({ ...token, place: toFormer(token.place) })),
    clusters: [],
    transitions: net.transitions.map((t): Transition => ({
      ...t,
      name: formerName(t),
      formerNames: [],
      take: mapValues(t.take, (input) => mapInputPlace(input, toFormer)),
      read: mapValues(t.read, (input) => mapInputPlace(input, toFormer)),
      unless: t.unless.map(toFormer),
      reset: t.reset.map(toFormer),
      give: mapGive(t.give, toFormer),
    })),
  };
}

function formerName({
  name,
  formerNames,
}: {
  readonly name: string;
  readonly formerNames: readonly string[];
}): string {
  return formerNames[0] ?? name;
}

function mapGive(give: OutputSpec, to: (place: AnyPlace) => AnyPlace): OutputSpec {
  const outputs = (of: Outputs): Outputs => mapValues(of, (output) => mapOutputPlace(output, to));
  if (give.give === 'allOf') return { give: 'allOf', outputs: outputs(give.outputs) };
  const alternatives: Alternatives = mapValues(give.alternatives, (alternative) =>
    'give' in alternative
      ? { give: 'allOf' as const, outputs: outputs(alternative.outputs) }
      : mapOutputPlace(alternative, to),
  );
  return { give: 'oneOf', alternatives };
}

function mapValues<A, B>(
  values: Readonly<Record<string, A>>,
  to: (value: A) => B,
): Readonly<Record<string, B>> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, to(value)]));
}
