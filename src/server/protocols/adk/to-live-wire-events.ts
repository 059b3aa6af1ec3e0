import { toPartialTextEvent, toTurnEndEvent, toWireEvent } from '../../../adk/internal.ts';
import type { LiveItem } from '../../../adk/internal.ts';
import type { JsonObject } from '../../../core/index.ts';
import type { Clock } from '../../../net/index.ts';
import { formatAdkEventId } from './adk-event-id.ts';
import type { AdkEventContext, AdkWireMapper } from './to-adk-wire-events.ts';

export interface LiveEventContext extends AdkEventContext {
  /** The agent that speaks now. */
  readonly speaker: string;
  readonly clock: Clock;
  /** Converts the log of the session. */
  readonly mapper: AdkWireMapper;
}

/** Converts what happens in a live session to the events of `/run_live`. */
export function toLiveWireEvents(item: LiveItem, context: LiveEventContext): readonly JsonObject[] {
  const { speaker, clock, sessionId, sessionUid, mapper } = context;
  if ('partial' in item) return [toWireEvent(item.partial, speaker)];
  const { logged } = item;
  switch (logged.type) {
    case 'partial':
      return logged.kind === 'progress'
        ? []
        : [toWireEvent(toPartialTextEvent(logged, speaker, clock), speaker)];
    case 'partial.reset':
      return [];
    case 'turn.ended': {
      const id = formatAdkEventId(sessionId, logged.seq);
      const end = { ...toTurnEndEvent(logged, sessionUid, speaker), id };
      return [...mapper.endTurn(logged.seq), toWireEvent(end, speaker)];
    }
    case 'user.message':
      // The client has its own messages, and not the transcripts of its speech.
      return logged.transcript === true ? mapper.add(logged) : [];
    default:
      return mapper.add(logged);
  }
}
