import { PetrichorError, type JsonObject, type PetrichorErrorOptions } from '../../core/index.ts';

/**
 * A tool failed. Tools throw it to give the model more than a message. Default of `code`: `tool_failed`, which is also
 * the code of every other error that a tool throws.
 * @remedy Read the message: it is that of the tool. Correct the arguments or the tool.
 */
export class ToolFailedError extends PetrichorError {
  override readonly code: string;
  /** Members beside `error` in the response to the call, for example `{ content: [ … ] }`. */
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

/** Options of `ToolFailedError`. */
export interface ToolFailedErrorOptions extends PetrichorErrorOptions {
  /** Default: `tool_failed`. */
  readonly code?: string;
  readonly details?: JsonObject;
}
