import { PnmlFormatError, PnmlUnsupportedError, shorten } from './pnml-errors.ts';
import { childrenNamed, optionalChild, readAttribute } from './xml-element.ts';
import type { XmlElement } from './xml-element.ts';

/** A node of the document: a place or a transition. */
export interface PnmlNode {
  readonly id: string;
  /** The text of its `<name>`. Default: its id. */
  readonly label: string;
  readonly element: XmlElement;
}

/** The kinds of arcs. All but `normal` are extensions that tools share. */
export type ArcKind = 'normal' | 'inhibitor' | 'reset' | 'read';

/** An arc between a place and a transition. */
export interface PnmlArc {
  readonly kind: ArcKind;
  readonly place: PnmlNode;
  readonly transition: PnmlNode;
  /** True if the arc leads from the place to the transition. */
  readonly isInput: boolean;
  readonly element: XmlElement;
}

/** The graph of a net, over all its pages. */
export interface PnmlGraph {
  readonly places: readonly PnmlNode[];
  readonly transitions: readonly PnmlNode[];
  readonly arcs: readonly PnmlArc[];
}

/** The elements inside each element that this import understands. Another element may change the meaning of the net. */
export interface KnownElements {
  readonly net: readonly string[];
  readonly place: readonly string[];
  readonly transition: readonly string[];
  readonly arc: readonly string[];
}

const PAGE = [
  'name',
  'page',
  'place',
  'transition',
  'arc',
  'referencePlace',
  'referenceTransition',
];

/**
 * Collects the nodes and arcs of all pages of a net.
 * @throws PnmlFormatError if an id is missing or used twice, or an arc does not lead from a place to a transition or back.
 * @throws PnmlUnsupportedError if an element is not known, or an arc is of an unknown kind.
 */
export function readGraph(net: XmlElement, known: KnownElements): PnmlGraph {
  refuseUnknown(net, [...known.net, ...PAGE]);
  const pages = listPages(net);
  const elements = pages.flatMap(({ children }) => children);
  const named = (name: string): readonly XmlElement[] =>
    elements.filter((element) => element.name === name);
  const ids = new Map<string, XmlElement>();
  for (const element of elements) {
    if (element.name === 'name' || element.name === 'declaration') continue;
    const id = readAttribute(element, 'id');
    if (ids.has(id)) {
      throw new PnmlFormatError(
        `the id is used twice. Give each element an id of its own.`,
        element.at,
      );
    }
    ids.set(id, element);
  }
  const toNodes = (name: 'place' | 'transition'): readonly PnmlNode[] =>
    named(name).map((element) => {
      refuseUnknown(element, ['name', ...known[name]]);
      const id = readAttribute(element, 'id');
      return { id, label: readLabel(element) ?? id, element };
    });
  const places = toNodes('place');
  const transitions = toNodes('transition');
  const references = new Map(
    [...named('referencePlace'), ...named('referenceTransition')].map((element) => {
      refuseUnknown(element, ['name']);
      return [readAttribute(element, 'id'), element];
    }),
  );
  const placesById = new Map(places.map((place) => [place.id, place]));
  const transitionsById = new Map(transitions.map((t) => [t.id, t]));
  const arcs = named('arc').map((element): PnmlArc => {
    refuseUnknown(element, ['name', 'type', ...known.arc]);
    const source = resolve(readAttribute(element, 'source'), element, references);
    const target = resolve(readAttribute(element, 'target'), element, references);
    const isInput = placesById.has(source);
    const place = placesById.get(isInput ? source : target);
    const transition = transitionsById.get(isInput ? target : source);
    if (place === undefined || transition === undefined) {
      throw new PnmlFormatError(
        `it leads from "${shorten(source)}" to "${shorten(target)}"; expected a place and a transition of the net. Correct \`source\` or \`target\`.`,
        element.at,
      );
    }
    const kind = readArcKind(element);
    if (kind !== 'normal' && !isInput) {
      throw new PnmlFormatError(
        `the arc has the type "${kind}" and leads to a place. Let it lead from the place to the transition.`,
        element.at,
      );
    }
    return { kind, place, transition, isInput, element };
  });
  return { places, transitions, arcs };
}

/** A net and its pages, from the outermost to the innermost. */
function listPages(net: XmlElement): readonly XmlElement[] {
  const pages = [net];
  for (const page of pages) {
    if (page !== net) refuseUnknown(page, PAGE);
    pages.push(...childrenNamed(page, 'page'));
  }
  return pages;
}

function readLabel(element: XmlElement): string | undefined {
  const name = optionalChild(element, 'name');
  const text = name && optionalChild(name, 'text')?.text.trim();
  return text === '' ? undefined : text;
}

/** Follows references to the node that they stand for. */
function resolve(id: string, arc: XmlElement, references: ReadonlyMap<string, XmlElement>): string {
  const seen = new Set<string>();
  let at = id;
  for (let next = references.get(at); next !== undefined; next = references.get(at)) {
    if (seen.has(at)) {
      throw new PnmlFormatError(
        `"${shorten(id)}" refers to itself. Let the reference name a place or a transition.`,
        arc.at,
      );
    }
    seen.add(at);
    at = readAttribute(next, 'ref');
  }
  return at;
}

/** Reads the kind as tools write it: an attribute of the arc, or a child `type` with a value or a text. */
function readArcKind(arc: XmlElement): ArcKind {
  const child = optionalChild(arc, 'type');
  const written =
    arc.attributes.get('type') ??
    child?.attributes.get('value') ??
    (child && optionalChild(child, 'text')?.text) ??
    'normal';
  const kind = written.trim();
  switch (kind) {
    case 'normal':
    case 'inhibitor':
    case 'reset':
    case 'read':
      return kind;
    case 'test':
      return 'read';
    default:
      throw new PnmlUnsupportedError(
        `the arc has the type "${shorten(kind)}"; expected normal, inhibitor, reset, read or test. Change the type.`,
        arc.at,
      );
  }
}

/** Refuses each element that could change the meaning of the net and is not understood. */
export function refuseUnknown(element: XmlElement, known: readonly string[]): void {
  const unknown = element.children.find(({ name }) => !known.includes(name));
  if (unknown === undefined) return;
  throw new PnmlUnsupportedError(
    `this element inside <${element.name}> has no counterpart. Remove it; known elements are ${known.join(', ')}, graphics and toolspecific.`,
    unknown.at,
  );
}
