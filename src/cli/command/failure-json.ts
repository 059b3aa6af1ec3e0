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
  const hasCode = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return { type: 'failure', code: hasCode ? String(error.code) : WITHOUT_CODE, message };
}
