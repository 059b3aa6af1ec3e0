import { assertUserParts, getStateScope, validateStateDelta } from '../../core/index.ts';
import type { Event, StateDelta } from '../../core/index.ts';

/** An event that may be appended to a session. */
export interface CheckedEvent {
  /** The event as it is stored: without `temp:` keys, which live only for one invocation. */
  readonly event: Event;
  /** All its state changes, with normalized keys. */
  readonly stateDelta: StateDelta;
}

/**
 * Checks an event that a program appends to a session.
 * @throws InvalidInputError for a part that only a model may produce, in an event of the user
 * @throws InvalidStateKeyError, NotSerializableError
 */
export function checkAppendedEvent(event: Event): CheckedEvent {
  if (event.author === 'user' && event.content !== undefined)
    assertUserParts(event.content.parts, { functionResponses: 'allow' });
  const stateDelta = validateStateDelta(event.actions.stateDelta);
  const actions = { ...event.actions, stateDelta: omitTempKeys(stateDelta) };
  return { event: { ...event, actions }, stateDelta };
}

/** The state changes that are stored. */
export function omitTempKeys(delta: StateDelta): StateDelta {
  return Object.fromEntries(Object.entries(delta).filter(([key]) => getStateScope(key) !== 'temp'));
}
