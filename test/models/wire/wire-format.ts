import type { ModelRef, ProviderName, ScriptedError } from 'petrichor/models';
import type { WireTurn } from './wire-turn.ts';

/** The protocol of one provider, written from its public documentation. */
export interface WireFormat {
  readonly name: string;
  readonly provider: ProviderName;
  /** The environment variable with the key of the real service. */
  readonly keyVariable: string;
  /** A reference to a model of this format, on a server at an address. */
  readonly ref: (baseUrl: string) => ModelRef;
  /** Whether a request is in this format. */
  readonly accepts: (path: string) => boolean;
  readonly getKey: (headers: Readonly<Record<string, string | undefined>>) => string | undefined;
  readonly stream: (turn: WireTurn) => WireStream;
  /** The body and status of an HTTP error. */
  readonly failure: (error: ScriptedError) => { readonly status: number; readonly body: unknown };
  /** An error event in the middle of a stream. */
  readonly failureFrame: (error: ScriptedError) => string;
  /** Why the provider would reject the request, if it would. */
  readonly complaint: (body: Body) => string | undefined;
}

/** A response as frames of server-sent events. */
export interface WireStream {
  /** The frames before the content. */
  readonly head: readonly string[];
  /** Thinking and text, one frame per delta. */
  readonly deltas: readonly string[];
  /** The calls, in several frames. */
  readonly calls: readonly string[];
  /** The frames that end the response. */
  readonly tail: readonly string[];
}

/** A parsed JSON body of unknown shape. */
export type Body = Readonly<Record<string, unknown>>;

export function frame(data: unknown, event?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

/** The deltas of a turn's text. */
export function textPieces({ text = '', deltas }: WireTurn): readonly string[] {
  if (typeof deltas === 'object') return deltas;
  return text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? [];
}

/** The arguments of a call as the model writes them, in two parts. */
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

/** A keyword of a schema, at any depth, that is not in the list. */
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

/** The schemas inside a schema. A property may have the name of a keyword. */
export function schemasIn(schema: unknown): readonly unknown[] {
  const inner = Object.entries(asBody(schema)).flatMap(([keyword, value]): readonly unknown[] => {
    if (SCHEMAS_BY_NAME.includes(keyword)) return Object.values(asBody(value));
    if (NO_SCHEMAS.includes(keyword)) return [];
    return Array.isArray(value) ? value : [value];
  });
  return inner.filter((one) => typeof one === 'object' && one !== null);
}
