import { omitUndefined } from '../../core/internal.ts';
import type { JsonObject } from '../../core/index.ts';
import type { AddedEvent, UserEvent } from '../../managed/index.ts';
import { confirmationKey, interruptKey, messageKey, outcomeKey, resultKey } from './event-keys.ts';
import { toWireContent } from './wire-event.ts';

/** Replaces the event id by which a client refers to a call with the call's own id. An unknown id is kept. */
export async function resolveCallIds(
  event: UserEvent,
  resolveCallId: (id: string) => Promise<string | undefined>,
): Promise<UserEvent> {
  switch (event.type) {
    case 'user.tool_confirmation':
    case 'user.tool_result':
      return {
        ...event,
        tool_use_id: (await resolveCallId(event.tool_use_id)) ?? event.tool_use_id,
      };
    case 'user.custom_tool_result': {
      const { custom_tool_use_id: eventId } = event;
      return { ...event, custom_tool_use_id: (await resolveCallId(eventId)) ?? eventId };
    }
    default:
      return event;
  }
}

/**
 * The key of an accepted event. It equals the key that the event has in the log, so the id is the same before and after
 * processing.
 */
export function acceptedEventKey(event: UserEvent, key: string, added: AddedEvent = {}): string {
  switch (event.type) {
    case 'user.message':
      return messageKey(key);
    case 'user.define_outcome':
      return outcomeKey(`outcome_${key}`);
    case 'user.interrupt':
      return interruptKey(added.invocationId ?? key);
    case 'user.tool_confirmation':
      return confirmationKey(added.callId ?? event.tool_use_id);
    case 'user.tool_result':
      return resultKey(added.callId ?? event.tool_use_id);
    case 'user.custom_tool_result':
      return resultKey(added.callId ?? event.custom_tool_use_id);
    default:
      return event satisfies never;
  }
}

/** An accepted event that is not processed yet, as the response to its sender. */
export function toAcceptedEvent(event: UserEvent, id: string, key: string): JsonObject {
  return { id, type: event.type, ...toWireFields(event, key), processed_at: null };
}

function toWireFields(event: UserEvent, key: string): JsonObject {
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
      return { tool_use_id, result, ...omitUndefined({ deny_message }) };
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
