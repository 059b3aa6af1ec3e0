import type { ModelRef, ProviderName, ScriptedError } from 'petrichor/models';
import type { WireTurn } from './wire-turn.ts';

/** One provider's way of talking, written from its public documentation. */
export interface WireFormat {
  readonly name: string;
  readonly provider: ProviderName;
  /** The variable under which the key of the real service is kept. */
  readonly keyVariable: string;
  /** How a model of this format is referred to, on a server at an address. */
  readonly ref: (baseUrl: string) => ModelRef;
  /** Whether a request is one of this format. */
  readonly accepts: (path: string) => boolean;
  readonly getKey: (headers: Readonly<Record<string, string | undefined>>) => string | undefined;
  readonly stream: (turn: WireTurn) => WireStream;
  /** The body of an HTTP error, and its status. */
  readonly failure: (error: ScriptedError) => { readonly status: number; readonly body: unknown };
  /** An error in the middle of a stream. */
  readonly failureFrame: (error: ScriptedError) => string;
  /** Why the provider would refuse the request, if it would. */
  readonly complaint: (body: Body) => string | undefined;
}

/** An answer as frames of server-sent events. */
export interface WireStream {
  /** Before anything of the answer. */
  readonly head: readonly string[];
  /** Thinking and text, one piece each. */
  readonly deltas: readonly string[];
  /** The calls, in pieces. */
  readonly calls: readonly string[];
  /** What says that the answer is over. */
  readonly tail: readonly string[];
}

/** A parsed body of JSON, of which nothing is known. */
export type Body = Readonly<Record<string, unknown>>;

export function frame(data: unknown, event?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

/** The pieces in which a turn's text comes. */
export function textPieces({ text = '', deltas }: WireTurn): readonly string[] {
  if (typeof deltas === 'object') return deltas;
  return text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? [];
}

/** A call's arguments as the model writes them, cut in two. */
export function argsPieces(call: {
  readonly args?: object;
  readonly malformedArgs?: string;
}): readonly string[] {
  const text = call.malformedArgs ?? (call.args === undefined ? '' : JSON.stringify(call.args));
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '');
}

export function toList(value: unknown): readonly Body[] {
  return Array.isArray(value) ? value.map(asBody) : [];
}

export function asBody(value: unknown): Body {
  return typeof value === 'object' && value !== null ? (value as Body) : {};
}

export const STATUS: Readonly<Record<ScriptedError['kind'], number>> = {
  rate_limit: 429,
  overloaded: 529,
  server: 500,
  auth: 401,
  not_found: 404,
  bad_request: 400,
  unsupported: 400,
  network: 0,
  truncated: 200,
  protocol: 200,
  aborted: 499,
};

/** Some keyword of a schema that is not among these, at any depth. */
export function unknownKeyword(schema: unknown, known: ReadonlySet<string>): string | undefined {
  return (
    Object.keys(asBody(schema)).find((keyword) => !known.has(keyword)) ??
    schemasIn(schema)
      .map((inner) => unknownKeyword(inner, known))
      .find((keyword) => keyword !== undefined)
  );
}

const SCHEMAS_BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions'];
const NO_SCHEMAS = ['enum', 'const', 'default', 'examples', 'required', 'propertyOrdering'];

/** The schemas that a schema is made of. A property may have the name of a keyword. */
export function schemasIn(schema: unknown): readonly unknown[] {
  const inner = Object.entries(asBody(schema)).flatMap(([keyword, value]): readonly unknown[] => {
    if (SCHEMAS_BY_NAME.includes(keyword)) return Object.values(asBody(value));
    if (NO_SCHEMAS.includes(keyword)) return [];
    return Array.isArray(value) ? value : [value];
  });
  return inner.filter((one) => typeof one === 'object' && one !== null);
}
