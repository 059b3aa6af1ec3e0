import { getErrorCode } from '../../core/internal.ts';

/** An error as JSON, for programs. */
export interface FailureJson {
  readonly type: 'failure';
  readonly code: string;
  readonly message: string;
}

/**
 * An error without a code of its own, for example of the agent module.
 * @remedy Read the message. Run the command with `--debug` to see the stack.
 */
const WITHOUT_CODE = 'unexpected';

// The code is read by its shape: an agent module may throw errors of another copy of this package.
export function toFailureJson(error: unknown): FailureJson {
  const message = error instanceof Error ? error.message : String(error);
  return { type: 'failure', code: getErrorCode(error) ?? WITHOUT_CODE, message };
}
