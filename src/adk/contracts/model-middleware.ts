import { contentText } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { ToolInfo, LlmRequest, LlmResponse } from './agent-callbacks.ts';
import type { CallbackContext } from './contexts.ts';

/**
 * What an agent itself adds around its model and tools. `before` runs before all callbacks, `after` runs after all of
 * them.
 */
export interface ModelMiddleware {
  readonly before?: (params: {
    readonly context: CallbackContext;
    readonly request: LlmRequest;
  }) => void | Promise<void>;
  /** Receives every answer, including one that replaces the model's, and returns the answer to use. */
  readonly after?: (params: {
    readonly context: CallbackContext;
    readonly response: LlmResponse;
  }) => LlmResponse;
  /** Returns the result for a call that must not run; `undefined` to let it run. */
  readonly rejectToolCall?: (params: {
    readonly context: CallbackContext;
    readonly tool: ToolInfo;
  }) => Json | undefined;
}

/** Combines several middleware objects. Each hook runs in the given order. */
export function composeModelMiddleware(middleware: readonly ModelMiddleware[]): ModelMiddleware {
  const before = middleware.filter((one) => one.before !== undefined);
  const after = middleware.filter((one) => one.after !== undefined);
  const rejecters = middleware.flatMap((one) => one.rejectToolCall ?? []);
  return {
    ...(rejecters.length > 0 && {
      rejectToolCall: (params) =>
        rejecters.map((one) => one(params)).find((result) => result !== undefined),
    }),
    ...(before.length > 0 && {
      before: async (params) => {
        for (const one of before) await one.before?.(params);
      },
    }),
    ...(after.length > 0 && {
      after: ({ context, response }) =>
        after.reduce(
          (current, one) => one.after?.({ context, response: current }) ?? current,
          response,
        ),
    }),
  };
}

/** Returns the text of an answer without tool calls; `undefined` if it has calls. */
export function readFinalText({ content }: LlmResponse): string | undefined {
  return content.parts.some((part) => 'functionCall' in part) ? undefined : contentText(content);
}

/** Adds a text to the end of the instruction of a request, after an empty line. */
export function appendInstruction(request: LlmRequest, text: string): void {
  request.instruction = [request.instruction ?? '', text].filter(Boolean).join('\n\n');
}
