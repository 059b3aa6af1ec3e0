import { omitUndefined, isObject } from '../../core/internal.ts';
import { decodeJson } from '../../core/index.ts';

/** The common facts of the errors of all provider packages and of all error events in streams. */
export interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  /** The HTTP status, or the status that the package gives a streamed error. */
  readonly status?: number;
  /** All codes by which the provider names the error, joined. */
  readonly errorCodes: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly functionality?: string;
  /** Codes of the operating system, such as ECONNREFUSED. */
  readonly causes: readonly string[];
}

export function toErrorFacts(error: unknown): ErrorFacts {
  if (!isObject(error)) return { ...noFacts, message: String(error) };
  const body = findBody(error);
  const inner = innermost(body);
  const status = asNumber(error['statusCode']) ?? asNumber(error['status']) ?? findStatus(inner);
  const functionality = asString(error['functionality']);
  return {
    name: asString(error['name']) ?? '',
    message: asString(inner?.['message']) ?? asString(error['message']) ?? '',
    errorCodes: [error, inner]
      .flatMap((source) => [source?.['type'], source?.['code'], source?.['status']])
      .filter((word) => typeof word === 'string')
      .join(' ')
      .toLowerCase(),
    headers: readHeaders(error['responseHeaders']),
    body,
    causes: listCauses(error),
    ...omitUndefined({ status, functionality }),
  };
}

const noFacts = { name: '', errorCodes: '', headers: {}, body: undefined, causes: [] } as const;

// An HTTP error has its body as text; a stream's error event is the body, or has it as `data`.
function findBody(error: Readonly<Record<string, unknown>>): unknown {
  const { responseBody, data, value } = error;
  if (typeof responseBody === 'string') return tryParseJson(responseBody) ?? data;
  return data ?? value ?? (error instanceof Error ? undefined : error);
}

function innermost(body: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(body)) return undefined;
  const { error, response } = body;
  if (typeof error === 'string') return { ...body, message: error, type: error };
  if (isObject(error)) return error;
  return isObject(response) && isObject(response['error']) ? response['error'] : body;
}

function findStatus(inner: Readonly<Record<string, unknown>> | undefined): number | undefined {
  const code = inner?.['code'];
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : asNumber(code);
  return status !== undefined && status >= 400 && status < 600 ? status : undefined;
}

function listCauses(error: Readonly<Record<string, unknown>>): readonly string[] {
  const causes: string[] = [];
  let cause = error['cause'];
  for (let depth = 0; depth < 5 && isObject(cause); depth++) {
    const label = asString(cause['code']) ?? asString(cause['message']);
    if (label !== undefined && label !== '') causes.push(label);
    cause = cause['cause'];
  }
  return [...new Set(causes)];
}

function readHeaders(headers: unknown): Readonly<Record<string, string>> {
  if (!isObject(headers)) return {};
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string'));
}

function tryParseJson(text: string): unknown {
  try {
    const value = decodeJson(text, 'body');
    // Gemini wraps the body of a failed stream in a list.
    return Array.isArray(value) ? value[0] : value;
  } catch {
    return undefined;
  }
}

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
