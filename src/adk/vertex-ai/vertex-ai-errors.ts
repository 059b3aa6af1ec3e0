import { PetrichorError } from '../../core/index.ts';

/**
 * A request to Agent Engine of Vertex AI failed: it was refused, timed out, or had no response. `status` is that of the
 * HTTP response. The client's error is the `cause`.
 * @remedy For 401 and 403, check the credentials and their permissions; for 404, the project, the location and the Agent
 *   Engine. For others, try again.
 */
export class VertexAiRequestError extends PetrichorError {
  override readonly code = 'vertex_ai_request_failed' as const;
  /** What was requested, for example `append an event`. */
  readonly operation: string;
  /** Undefined: there was no response. */
  readonly status: number | undefined;

  constructor(operation: string, status: number | undefined, options?: { cause?: unknown }) {
    const how = status === undefined ? 'had no response' : `was refused with status ${status}`;
    super(`The request to Vertex AI to ${operation} ${how}. The cause has the details.`, options);
    this.operation = operation;
    this.status = status;
  }
}

/**
 * An event was appended to the session in the store, but not yet to Vertex AI. The next use of the session sends it.
 * @remedy Do not append the event again. To send it now, call `sync`.
 */
export class VertexAiSyncPendingError extends PetrichorError {
  override readonly code = 'vertex_ai_sync_pending' as const;
  readonly sessionId: string;

  constructor(sessionId: string, options?: { cause?: unknown }) {
    super(
      `The event is stored in session "${sessionId}" and not yet in Vertex AI, which the next use of the session mends: do not append it again.`,
      options,
    );
    this.sessionId = sessionId;
  }
}

/**
 * The services of Vertex AI need an optional package that is not installed.
 * @remedy Run `npm install` with the package in `packageName`.
 */
export class MissingVertexAiPackageError extends PetrichorError {
  override readonly code = 'missing_package' as const;
  readonly packageName = '@google-cloud/vertexai' as const;

  constructor(options?: { cause?: unknown }) {
    super(
      'The services of Vertex AI need the package @google-cloud/vertexai: run "npm install @google-cloud/vertexai".',
      options,
    );
  }
}
