import type { ModelErrorKind } from '../model/model-error.ts';
import type { ErrorFacts } from './error-facts.ts';

/** The kind of a failed call. `answering`: the response had begun. */
export function classifyError(
  facts: ErrorFacts,
  { answering }: { readonly answering: boolean },
): ModelErrorKind {
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
  // Either a reply began and broke off, or there was none.
  if (status !== undefined || (answering && facts.causes.length > 0)) return 'truncated';
  return name === 'AI_APICallError' || facts.causes.length > 0 ? 'network' : 'protocol';
}

function kindByStatus(status: number, errorCodes: string): ModelErrorKind {
  const named = kindByCodes(errorCodes);
  // These two determine what to do, whatever the status is.
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

// The order matters: `insufficient_quota` comes with 429, but waiting does not help;
// `invalid_api_key` is not a bad request.
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
