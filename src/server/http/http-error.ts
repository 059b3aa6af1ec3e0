import { omitUndefined } from '../../core/internal.ts';
import { isPetrichorError, PetrichorError } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';

/** The error types of the protocol. */
export type HttpErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'api_error';

/**
 * An error that is sent to the client: a status, an error type of the protocol, and a message. It must not contain
 * secrets.
 */
export class HttpError extends PetrichorError {
  override readonly code = 'wire' as const;
  readonly status: number;
  readonly type: HttpErrorType;
  readonly details: JsonObject | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    message: string,
    options: {
      readonly type?: HttpErrorType;
      readonly details?: JsonObject;
      readonly retryAfterSeconds?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : {});
    this.status = status;
    this.type = options.type ?? toErrorType(status);
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
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
  missing_key: 400,
  missing_base_url: 400,
  missing_package: 400,
  secret_key: 400,
  invalid_tool: 400,
  duplicate_tool: 400,
  agent_archived: 400,
  already_answered: 400,
  call_not_pending: 400,
  agent_not_found: 404,
  session_not_found: 404,
  version_conflict: 409,
  illegal_transition: 409,
  store_unavailable: 503,
  runtime_closed: 503,
};

/**
 * Converts any error to one that is safe to send. Petrichor errors with a known code keep their message; every other
 * error becomes a 500 without details.
 */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const status = isPetrichorError(error) ? STATUS_BY_CODE[error.code] : undefined;
  if (!isPetrichorError(error) || status === undefined)
    return new HttpError(500, 'Internal error. See the log of the server.', {
      cause: error,
    });
  return new HttpError(status, error.message, {
    details: { error_code: error.code },
    cause: error,
    ...omitUndefined({ retryAfterSeconds: status === 503 ? 1 : undefined }),
  });
}

/**
 * The error response: JSON with `type`, `error` and `request_id`, and the headers `request-id`, `x-should-retry` and,
 * where they apply, `retry-after` and `www-authenticate`.
 */
export function toErrorResponse(
  { status, type, message, details, retryAfterSeconds }: HttpError,
  requestId: string,
): Response {
  const error = { type, message, ...omitUndefined({ details }) };
  const headers = new Headers({
    'request-id': requestId,
    // Stock clients retry a 409 as if it were transient. It never is here.
    'x-should-retry': status === 429 || status >= 500 ? 'true' : 'false',
  });
  if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds));
  if (status === 401) headers.set('www-authenticate', 'Bearer');
  return Response.json({ type: 'error', error, request_id: requestId }, { status, headers });
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
