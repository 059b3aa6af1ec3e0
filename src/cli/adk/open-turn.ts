import {
  getFunctionCalls,
  getFunctionResponses,
  getPendingUserInputRequests,
} from '../../adk/index.ts';
import type { Content, Event, FunctionCall, Json } from '../../core/index.ts';
import { isJsonObject } from '../../core/index.ts';
import { parseUserInputId } from '../../core/internal.ts';

/** The last turn of a saved session, in which a call waits for the user. */
export interface OpenTurn {
  readonly message: Content;
  /** The events after the message. */
  readonly events: readonly Event[];
  /** The ids of the calls that wait. */
  readonly waiting: ReadonlySet<string>;
}

/** Splits the events of a saved session before its last turn, if a call of that turn waits. */
export function splitOpenTurn(events: readonly Event[]): {
  readonly ended: readonly Event[];
  readonly open?: OpenTurn;
} {
  const requests = new Set(
    getPendingUserInputRequests(events).map(({ interruptId }) => interruptId),
  );
  const start = events.findLastIndex(isUserMessage);
  const message = events[start]?.content;
  const turn = events.slice(start + 1);
  const waiting = turn
    .flatMap(getFunctionCalls)
    .filter(({ id }) => requests.has(id))
    .map(readWaitingId);
  if (message === undefined || waiting.length === 0) return { ended: events };
  return {
    ended: events.slice(0, start),
    open: { message, events: turn, waiting: new Set(waiting) },
  };
}

/** True for a message of the user, and not for an answer to a call. */
function isUserMessage(event: Event): boolean {
  return event.author === 'user' && getFunctionResponses(event).length === 0;
}

/** The id of the call for which this call asks the user. */
function readWaitingId({ id, args }: FunctionCall): string {
  const original: Json | undefined = args['originalFunctionCall'];
  return isJsonObject(original) && typeof original['id'] === 'string'
    ? original['id']
    : parseUserInputId(id);
}
