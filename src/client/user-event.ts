import type { ContentBlock } from './content-block.ts';

/** An event that a client sends to a session. `tool_use_id` is the id of the event that showed the call. */
export type UserEvent =
  | { readonly type: 'user.message'; readonly content: readonly ContentBlock[] }
  | { readonly type: 'user.interrupt' }
  | {
      readonly type: 'user.tool_confirmation';
      readonly tool_use_id: string;
      readonly result: 'allow' | 'deny';
      readonly deny_message?: string;
    }
  | {
      readonly type: 'user.custom_tool_result';
      readonly custom_tool_use_id: string;
      readonly content: readonly ContentBlock[];
      readonly is_error?: boolean;
    }
  | {
      readonly type: 'user.tool_result';
      readonly tool_use_id: string;
      readonly content: readonly ContentBlock[];
      readonly is_error?: boolean;
    }
  | {
      readonly type: 'user.define_outcome';
      readonly description: string;
      readonly rubric?: { readonly type: 'text'; readonly content: string };
      readonly max_iterations?: number;
    };

/** Builds a `user.message` event with plain text. */
export function userMessage(text: string): UserEvent {
  return { type: 'user.message', content: [{ type: 'text', text }] };
}
