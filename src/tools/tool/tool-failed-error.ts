import { PetrichorError, type JsonObject, type PetrichorErrorOptions } from '../../core/index.ts';

/** A tool failed and has more to tell the model than a sentence. */
export class ToolFailedError extends PetrichorError {
  override readonly code: string;
  /** Stands beside `error` in the response to the call, for example `{ content: [ … ] }`. */
  readonly details: JsonObject;

  constructor(
    message: string,
    { code = 'tool_failed', details = {}, ...options }: ToolFailedErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

/** What a failure tells beside its message. */
export interface ToolFailedErrorOptions extends PetrichorErrorOptions {
  /** Default: `tool_failed`. */
  readonly code?: string;
  readonly details?: JsonObject;
}
