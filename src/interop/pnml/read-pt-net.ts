import { PnmlFormatError } from './pnml-errors.ts';
import { readGraph, refuseUnknown } from './read-graph.ts';
import type { PnmlArc } from './read-graph.ts';
import type { SkeletonArc, SkeletonBuilder } from './skeleton-builder.ts';
import { onlyChild, optionalChild, parseInteger } from './xml-element.ts';
import type { XmlElement } from './xml-element.ts';

/** Reads a net of the type `ptnet`. */
export function readPtNet(net: XmlElement, builder: SkeletonBuilder): void {
  const { places, transitions, arcs } = readGraph(net, {
    net: [],
    place: ['initialMarking'],
    transition: [],
    arc: ['inscription'],
  });
  const names = new Map(
    places.map((place) => [place, builder.addPlace(place, '', readMarking(place.element))]),
  );
  const byTransition = Map.groupBy(arcs, ({ transition }) => transition);
  for (const transition of transitions) {
    const own = (byTransition.get(transition) ?? []).map((arc): SkeletonArc => {
      const place = names.get(arc.place) ?? arc.place.id;
      const { kind, isInput, element } = arc;
      return { kind, isInput, place, weight: readWeight(arc), at: element.at };
    });
    builder.addTransition(transition, '', own);
  }
}

function readMarking(place: XmlElement): number {
  const marking = optionalChild(place, 'initialMarking');
  return marking === undefined ? 0 : parseInteger(readText(marking), 0, marking.at);
}

function readWeight({ kind, element }: PnmlArc): number {
  const inscription = optionalChild(element, 'inscription');
  if (inscription === undefined) return 1;
  if (kind === 'reset') {
    throw new PnmlFormatError(
      'a reset arc empties its place and has no inscription. Remove the inscription.',
      inscription.at,
    );
  }
  return parseInteger(readText(inscription), 1, inscription.at);
}

function readText(label: XmlElement): string {
  refuseUnknown(label, ['text']);
  return onlyChild(label, 'text').text;
}
