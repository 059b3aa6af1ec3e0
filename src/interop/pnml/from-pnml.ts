import { checkOptions, describeValue, optionTable } from '../../core/internal.ts';
import type { OptionTable } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { Net } from '../../net/index.ts';
import type { Bounds } from '../../verify/index.ts';
import { GRAMMAR } from './grammar.ts';
import { PnmlFormatError, PnmlUnsupportedError, shorten } from './pnml-errors.ts';
import { LIMIT_NAMES, LimitCheck } from './pnml-limits.ts';
import type { PnmlLimits } from './pnml-limits.ts';
import { readPtNet } from './read-pt-net.ts';
import { SkeletonBuilder } from './skeleton-builder.ts';
import { toNet } from './to-net.ts';
import { unfoldColoredNet } from './unfold.ts';
import { childrenNamed, parseXmlDocument, readAttribute } from './xml-element.ts';
import type { XmlElement } from './xml-element.ts';

/** Options of `fromPnml`. */
export interface FromPnmlOptions {
  /** The id of the net to import. Required if the document has several. */
  readonly net?: string;
  /**
   * Whether places and transitions are named by their id, or by the text of their `<name>`, which must then be unique.
   * Default: `id`.
   */
  readonly names?: 'id' | 'name';
  /** Limits of the document and of the net that it unfolds to. */
  readonly limits?: PnmlLimits;
}

/** The option names of `fromPnml`. */
export const FROM_PNML_OPTIONS: OptionTable = optionTable<FromPnmlOptions>('fromPnml', {
  net: true,
  names: true,
  limits: LIMIT_NAMES,
});

const NAMES: ReadonlySet<string> = new Set(['id', 'name']);

/** A net from a PNML document. */
export interface ImportedPnml {
  readonly net: Net;
  /**
   * The bounds for `prove`: the transitions of a PNML net do not fail, and it has no effects that the end of an owner
   * could interrupt.
   */
  readonly bounds: Bounds;
  /** By id of a place in the document: the names of its places in `net`, one for each color. */
  readonly places: ReadonlyMap<string, readonly string[]>;
  /** By id of a transition in the document: the names of its transitions in `net`. */
  readonly transitions: ReadonlyMap<string, readonly string[]>;
}

const COLORED: ReadonlySet<string> = new Set(['symmetricnet', 'pt-hlpng', 'highlevelnet']);

/**
 * Imports a place/transition net or a colored net with finite sorts from a PNML document (ISO/IEC 15909-2). A colored net
 * is unfolded: a place becomes `place[color]` for each color, a transition `transition[x=color]` for each assignment of
 * colors to its variables. The net can make every sequence of firings that the document describes: each transition has a
 * delay, so none takes precedence.
 * @throws PnmlFormatError if the document is not well-formed, has a document type declaration, or is not valid PNML.
 * @throws PnmlUnsupportedError if it uses an element or a value without a counterpart.
 * @throws PnmlLimitError if it exceeds a limit.
 * @throws UnknownFieldError if an option does not exist, InvalidInputError if its value is invalid.
 */
export function fromPnml(document: string, options: FromPnmlOptions = {}): ImportedPnml {
  checkOptions(FROM_PNML_OPTIONS, options);
  const { names = 'id' } = options;
  if (!NAMES.has(names))
    throw new InvalidInputError('names', `is ${describeValue(names)}; expected 'id' or 'name'.`);
  const limits = new LimitCheck(options.limits);
  const element = selectNet(parseXmlDocument(document, limits), options.net);
  const builder = new SkeletonBuilder(limits, names);
  const type = readAttribute(element, 'type');
  const grammar = type.startsWith(GRAMMAR) ? type.slice(GRAMMAR.length) : undefined;
  if (grammar === 'ptnet') readPtNet(element, builder);
  else if (grammar !== undefined && COLORED.has(grammar))
    unfoldColoredNet(element, builder, limits);
  else {
    throw new PnmlUnsupportedError(
      `the type is "${shorten(type)}"; expected ${GRAMMAR} followed by ptnet, ${[...COLORED].join(', ')}. Convert the net.`,
      element.at,
    );
  }
  const skeleton = builder.build(readAttribute(element, 'id'));
  return {
    net: toNet(skeleton),
    bounds: { faults: 0, shutdowns: false },
    places: skeleton.placesById,
    transitions: skeleton.transitionsById,
  };
}

function selectNet(root: XmlElement, id: string | undefined): XmlElement {
  if (root.name !== 'pnml')
    throw new PnmlFormatError(
      'the document does not begin with <pnml>. Pass a PNML document.',
      root.at,
    );
  const nets = childrenNamed(root, 'net');
  const ids = nets.map((net) => readAttribute(net, 'id'));
  const [only, second] = nets;
  const found = id === undefined && second === undefined ? only : nets[ids.indexOf(id ?? '')];
  if (found !== undefined) return found;
  const known = ids.length === 0 ? 'none' : ids.map(shorten).slice(0, 20).join(', ');
  throw new PnmlFormatError(
    id === undefined
      ? `the document has ${nets.length} nets (${known}); expected one. Name one with the option \`net\`.`
      : `the document has no net "${shorten(id)}". Its nets: ${known}.`,
    root.at,
  );
}
