import { decodeJson } from '../../core/index.ts';
import { FetchError } from '../../egress/fetch-error.ts';
import { ModelError, type ModelErrorKind } from '../model/model-error.ts';
import type { Redact } from './redact.ts';
import { parseRetryAfter } from './retry-after.ts';
import { UnsupportedFeatureError } from '../model/unsupported-feature-error.ts';

/** What is known of a call that failed. */
export interface FailedCall {
  readonly model: string;
  /** Whether the answer had begun. */
  readonly answering: boolean;
  readonly redact: Redact;
}

/**
 * What anything thrown or streamed by a provider package means. The original is not kept: it holds the whole request,
 * and what the provider echoed of it.
 */
export function toCallError(error: unknown, call: FailedCall): ModelError {
  if (error instanceof ModelError) return error;
  if (error instanceof FetchError) {
    const kind = error.code === 'fetch_failed' ? 'network' : 'bad_request';
    return new ModelError({ model: call.model, kind, message: call.redact(error.message) });
  }
  const facts = toErrorFacts(error);
  const message = call.redact(toSentence(facts));
  if (facts.name === 'AI_UnsupportedFunctionalityError') {
    return new UnsupportedFeatureError(call.model, facts.functionality ?? 'this', message);
  }
  const retryAfterMs = parseRetryAfter(facts);
  return new ModelError({
    model: call.model,
    kind: classifyError(facts, call),
    message,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** What is common to the errors of all provider packages, and to the error frames of all streams. */
interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  /** Of HTTP, or what the package takes a streamed error for. */
  readonly status?: number;
  /** All words by which the provider names the error. */
  readonly errorCodes: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly functionality?: string;
  /** Codes of the operating system, such as ECONNREFUSED. */
  readonly causes: readonly string[];
}

function toErrorFacts(error: unknown): ErrorFacts {
  if (!isRecord(error)) return { ...noFacts, message: String(error) };
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
    ...(status !== undefined && { status }),
    ...(functionality !== undefined && { functionality }),
  };
}

const noFacts = { name: '', errorCodes: '', headers: {}, body: undefined, causes: [] } as const;

function classifyError(facts: ErrorFacts, { answering }: FailedCall): ModelErrorKind {
  const { name, status, errorCodes, message } = facts;
  if (name === 'AI_InvalidResponseDataError') {
    return /without a finish reason/.test(message) ? 'truncated' : 'protocol';
  }
  if (name === 'AI_EmptyResponseBodyError') return 'truncated';
  if (name === 'AI_JSONParseError') return 'protocol';
  if (/^AI_(Invalid(Prompt|Argument)|TypeValidation)Error$/.test(name)) {
    return answering ? (kindByCodes(errorCodes) ?? 'protocol') : 'bad_request';
  }
  if (/^AI_(LoadAPIKey|LoadSetting)Error$/.test(name)) return 'auth';
  if (status !== undefined && status >= 400) return kindByStatus(status, errorCodes);
  if (errorCodes !== '') return kindByCodes(errorCodes) ?? 'server';
  // A reply began and broke off, or there was none.
  if (status !== undefined || (answering && facts.causes.length > 0)) return 'truncated';
  return name === 'AI_APICallError' || facts.causes.length > 0 ? 'network' : 'protocol';
}

function kindByStatus(status: number, errorCodes: string): ModelErrorKind {
  const named = kindByCodes(errorCodes);
  // These two are what one must do about it, whatever the number says.
  if (named === 'overloaded' || named === 'auth') return named;
  switch (status) {
    case 401:
    case 402:
    case 403:
      return 'auth';
    case 404:
      return 'not_found';
    case 429:
      return 'rate_limit';
    case 503:
    case 529:
      return 'overloaded';
    case 408:
      return 'server';
    default:
      return status >= 500 ? 'server' : 'bad_request';
  }
}

// The order matters: `insufficient_quota` comes with 429, and waiting does not help; `invalid_api_key` is no bad request.
const KIND_BY_CODE: readonly (readonly [RegExp, ModelErrorKind])[] = [
  [/insufficient_quota|billing/, 'auth'],
  [/overload|unavailable/, 'overloaded'],
  [/rate_limit|resource_exhausted|too_many_requests/, 'rate_limit'],
  [/authentication|unauthenticated|permission|api_key/, 'auth'],
  [/not_found/, 'not_found'],
  [/invalid|bad_request|context_length|failed_precondition/, 'bad_request'],
  [/server_error|internal|api_error|timeout/, 'server'],
];

function kindByCodes(errorCodes: string): ModelErrorKind | undefined {
  return KIND_BY_CODE.find(([pattern]) => pattern.test(errorCodes))?.[1];
}

function toSentence({ name, message, status, causes }: ErrorFacts): string {
  const text = message === '' ? (name === '' ? 'it said nothing' : name) : message;
  const why = causes.length === 0 ? '' : ` (${causes.join(', ')})`;
  const answered = status !== undefined && status >= 400 ? `the provider answered ${status}: ` : '';
  const sentence = `${answered}${text}${why}`;
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

// An HTTP error has its body as text; an error frame is the body, or has it as `data`.
function findBody(error: Readonly<Record<string, unknown>>): unknown {
  const { responseBody, data, value } = error;
  if (typeof responseBody === 'string') return tryParseJson(responseBody) ?? data;
  return data ?? value ?? (error instanceof Error ? undefined : error);
}

function innermost(body: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(body)) return undefined;
  const { error, response } = body;
  if (typeof error === 'string') return { ...body, message: error, type: error };
  if (isRecord(error)) return error;
  return isRecord(response) && isRecord(response['error']) ? response['error'] : body;
}

function findStatus(inner: Readonly<Record<string, unknown>> | undefined): number | undefined {
  const code = inner?.['code'];
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : asNumber(code);
  return status !== undefined && status >= 400 && status < 600 ? status : undefined;
}

function listCauses(error: Readonly<Record<string, unknown>>): readonly string[] {
  const causes: string[] = [];
  let cause = error['cause'];
  for (let depth = 0; depth < 5 && isRecord(cause); depth++) {
    const label = asString(cause['code']) ?? asString(cause['message']);
    if (label !== undefined && label !== '') causes.push(label);
    cause = cause['cause'];
  }
  return [...new Set(causes)];
}

function readHeaders(headers: unknown): Readonly<Record<string, string>> {
  if (!isRecord(headers)) return {};
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

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
