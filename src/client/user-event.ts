import type { Schemas } from './generated.ts';

/** An event that a client sends to a session. `tool_use_id` is the id of the event that showed the call. */
export type UserEvent = Schemas['UserEvent'];

/** Builds a `user.message` event with plain text. */
export function userMessage(text: string): UserEvent {
  return { type: 'user.message', content: [{ type: 'text', text }] };
}
