import { PetrichorError } from '../../core/internal.ts';

/** The place in a PNML document that an error is about. */
export interface PnmlLocation {
  /** The name of the XML element. */
  readonly element: string;
  /** Its id, or the id of the nearest element around it that has one. */
  readonly id?: string;
  /** From 1. */
  readonly line: number;
}

/** The limits of an import, by name. */
export type PnmlLimitName =
  | 'bytes'
  | 'depth'
  | 'elements'
  | 'colors'
  | 'steps'
  | 'places'
  | 'transitions'
  | 'arcs'
  | 'tokens'
  | 'weight';

/**
 * A document is not well-formed XML, has a document type declaration, or is not valid PNML.
 * @remedy Correct the element that the message names.
 */
export class PnmlFormatError extends PetrichorError {
  override readonly code = 'pnml_format' as const;
  readonly at: PnmlLocation | undefined;

  constructor(problem: string, at?: PnmlLocation) {
    super(`${describeLocation(at)}${problem}`);
    this.at = at;
  }
}

/**
 * A PNML document uses an element or a value that has a meaning and no counterpart in Petrichor. Nothing was imported.
 * @remedy Remove the element that the message names, or express it with the elements that the page on PNML lists.
 */
export class PnmlUnsupportedError extends PetrichorError {
  override readonly code = 'pnml_unsupported' as const;
  readonly at: PnmlLocation;

  constructor(problem: string, at: PnmlLocation) {
    super(`${describeLocation(at)}${problem}`);
    this.at = at;
  }
}

/**
 * A PNML document, or the place/transition net that it unfolds to, is larger than a limit of the import.
 * @remedy Import a smaller instance of the net, or raise the limit that the message names.
 */
export class PnmlLimitError extends PetrichorError {
  override readonly code = 'pnml_limit' as const;
  readonly limit: PnmlLimitName;
  readonly at: PnmlLocation | undefined;

  constructor(limit: PnmlLimitName, max: number, what: string, at?: PnmlLocation) {
    super(
      `${describeLocation(at)}${what}; the limit is ${max}. Raise the limit \`${limit}\`, or import a smaller net.`,
    );
    this.limit = limit;
    this.at = at;
  }
}

function describeLocation(at: PnmlLocation | undefined): string {
  if (at === undefined) return '';
  const id = at.id === undefined ? '' : ` id="${shorten(at.id)}"`;
  return `<${shorten(at.element)}${id}> in line ${at.line}: `;
}

/** Returns a value of the document, short enough for a message. */
export function shorten(value: string): string {
  return value.length > 80 ? `${value.slice(0, 80)}…` : value;
}
