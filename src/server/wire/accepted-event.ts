import { omitUndefined } from '../../core/internal.ts';
import type { AddedEvent, UserEvent } from '../../managed/index.ts';
import type { Wire } from './component.ts';
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
export function toAcceptedEvent(event: UserEvent, id: string, key: string): Wire<'AcceptedEvent'> {
  const processed_at = null;
  switch (event.type) {
    case 'user.message':
      return { id, type: event.type, content: toWireContent(event.content), processed_at };
    case 'user.define_outcome': {
      const { type, description = '', rubric: criteria = description, max_iterations = 3 } = event;
      const outcome_id = `outcome_${key}`;
      const rubric = { type: 'text', content: criteria } as const;
      return { id, type, outcome_id, description, rubric, max_iterations, processed_at };
    }
    case 'user.interrupt':
      return { id, type: event.type, processed_at };
    case 'user.tool_confirmation': {
      const { type, tool_use_id, result, deny_message } = event;
      return { id, type, tool_use_id, result, ...omitUndefined({ deny_message }), processed_at };
    }
    case 'user.tool_result': {
      const { type, tool_use_id, content, is_error = false } = event;
      return { id, type, tool_use_id, content: toWireContent(content), is_error, processed_at };
    }
    case 'user.custom_tool_result': {
      const { type, custom_tool_use_id: callEventId, content, is_error = false } = event;
      return {
        id,
        type,
        custom_tool_use_id: callEventId,
        content: toWireContent(content),
        is_error,
        processed_at,
      };
    }
    default:
      return event satisfies never;
  }
}
