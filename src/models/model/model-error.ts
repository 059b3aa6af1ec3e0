import { isPetrichorError, PetrichorError } from '../../core/index.ts';

/**
 * Why a model gave no answer. `truncated`: the stream ended before the answer did. `protocol`: the reply was not one the
 * provider's own description allows. `network`: there was no reply. `unsupported`: it was asked for something it has not.
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

/** What is known of a call that got no answer. `kind` alone decides the code, and whether it is `retryable`. */
export interface ModelErrorOptions {
  /** The name of the model that was asked. */
  readonly model: string;
  readonly kind: ModelErrorKind;
  /** What the provider said. Must hold no key and no header. */
  readonly message: string;
  /** The wait the provider asks for, in milliseconds. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A model gave no answer. When `retryable`, the same request may succeed later: not before `retryAfterMs`, if that is given. */
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
 * What any throw of a model means: a `ModelError` itself; an abort, `aborted`; anything else is a fault of the
 * model's code and is not retried.
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

/** A call that its caller ended. */
export function abortedError(model: string, cause?: unknown): ModelError {
  const message = 'the call was aborted.';
  return new ModelError({ model, kind: 'aborted', message, ...(cause !== undefined && { cause }) });
}
