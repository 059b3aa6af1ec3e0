import type { JsonObject } from '../core/index.ts';
import type { AddedEvent, UserEvent } from '../managed/index.ts';
import { toWireContent } from './wire-event.ts';
import {
  aboutConfirmation,
  aboutInterrupt,
  aboutMessage,
  aboutOutcome,
  aboutResult,
} from './wire-face.ts';

/** The event with the id of its call in place of the one that the client named it by. */
export async function withCall(
  event: UserEvent,
  callOf: (id: string) => Promise<string | undefined>,
): Promise<UserEvent> {
  switch (event.type) {
    case 'user.tool_confirmation':
    case 'user.tool_result':
      return { ...event, tool_use_id: (await callOf(event.tool_use_id)) ?? event.tool_use_id };
    case 'user.custom_tool_result': {
      const { custom_tool_use_id: named } = event;
      return { ...event, custom_tool_use_id: (await callOf(named)) ?? named };
    }
    default:
      return event;
  }
}

/** What an accepted event is about: the same as when it stands in the log, so that it has one id. */
export function aboutAccepted(event: UserEvent, key: string, added: AddedEvent = {}): string {
  switch (event.type) {
    case 'user.message':
      return aboutMessage(key);
    case 'user.define_outcome':
      return aboutOutcome(`outcome_${key}`);
    case 'user.interrupt':
      return aboutInterrupt(added.invocationId ?? key);
    case 'user.tool_confirmation':
      return aboutConfirmation(added.callId ?? event.tool_use_id);
    case 'user.tool_result':
      return aboutResult(added.callId ?? event.tool_use_id);
    case 'user.custom_tool_result':
      return aboutResult(added.callId ?? event.custom_tool_use_id);
    default:
      return event satisfies never;
  }
}

/** An event that was accepted and not processed yet, as its sender is told of it. */
export function acceptedEvent(event: UserEvent, id: string, key: string): JsonObject {
  return { id, type: event.type, ...fieldsOf(event, key), processed_at: null };
}

function fieldsOf(event: UserEvent, key: string): JsonObject {
  switch (event.type) {
    case 'user.message':
      return { content: toWireContent(event.content) };
    case 'user.define_outcome': {
      const { description = '', rubric = description, max_iterations = 3 } = event;
      const outcome_id = `outcome_${key}`;
      return { outcome_id, description, rubric: { type: 'text', content: rubric }, max_iterations };
    }
    case 'user.interrupt':
      return {};
    case 'user.tool_confirmation': {
      const { tool_use_id, result, deny_message } = event;
      return { tool_use_id, result, ...(deny_message !== undefined && { deny_message }) };
    }
    case 'user.tool_result': {
      const { tool_use_id, content, is_error = false } = event;
      return { tool_use_id, content: toWireContent(content), is_error };
    }
    case 'user.custom_tool_result': {
      const { custom_tool_use_id, content, is_error = false } = event;
      return { custom_tool_use_id, content: toWireContent(content), is_error };
    }
    default:
      return event satisfies never;
  }
}
