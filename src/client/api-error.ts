import { PetrichorError } from '../core/internal.ts';

/**
 * The server rejected a request. The client throws it after it has used up its retries, or at once when the failure is
 * not retryable.
 * @remedy Handle it by `status` and `type`: see the HTTP error types. For the operator, quote `requestId`.
 */
export class ApiError extends PetrichorError {
  override readonly code = 'api' as const;
  readonly status: number;
  /** The error type of the protocol: `invalid_request_error`, `not_found_error`, … */
  readonly type: string;
  /** The code of the error in the server, such as `already_answered`. Undefined for a failure of the server itself. */
  readonly errorCode: string | undefined;
  /** What else the server says of the error. For example, `already_answered` has the first answer. Default: empty. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The `request-id` header of the response. It identifies the request in the server's log. */
  readonly requestId: string | undefined;

  constructor(
    status: number,
    options: {
      readonly message: string;
      readonly type?: string | undefined;
      readonly errorCode?: string | undefined;
      readonly details?: Readonly<Record<string, unknown>> | undefined;
      readonly requestId?: string | undefined;
    },
  ) {
    super(options.message);
    this.status = status;
    this.type = options.type ?? 'api_error';
    this.errorCode = options.errorCode;
    this.details = options.details ?? {};
    this.requestId = options.requestId;
  }
}
