import { omitUndefined } from '../../core/internal.ts';
import { isPetrichorError, PetrichorError, QuotaExceededError } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import { toWireQuota } from './wire-quota.ts';

/** The error types of the protocol. */
export type HttpErrorType =
  /**
   * The request is invalid, or conflicts with the present state of what it names. `details.error_code` has the code,
   * where there is one.
   * @remedy Correct the request as the message explains. Do not repeat it unchanged.
   */
  | 'invalid_request_error'
  /**
   * The request has no valid API key.
   * @remedy Send a key as `x-api-key` or as a bearer token.
   */
  | 'authentication_error'
  /**
   * The scope of the key, the host or the origin does not allow the request.
   * @remedy Use a key with a sufficient scope, or allow the host or the origin in the options of the server.
   */
  | 'permission_error'
  /**
   * The resource or the route does not exist, or belongs to another workspace.
   * @remedy Correct the id or the path. `GET /openapi.json` lists the routes.
   */
  | 'not_found_error'
  /**
   * The body is larger than the limit.
   * @remedy Send less at a time, or raise the limit of the server.
   */
  | 'request_too_large'
  /**
   * Too many requests came with this key, or with invalid keys from this address.
   * @remedy Wait the seconds of the `retry-after` header, then repeat the request.
   */
  | 'rate_limit_error'
  /**
   * The server failed, is shutting down, or its store is unavailable.
   * @remedy Repeat the request under the same idempotency key. The log of the server has the reason.
   */
  | 'api_error';

/**
 * A request was rejected. The error is sent to the client as a status, an error type of the protocol, and a message, so
 * it must not contain secrets. In the response, `details.error_code` has the code of the cause.
 * @remedy Each member of `HttpErrorType` names its own.
 */
export class HttpError extends PetrichorError {
  override readonly code = 'wire' as const;
  readonly status: number;
  readonly type: HttpErrorType;
  readonly details: JsonObject | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** With status 405: the methods that the resource allows. */
  readonly allow: string | undefined;

  constructor(
    status: number,
    message: string,
    options: {
      readonly type?: HttpErrorType;
      readonly details?: JsonObject;
      readonly retryAfterSeconds?: number;
      readonly allow?: string;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : {});
    this.status = status;
    this.type = options.type ?? toErrorType(status);
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.allow = options.allow;
  }
}

/**
 * A 404 error. It is the same for a resource of another workspace, so that callers cannot find out whether it exists.
 */
export function notFound(kind: string, id: string): HttpError {
  return new HttpError(404, `There is no ${kind} "${id}".`);
}

const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  invalid_input: 400,
  invalid_json: 400,
  invalid_state_key: 400,
  inline_data_too_large: 400,
  not_serialisable: 400,
  token_schema: 400,
  unknown_model: 400,
  missing_service: 400,
  outcomes_not_enabled: 400,
  missing_key: 400,
  missing_base_url: 400,
  missing_package: 400,
  secret_key: 400,
  invalid_tool: 400,
  duplicate_tool: 400,
  agent_archived: 400,
  already_answered: 400,
  journal_trimmed: 400,
  damaged_copy: 400,
  invalid_step: 400,
  call_not_pending: 400,
  agent_not_found: 404,
  session_not_found: 404,
  schedule_not_found: 404,
  agent_from_code: 405,
  input_too_large: 413,
  version_conflict: 409,
  schedule_exists: 409,
  session_exists: 409,
  session_deleting: 409,
  illegal_transition: 409,
  unknown_agent: 409,
  net_changed: 409,
  store_unavailable: 503,
  live_session_elsewhere: 503,
  runtime_closed: 503,
};

/**
 * Converts any error to one that is safe to send. Petrichor errors with a known code keep their message; every other
 * error becomes a 500 without details.
 */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof QuotaExceededError) return toQuotaError(error);
  const status = isPetrichorError(error) ? STATUS_BY_CODE[error.code] : undefined;
  if (!isPetrichorError(error) || status === undefined)
    return new HttpError(500, 'Internal error. See the log of the server.', {
      cause: error,
    });
  return new HttpError(status, error.message, {
    details: { error_code: error.code },
    cause: error,
    ...omitUndefined({
      retryAfterSeconds: status === 503 ? 1 : undefined,
      allow: status === 405 ? 'GET' : undefined,
    }),
  });
}

function toQuotaError(error: QuotaExceededError): HttpError {
  const { limit, used, ...quota } = toWireQuota(error.status);
  // What all workspaces use is for operators.
  const figures = error.status.scope === 'app' ? {} : { limit, used };
  return new HttpError(403, error.message, {
    details: { error_code: error.code, ...quota, ...figures },
    cause: error,
  });
}

/**
 * The error response: JSON with `type`, `error` and `request_id`, or in the form of a protocol, and the headers `request-id`, `x-should-retry` and,
 * where they apply, `retry-after`, `allow` and `www-authenticate`.
 */
export function toErrorResponse(
  error: HttpError,
  requestId: string,
  toBody: (error: HttpError, requestId: string) => JsonObject = toErrorBody,
): Response {
  const { status, retryAfterSeconds, allow } = error;
  const headers = new Headers({
    'request-id': requestId,
    // Stock clients retry a 409 as if it were transient. It never is here.
    'x-should-retry': status === 429 || (status >= 500 && status !== 501) ? 'true' : 'false',
  });
  if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds));
  if (allow !== undefined) headers.set('allow', allow);
  if (status === 401) headers.set('www-authenticate', 'Bearer');
  return Response.json(toBody(error, requestId), { status, headers });
}

function toErrorBody({ type, message, details }: HttpError, requestId: string): JsonObject {
  return {
    type: 'error',
    error: { type, message, ...omitUndefined({ details }) },
    request_id: requestId,
  };
}

function toErrorType(status: number): HttpErrorType {
  switch (status) {
    case 401:
      return 'authentication_error';
    case 403:
      return 'permission_error';
    case 404:
      return 'not_found_error';
    case 413:
      return 'request_too_large';
    case 429:
      return 'rate_limit_error';
    default:
      return status >= 500 ? 'api_error' : 'invalid_request_error';
  }
}
