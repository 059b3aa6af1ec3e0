import { InvalidInputError, isJsonObject, MAX_JSON_DEPTH, decodeJson } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { HttpError } from './http-error.ts';

/** Text of a request, up to a size. @throws HttpError 413, and 400 when its client leaves before its end */
export async function readRequestBody(request: Request, maxBytes: number): Promise<string> {
  const tooLarge = (): HttpError =>
    new HttpError(413, `The body must be at most ${maxBytes} bytes: send less at a time.`);
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge();
  if (request.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body) {
      const bytes: Uint8Array = chunk;
      size += bytes.byteLength;
      // What is left of it is not read.
      if (size > maxBytes) throw tooLarge();
      chunks.push(bytes);
    }
  } catch (cause) {
    if (cause instanceof HttpError) throw cause;
    throw new HttpError(400, 'The body did not come to its end: send it again.', { cause });
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Whether a `content-type` declares JSON; its parameters do not matter. */
export function isJsonContentType(contentType: string | null): boolean {
  return /^\s*application\/json\s*(;|$)/i.test(contentType ?? '');
}

/** @throws InvalidJsonError, InvalidInputError when it is no object or nested too deeply */
export function parseBody(text: string): JsonObject {
  const value = decodeJson(text === '' ? '{}' : text, 'body');
  if (!isJsonObject(value)) throw new InvalidInputError('body', 'must be an object.');
  if (isDeeper(value, MAX_JSON_DEPTH - 10))
    throw new InvalidInputError('body', 'is nested too deeply.');
  return value;
}

// Level by level: recursion would be the attack.
function isDeeper(value: Json, levels: number): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((one) =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    );
  }
  return false;
}

/** The query of an address: `name[]` is a list, also when it is there once. The last of the others counts. */
export function readQuery(parameters: URLSearchParams): Readonly<Record<string, unknown>> {
  const query: Record<string, unknown> = {};
  for (const key of new Set(parameters.keys())) {
    // Stock clients say it of every call; it changes nothing here.
    if (key === 'beta') continue;
    const values = parameters.getAll(key);
    if (key.endsWith('[]')) query[key.slice(0, -2)] = values;
    else if (!(key in query)) query[key] = values.at(-1);
  }
  return query;
}
