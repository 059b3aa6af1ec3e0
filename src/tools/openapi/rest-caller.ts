import { readOwn } from '../../core/internal.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';
import { egressFetch, egressRule, FetchError, parseOrigins } from '../../egress/index.ts';
import type { ResolveHost } from '../../egress/index.ts';
import { ToolFailedError } from '../tool/tool-failed-error.ts';
import { placeCredential, type CredentialPlace } from './apply-credential.ts';
import { isForm, isText, type RestOperation } from './rest-operation.ts';

/** Where operations may be called, and how much is read. */
export interface RestCallerOptions {
  readonly allowedOrigins: readonly string[];
  /** Headers of every request, such as the version of the API. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The largest response, in bytes. Default: 1,000,000. */
  readonly maxBytes?: number;
  readonly resolve?: ResolveHost;
}

/** Calls an operation. Rejects with FetchError, and with ToolFailedError for a response that is not 2xx. */
export type CallOperation = (
  operation: RestOperation,
  args: JsonObject,
  call: { readonly signal: AbortSignal; readonly credential?: unknown },
) => Promise<Json>;

const DEFAULT_MAX_BYTES = 1_000_000;

/**
 * Creates the function that calls operations, within the rule for outgoing requests: the origin must be listed, an origin
 * that only a pattern lists must have a public address, and a redirect stays within its origin. A response never shows
 * the credential.
 * @throws InvalidInputError if `allowedOrigins` has an entry that is no origin
 */
export function createRestCaller({
  allowedOrigins,
  headers = {},
  maxBytes = DEFAULT_MAX_BYTES,
  ...options
}: RestCallerOptions): CallOperation {
  const match = parseOrigins(allowedOrigins, 'allowedOrigins');
  const fetch = egressFetch(egressRule({ isTrusted: (url) => match(url) === 'named', ...options }));
  return async (operation, args, { signal, credential }) => {
    const { authScheme } = operation;
    const place =
      authScheme === undefined || credential === undefined
        ? { headers: {}, query: {}, secrets: [] }
        : placeCredential(authScheme, credential);
    const url = toUrl(operation, args, place);
    if (match(url) === 'unlisted')
      throw new FetchError('host_not_allowed', `${url.origin} is not in allowedOrigins.`);
    const { body, type } = toBody(operation, args);
    const response = await fetch(url, {
      method: operation.method.toUpperCase(),
      headers: mergeHeaders(
        { accept: 'application/json, text/*;q=0.9, */*;q=0.1' },
        headers,
        toHeaders(operation, args),
        type === undefined ? {} : { 'content-type': type },
        place.headers,
      ),
      signal,
      ...(body !== undefined && { body }),
    });
    const text = hideSecrets(await readText(response, maxBytes), place.secrets);
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
    const value = isJson ? parseJson(text) : text;
    if (response.ok) return value;
    throw new ToolFailedError(`${operation.name} was answered with status ${response.status}.`, {
      code: `http_${response.status}`,
      details: { status: response.status, response: value },
    });
  };
}

/** The headers of all sets. A later one replaces an earlier one of the same name, in any case. */
function mergeHeaders(...sets: readonly Readonly<Record<string, string>>[]): Headers {
  const merged = new Headers();
  for (const [name, value] of sets.flatMap((set) => Object.entries(set))) merged.set(name, value);
  return merged;
}

function toUrl(
  { baseUrl, path, places }: RestOperation,
  args: JsonObject,
  place: CredentialPlace,
): URL {
  let filled = path;
  for (const { argument, target } of places.filter((one) => one.in === 'path')) {
    const value = toParameter(readOwn(args, argument));
    if (value === '.' || value === '..' || value === '')
      throw new FetchError('url_refused', `${argument} must not be empty, "." or "..".`);
    filled = filled.replaceAll(`{${target}}`, encodeURIComponent(value));
  }
  const url = URL.parse(`${baseUrl}${filled}`);
  if (url === null) throw new FetchError('url_refused', 'The document names no server.');
  for (const { argument, target } of places.filter((one) => one.in === 'query')) {
    const value = readOwn(args, argument);
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null) url.searchParams.append(target, toParameter(one));
  }
  for (const [name, value] of Object.entries(place.query)) url.searchParams.set(name, value);
  return url;
}

function toHeaders({ places }: RestOperation, args: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    places
      .filter((one) => one.in === 'header' && readOwn(args, one.argument) !== undefined)
      .map(({ argument, target }) => [target, toParameter(readOwn(args, argument))]),
  );
}

function toBody(
  { places, bodyType }: RestOperation,
  args: JsonObject,
): { readonly body?: string; readonly type?: string } {
  const given = places.filter(
    (one) => one.in === 'body' && readOwn(args, one.argument) !== undefined,
  );
  if (bodyType === undefined || given.length === 0) return {};
  const whole = given.find(({ target }) => target === '');
  const value: Json =
    whole === undefined
      ? Object.fromEntries(
          given.map(({ argument, target }) => [target, readOwn(args, argument) ?? null]),
        )
      : (readOwn(args, whole.argument) ?? null);
  if (isText(bodyType)) return { type: bodyType, body: toParameter(value) };
  if (!isForm(bodyType)) return { type: bodyType, body: JSON.stringify(value) };
  const members = Object.entries(isJsonObject(value) ? value : {});
  const form = new URLSearchParams();
  for (const [name, one] of members) form.append(name, toParameter(one));
  return { type: bodyType, body: form.toString() };
}

function toParameter(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes)
      throw new FetchError('response_too_large', `The response has more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): Json {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse returns only JSON
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** A service may repeat a key, for example in an error. */
function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    .reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text);
}
