import { InvalidToolError } from '../schema/invalid-tool-error.ts';

/** The call by which a model transfers the turn to another agent. */
export const TRANSFER_TOOL = 'transfer_to_agent';

/**
 * Names of calls that the runtime makes or answers itself. A tool with such a name would never run,
 * or would replace the runtime's call.
 */
export const RESERVED_TOOL_NAMES: ReadonlySet<string> = new Set([
  TRANSFER_TOOL,
  'adk_request_confirmation',
  'adk_request_credential',
  'adk_request_input',
]);

/**
 * Checks that a tool name is not reserved.
 * @throws InvalidToolError if it is
 */
export function checkNotReserved(name: string): void {
  if (!RESERVED_TOOL_NAMES.has(name)) return;
  throw new InvalidToolError(
    name,
    'its name is reserved for calls that the runtime makes or answers itself. Use another name.',
  );
}
