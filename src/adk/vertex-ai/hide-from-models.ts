import { getFunctionCalls, getFunctionResponses } from '../../core/index.ts';
import type { Event } from '../../core/index.ts';
import type { ImportedEvent } from '../sessions/store-session-service.ts';

/** An event of a session that is imported. */
export interface ImportedSessionEvent extends ImportedEvent {
  readonly event: Event;
}

/** The functions with which ADK asks a client. Models are shown neither their calls nor the answers. */
const CLIENT_FUNCTIONS: ReadonlySet<string> = new Set([
  'adk_request_confirmation',
  'adk_request_credential',
  'adk_request_input',
]);

/**
 * Hides what ADK does not show to models: questions to the client with their answers, what a later rewind took back, and
 * results that a later result of the same call replaces.
 */
export function hideFromModels(
  imported: readonly ImportedSessionEvent[],
): readonly ImportedSessionEvent[] {
  const hidden = new Set<number>();
  const lastResults = new Map<string, number>();
  imported.forEach(({ event }, index) => {
    const { content } = event;
    const responses = content === undefined ? [] : getFunctionResponses(content);
    const calls = content === undefined ? [] : getFunctionCalls(content);
    if ([...calls, ...responses].some(({ name }) => CLIENT_FUNCTIONS.has(name))) hidden.add(index);
    for (const { id } of responses) lastResults.set(id, index);
    const before = event.actions.rewindBeforeInvocationId;
    const start = imported.findIndex((one) => one.event.invocationId === before);
    if (before === undefined || start === -1) return;
    for (let at = start; at < index; at++) hidden.add(at);
  });
  imported.forEach(({ event }, index) => {
    const responses = event.content === undefined ? [] : getFunctionResponses(event.content);
    if (responses.length > 0 && responses.every(({ id }) => lastResults.get(id) !== index))
      hidden.add(index);
  });
  return imported.map((one, index) => (hidden.has(index) ? { ...one, isHidden: true } : one));
}
