import { InvalidInputError, isJsonObject, MAX_JSON_DEPTH, decodeJson } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { HttpError } from './http-error.ts';

// Not hono's bodyLimit(): it trusts a declared content-length, and rejects with the raw error of a broken connection.

/**
 * Reads the body of a request as UTF-8 text.
 * @throws HttpError 413 above `maxBytes`; 400 when the connection ends before the body does
 */
export async function readRequestBody(request: Request, maxBytes: number): Promise<string> {
  const tooLarge = (): HttpError =>
    new HttpError(413, `The body must be at most ${maxBytes} bytes. Send less at a time.`);
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge();
  if (request.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body) {
      const bytes: Uint8Array = chunk;
      size += bytes.byteLength;
      // The rest of the body is not read.
      if (size > maxBytes) throw tooLarge();
      chunks.push(bytes);
    }
  } catch (cause) {
    if (cause instanceof HttpError) throw cause;
    throw new HttpError(400, 'The request body ended early. Send the request again.', { cause });
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** True if a `content-type` is JSON: `application/json`, or a type that ends in `+json`. Its parameters are ignored. */
export function isJsonContentType(contentType: string | null): boolean {
  return /^\s*application\/(?:[\w.-]+\+)?json\s*(;|$)/i.test(contentType ?? '');
}

/**
 * Parses a request body; empty text is an empty object.
 * @throws InvalidJsonError; InvalidInputError when it is not an object, or nested too deeply
 */
export function parseBody(text: string): JsonObject {
  const value = decodeJson(text === '' ? '{}' : text, 'body');
  if (!isJsonObject(value)) throw new InvalidInputError('body', 'must be an object.');
  if (isDeeper(value, MAX_JSON_DEPTH - 10))
    throw new InvalidInputError('body', 'is nested too deeply.');
  return value;
}

// Level by level: deep nesting would overflow the stack of a recursive function.
function isDeeper(value: Json, levels: number): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((json) =>
      typeof json === 'object' && json !== null ? Object.values(json) : [],
    );
  }
  return false;
}

/**
 * Reads a query string. `name[]` is a list, even with one value. Of several values of any other parameter the last one
 * counts.
 */
export function readQuery(parameters: URLSearchParams): Readonly<Record<string, unknown>> {
  const query: Record<string, unknown> = {};
  for (const key of new Set(parameters.keys())) {
    // Stock clients send it with every request. It has no effect here.
    if (key === 'beta') continue;
    const values = parameters.getAll(key);
    if (key.endsWith('[]')) query[key.slice(0, -2)] = values;
    else if (!(key in query)) query[key] = values.at(-1);
  }
  return query;
}
