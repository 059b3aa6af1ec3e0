import { contentText } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { ToolInfo, LlmRequest, LlmResponse } from './agent-callbacks.ts';
import type { CallbackContext } from './contexts.ts';

/** What an agent itself does around its model and tools, whatever callbacks say: before all of them, and after all. */
export interface ModelMiddleware {
  readonly before?: (params: {
    readonly context: CallbackContext;
    readonly request: LlmRequest;
  }) => void;
  /** Sees every answer, also one in the model's place; gives the one that counts. */
  readonly after?: (params: {
    readonly context: CallbackContext;
    readonly response: LlmResponse;
  }) => LlmResponse;
  /** What a call is answered with that is not to be made. */
  readonly rejectToolCall?: (params: {
    readonly context: CallbackContext;
    readonly tool: ToolInfo;
  }) => Json | undefined;
}

/** The ones before in their order, and then the ones after. */
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
      before: (params) => {
        for (const one of before) one.before?.(params);
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

/** The text of an answer that asks for nothing more. */
export function readFinalText({ content }: LlmResponse): string | undefined {
  return content.parts.some((part) => 'functionCall' in part) ? undefined : contentText(content);
}
