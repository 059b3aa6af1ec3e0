import { textOf } from '../core/index.ts';
import type { Json } from '../core/index.ts';
import type { CalledTool, LlmRequest, LlmResponse } from './agent-callbacks.ts';
import type { CallbackContext } from './contexts.ts';

/** What an agent itself does around its model and tools, whatever callbacks say: before all of them, and after all. */
export interface AroundModel {
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
  readonly refuse?: (params: {
    readonly context: CallbackContext;
    readonly tool: CalledTool;
  }) => Json | undefined;
}

/** The ones before in their order, and then the ones after. */
export function aroundAll(all: readonly AroundModel[]): AroundModel {
  const before = all.filter((one) => one.before !== undefined);
  const after = all.filter((one) => one.after !== undefined);
  const refuse = all.flatMap((one) => one.refuse ?? []);
  return {
    ...(refuse.length > 0 && {
      refuse: (params) => refuse.map((one) => one(params)).find((said) => said !== undefined),
    }),
    ...(before.length > 0 && {
      before: (params) => {
        for (const one of before) one.before?.(params);
      },
    }),
    ...(after.length > 0 && {
      after: ({ context, response }) =>
        after.reduce((now, one) => one.after?.({ context, response: now }) ?? now, response),
    }),
  };
}

/** The text of an answer that asks for nothing more. */
export function wholeTextOf({ content }: LlmResponse): string | undefined {
  return content.parts.some((part) => 'functionCall' in part) ? undefined : textOf(content);
}
