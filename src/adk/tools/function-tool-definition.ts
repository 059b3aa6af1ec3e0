import { checkDefinition, optionTable, toApprovalHint } from '../../core/internal.ts';
import type { OptionTable } from '../../core/index.ts';
import { InvalidToolError } from '../../tools/index.ts';
import type { InferArgs, ToolDefinition, ToolParameters } from '../../tools/index.ts';
import { TOOL_OPTIONS } from '../../tools/internal.ts';
import { pendingConfirmation } from './function-tool-context.ts';
import type { FunctionToolContext } from './function-tool-context.ts';
import { fromGeminiSchema } from './gemini-schema.ts';
import { isAsyncGeneratorFunction } from './streaming-tool.ts';

/** The definition of a function tool. */
export interface FunctionToolDefinition<S extends ToolParameters> extends Omit<
  ToolDefinition<S>,
  'execute'
> {
  /**
   * Runs the tool. If missing, the call waits until the client answers it. An async generator function is a streaming tool:
   * in a live session it runs in the background, and the model gets what it yields; elsewhere its last value is the result.
   */
  readonly execute?: (args: InferArgs<S>, context: FunctionToolContext) => unknown;
  /**
   * ADK's name of `needsApproval`. Unlike there, a function may be asynchronous and may read the context. It is called
   * when the tool is about to run, and again with the answer in `toolConfirmation`.
   */
  readonly requireConfirmation?:
    | boolean
    | ((args: InferArgs<S>, context: FunctionToolContext) => boolean | Promise<boolean>);
  /** ADK's name of `longRunning`. */
  readonly isLongRunning?: boolean;
}

const {
  isLongRunning: _,
  requireConfirmation: __,
  requiresConfirmation: ___,
  ...otherNames
} = TOOL_OPTIONS.otherNames;

/** The options of `FunctionTool`. */
export const FUNCTION_TOOL_OPTIONS: OptionTable = optionTable<
  FunctionToolDefinition<ToolParameters>
>(
  'FunctionTool',
  {
    name: true,
    description: true,
    parameters: true,
    execute: true,
    needsApproval: true,
    requireConfirmation: true,
    idempotent: true,
    readOnly: true,
    timeoutMs: true,
    maxResultCharacters: true,
    onCrash: true,
    longRunning: true,
    isLongRunning: true,
  },
  { ...otherNames, requiresConfirmation: 'requireConfirmation' },
);

/** A definition without ADK's names of options. */
export type NamedToolDefinition<S extends ToolParameters> = Omit<
  FunctionToolDefinition<S>,
  'requireConfirmation' | 'isLongRunning'
>;

/**
 * Replaces ADK's names of options.
 * @throws UnknownFieldError
 * @throws InvalidToolError if an option is set under both names, or a confirmation cannot be asked for
 */
export function toNamedDefinition<S extends ToolParameters>(
  definition: FunctionToolDefinition<S>,
): NamedToolDefinition<S> {
  checkDefinition(FUNCTION_TOOL_OPTIONS, definition);
  const { requireConfirmation, isLongRunning, parameters, ...others } = definition;
  const rest = {
    ...others,
    ...(parameters !== undefined && { parameters: fromGeminiSchema(parameters) }),
  };
  const { name, execute, needsApproval, longRunning } = rest;
  if (requireConfirmation !== undefined && needsApproval !== undefined)
    throw new InvalidToolError(name, 'it has requireConfirmation and needsApproval. Use one.');
  if (isLongRunning !== undefined && longRunning !== undefined && isLongRunning !== longRunning)
    throw new InvalidToolError(name, 'its isLongRunning and its longRunning differ. Use one.');
  const named = { ...rest, ...(isLongRunning !== undefined && { longRunning: isLongRunning }) };
  if (typeof requireConfirmation !== 'function')
    return {
      ...named,
      ...(requireConfirmation !== undefined && { needsApproval: requireConfirmation }),
    };
  if (execute === undefined || isAsyncGeneratorFunction(execute))
    throw new InvalidToolError(
      name,
      'its requireConfirmation is a function, which needs an execute function that is no generator. Use needsApproval.',
    );
  return { ...named, execute: confirmFirst(name, requireConfirmation, execute) };
}

/** Asks for a confirmation before the tool runs, and does not run it without one. */
function confirmFirst<A>(
  name: string,
  isRequired: (args: A, context: FunctionToolContext) => boolean | Promise<boolean>,
  execute: (args: A, context: FunctionToolContext) => unknown,
): (args: A, context: FunctionToolContext) => Promise<unknown> {
  return async (args, context) => {
    const { toolConfirmation } = context;
    if (await isRequired(args, context)) {
      if (toolConfirmation === undefined)
        return pendingConfirmation(name, { hint: toApprovalHint(name), skipSummarization: true });
      if (!toolConfirmation.confirmed) return { error: 'This tool call is rejected.' };
    }
    return execute(args, context);
  };
}
