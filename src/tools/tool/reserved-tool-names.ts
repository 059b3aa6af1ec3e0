import { InvalidToolError } from '../schema/invalid-tool-error.ts';

/** The call by which a model hands the turn to another agent. */
export const TRANSFER_TOOL = 'transfer_to_agent';

/** Calls that the runtime makes or answers itself. A tool of one of these names would never run, or take its place. */
export const RESERVED_TOOL_NAMES: ReadonlySet<string> = new Set([
  TRANSFER_TOOL,
  'adk_request_confirmation',
  'adk_request_credential',
  'adk_request_input',
]);

/** @throws InvalidToolError for a name that the runtime has for calls of its own. */
export function checkNotReserved(name: string): void {
  if (!RESERVED_TOOL_NAMES.has(name)) return;
  throw new InvalidToolError(
    name,
    'its name is reserved for calls that the runtime makes or answers itself: give it another.',
  );
}
