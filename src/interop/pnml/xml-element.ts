import { omitUndefined } from '../../core/internal.ts';
import { SaxesParser } from 'saxes';
import { PnmlFormatError, shorten } from './pnml-errors.ts';
import type { PnmlLocation } from './pnml-errors.ts';
import type { LimitCheck } from './pnml-limits.ts';

/** An element of an XML document, without its prefix. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** The text directly inside the element, without the text of its children. */
  readonly text: string;
  readonly at: PnmlLocation;
}

interface OpenElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: OpenElement[];
  text: string;
  readonly at: PnmlLocation;
}

/** The contents of these elements have no meaning for a net, so they are not kept. */
const IGNORED: ReadonlySet<string> = new Set(['graphics', 'toolspecific']);

/**
 * Parses an XML document. It accepts no document type declaration, so a document can define no entities, neither
 * internal nor external ones. Drawings and contents for other tools are left out.
 * @throws PnmlFormatError if the document is not well-formed or has a document type declaration.
 * @throws PnmlLimitError if the document is larger, deeper, or has more elements than the limits allow.
 */
export function parseXmlDocument(text: string, limits: LimitCheck): XmlElement {
  const bytes = Buffer.byteLength(text);
  limits.atMost('bytes', bytes, `the document has ${bytes} bytes`);
  const parser = new SaxesParser({ xmlns: false });
  const open: OpenElement[] = [];
  let root: OpenElement | undefined;
  let elements = 0;
  /** The number of open elements from the first ignored one. */
  let ignored = 0;
  parser.on('error', ({ message }) => {
    throw new PnmlFormatError(
      `the document is not well-formed XML (line ${message.replace(':', ', column ').replace(/\.$/, '')}). Correct it.`,
    );
  });
  parser.on('doctype', () => {
    throw new PnmlFormatError(
      `the document has a document type declaration (line ${parser.line}). Remove <!DOCTYPE …>: PNML needs none.`,
    );
  });
  parser.on('opentag', ({ name: qualified, attributes }) => {
    const name = withoutPrefix(qualified);
    const values = new Map(Object.entries(attributes));
    const at = {
      element: name,
      line: parser.line,
      ...omitUndefined({ id: values.get('id') ?? open.at(-1)?.at.id }),
    };
    limits.atMost('elements', ++elements, `the document has more elements than that`, at);
    limits.atMost('depth', open.length + ignored + 1, `the elements are nested deeper`, at);
    if (ignored > 0 || IGNORED.has(name)) {
      ignored++;
      return;
    }
    const element: OpenElement = { name, attributes: values, children: [], text: '', at };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  parser.on('closetag', () => {
    if (ignored > 0) ignored--;
    else open.pop();
  });
  const addText = (part: string): void => {
    const element = open.at(-1);
    if (element !== undefined && ignored === 0) element.text += part;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.write(text).close();
  if (root === undefined)
    throw new PnmlFormatError('the document has no element. Pass a PNML document.');
  return root;
}

function withoutPrefix(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/**
 * Returns an attribute.
 * @throws PnmlFormatError if the element does not have it.
 */
export function readAttribute(element: XmlElement, name: string): string {
  const value = element.attributes.get(name);
  if (value !== undefined && value !== '') return value;
  throw new PnmlFormatError(`the attribute \`${name}\` is missing. Add it.`, element.at);
}

/** Lists the children of this name. */
export function childrenNamed(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

/**
 * Returns the child of this name, or undefined if there is none.
 * @throws PnmlFormatError if there are several.
 */
export function optionalChild(element: XmlElement, name: string): XmlElement | undefined {
  const [child, second] = childrenNamed(element, name);
  if (second === undefined) return child;
  throw new PnmlFormatError(`there are several <${name}> elements. Keep one.`, element.at);
}

/**
 * Returns the one child of this name.
 * @throws PnmlFormatError if there is none, or several.
 */
export function onlyChild(element: XmlElement, name: string): XmlElement {
  const child = optionalChild(element, name);
  if (child !== undefined) return child;
  throw new PnmlFormatError(`the element <${name}> is missing. Add it.`, element.at);
}

/**
 * Returns an integer of the document.
 * @throws PnmlFormatError if the text is not an integer, or is less than `min`.
 */
export function parseInteger(text: string, min: number, at: PnmlLocation): number {
  const trimmed = text.trim();
  const value = /^[+-]?\d{1,15}$/.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (value >= min) return value;
  throw new PnmlFormatError(
    `the value is "${shorten(trimmed)}"; expected an integer of at least ${min}. Correct it.`,
    at,
  );
}
