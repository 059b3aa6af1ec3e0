import { PetrichorError } from '../core/errors/petrichor-error.ts';

/** The server refused a request, and says why. What may pass was tried again before this was thrown. */
export class ApiError extends PetrichorError {
  override readonly code = 'api' as const;
  readonly status: number;
  /** The word of the wire: `invalid_request_error`, `not_found_error`, … */
  readonly type: string;
  /** Names the request in the server's own log. */
  readonly requestId: string | undefined;

  constructor(
    status: number,
    facts: {
      readonly message: string;
      readonly type?: string | undefined;
      readonly requestId?: string | undefined;
    },
  ) {
    super(facts.message);
    this.status = status;
    this.type = facts.type ?? 'api_error';
    this.requestId = facts.requestId;
  }
}
