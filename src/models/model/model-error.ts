import { omitUndefined } from '../../core/internal.ts';
import { isPetrichorError, PetrichorError } from '../../core/index.ts';

/** Why a model gave no response. */
export type ModelErrorKind =
  /**
   * The provider limits the rate of requests (429).
   * @remedy Wait `retryAfterMs`, if set. Send fewer requests, or raise the quota.
   */
  | 'rate_limit'
  /**
   * The provider is overloaded or unavailable (503, 529).
   * @remedy Wait, or configure a fallback model.
   */
  | 'overloaded'
  /**
   * The provider failed (another 5xx status, or 408).
   * @remedy Repeat the request later, or configure a fallback model.
   */
  | 'server'
  /**
   * The provider rejected the key, its permissions or the billing of the account (401, 402, 403).
   * @remedy Correct the key, or the billing of the account.
   */
  | 'auth'
  /**
   * The provider has no such model (404).
   * @remedy Correct the name of the model or the base URL.
   */
  | 'not_found'
  /**
   * The provider rejected the request, for example because the context is too long; or the code that makes the request
   * threw a `PetrichorError`.
   * @remedy Correct the request as the message explains. Limit the context if it is too long.
   */
  | 'bad_request'
  /**
   * The request uses a feature that the model does not have.
   * @remedy Remove the option, use another model, or set `onUnsupported: 'warn'`.
   */
  | 'unsupported'
  /**
   * There was no reply from the provider.
   * @remedy Check the network and the base URL, and repeat the request.
   */
  | 'network'
  /**
   * The stream ended before the response was complete.
   * @remedy Repeat the request.
   */
  | 'truncated'
  /**
   * The reply violates the provider's specification, is too large, or the code of the model threw.
   * @remedy Check that the base URL leads to an API of this provider. Report the message to the author of the model.
   */
  | 'protocol'
  /**
   * The caller aborted the call.
   * @remedy None, if the abort was intended. Otherwise look for the interrupt or timeout that caused it.
   */
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
 * A model gave no response. If `retryable`, the same request may succeed later, but not before `retryAfterMs`, if that
 * is set.
 * @remedy Each member of `ModelErrorKind` names its own.
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
