import type { Schemas } from './generated.ts';

/** An event that a client sends to a session. `tool_use_id` is the id of the event that showed the call. */
export type UserEvent = Schemas['UserEvent'];

/** A message to the agent. `output_schema`: the final answer of its turn is JSON of this schema. */
export type UserMessage = Extract<UserEvent, { readonly type: 'user.message' }>;

/** Builds a `user.message` event with plain text. */
export function userMessage(text: string): UserMessage {
  return { type: 'user.message', content: [{ type: 'text', text }] };
}
