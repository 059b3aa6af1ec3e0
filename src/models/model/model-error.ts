import { omitUndefined } from '../../core/internal.ts';
import { isPetrichorError, PetrichorError } from '../../core/index.ts';

/**
 * Why a model gave no response.
 *
 * - `truncated`: the stream ended before the response was complete.
 * - `protocol`: the reply violates the provider's specification.
 * - `network`: there was no reply.
 * - `unsupported`: the request uses a feature that the model does not have.
 */
export type ModelErrorKind =
  | 'rate_limit'
  | 'overloaded'
  | 'server'
  | 'auth'
  | 'not_found'
  | 'bad_request'
  | 'unsupported'
  | 'network'
  | 'truncated'
  | 'protocol'
  | 'aborted';

const RETRYABLE: ReadonlySet<ModelErrorKind> = new Set([
  'rate_limit',
  'overloaded',
  'server',
  'network',
  'truncated',
]);

/** Options of a `ModelError`. `kind` alone determines `code` and `retryable`. */
export interface ModelErrorOptions {
  /** The name of the called model. */
  readonly model: string;
  readonly kind: ModelErrorKind;
  /** The provider's message. It must not contain a key or a header. */
  readonly message: string;
  /** The wait that the provider requests, in milliseconds. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/**
 * A model gave no response. If `retryable`, the same request may succeed later, but not before
 * `retryAfterMs`, if that is set.
 */
export class ModelError extends PetrichorError {
  override readonly code: `model_${ModelErrorKind}`;
  readonly model: string;
  readonly kind: ModelErrorKind;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;

  constructor(options: ModelErrorOptions) {
    const { model, kind, message, retryAfterMs } = options;
    super(`Model "${model}": ${message}`, 'cause' in options ? { cause: options.cause } : {});
    this.code = `model_${kind}`;
    this.model = model;
    this.kind = kind;
    this.retryable = RETRYABLE.has(kind);
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Converts anything a model throws. A `ModelError` is returned unchanged; an abort becomes kind
 * `aborted`; any other error is a fault of the model's code and is not retryable.
 */
export function toModelError(error: unknown, model: string): ModelError {
  if (error instanceof ModelError) return error;
  if (error instanceof Error && error.name === 'AbortError') {
    return abortedError(model, error);
  }
  const kind = isPetrichorError(error) ? 'bad_request' : 'protocol';
  const message = error instanceof Error ? error.message : String(error);
  return new ModelError({ model, kind, message, cause: error });
}

/** The error of a call that its caller aborted. */
export function abortedError(model: string, cause?: unknown): ModelError {
  const message = 'the call was aborted.';
  return new ModelError({ model, kind: 'aborted', message, ...omitUndefined({ cause }) });
}
