import { omitUndefined } from '../../core/internal.ts';
import type { JsonObject, LogEntry } from '../../core/index.ts';
import { all, allOf, append, faultPlace, net, pure, put, upTo } from '../../net/index.ts';
import type { Net, Transition } from '../../net/index.ts';
import { eventIn, pendingContent } from '../vocabulary/appended-event.ts';
import type { AppendedEvent } from '../vocabulary/appended-event.ts';
import { conversation } from '../vocabulary/conversation.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { sessionArchived, sessionCompleted } from '../vocabulary/session.ts';
import { state } from '../vocabulary/state.ts';
import { turnCurrent, turnPermit } from '../vocabulary/turn.ts';
import { refusal } from './refusal.ts';
import { CLOSE_PRIORITY } from './session-control.ts';

/**
 * An event wins over the next message, which was sent after it, and over the end of the session: an accepted event is in
 * the log before it.
 */
const APPEND_PRIORITY = CLOSE_PRIORITY + 1;

const appendOutputs = {
  state: put(state),
  said: upTo(1, pendingContent),
  events: upTo(1, eventOut),
} as const;

/** The subnet of every agent that applies appended events to log, state and conversation, in order of arrival. */
export function appendedEvents(): Net {
  const noteInTurn = pure('session.append-event-in-turn', {
    formerNames: ['session.note-in-turn'],
    take: { appended: eventIn, turn: turnCurrent },
    give: allOf({ turn: turnCurrent, ...appendOutputs }),
    priority: APPEND_PRIORITY,
    run: ({ appended, turn }) => ({ turn, ...toAppendOutputs(appended) }),
  });
  return net('session-events', {
    in: { eventIn, turnPermit, turnCurrent, sessionArchived, sessionCompleted },
    out: { turnPermit, turnCurrent, pendingContent, state, conversation, eventOut },
    // A closed session has neither a permit nor a turn.
    transitions: [
      ...betweenTurns(),
      noteInTurn,
      refusal('event.refuse', eventIn, 'append an event'),
    ],
  });
}

/** The same for a session without agents, in which no turn runs. */
export function appendedEventsAlone(): Net {
  // In a session with agents, turn control reports faults.
  const reportFault = pure('session.report-fault', {
    formerNames: ['session.fail'],
    take: { fault: faultPlace, permits: all(turnPermit, { min: 0 }) },
    give: allOf({ permit: turnPermit, events: upTo(1, eventOut) }),
    run: ({ fault: { code, transition, message } }) => ({
      permit: null,
      events: [{ type: 'error', code, message: `${transition} failed: ${message}` }],
    }),
  });
  return net('session-events', {
    in: { eventIn, turnPermit },
    out: { state, conversation, eventOut },
    transitions: [...betweenTurns(), reportFault],
  });
}

function betweenTurns(): readonly Transition[] {
  const note = pure('session.append-event', {
    formerNames: ['session.note'],
    take: { appended: eventIn, permit: turnPermit },
    give: allOf({ permit: turnPermit, ...appendOutputs }),
    priority: APPEND_PRIORITY,
    run: ({ appended }) => ({ permit: null, ...toAppendOutputs(appended) }),
  });
  const say = pure('session.append-content', {
    formerNames: ['session.say'],
    take: { said: pendingContent, permit: turnPermit },
    give: allOf({ permit: turnPermit, line: append(conversation) }),
    priority: APPEND_PRIORITY + 1,
    run: ({ said }) => ({ permit: null, line: [said] }),
  });
  return [note, say];
}

function toAppendOutputs({ event, stateDelta, isHidden }: AppendedEvent): {
  readonly state: { readonly set: JsonObject };
  readonly said: readonly ConversationItem[];
  readonly events: readonly LogEntry[];
} {
  const entries = { set: stateDelta };
  if (event === undefined) return { state: entries, said: [], events: [] };
  const { invocationId, author, content } = event;
  const item = content !== undefined &&
    isHidden !== true && {
      invocationId,
      content,
      ...omitUndefined({ author: author !== 'user' ? author : undefined }),
    };
  return {
    state: entries,
    said: item === false ? [] : [item],
    events: [{ type: 'event.appended', invocationId, event }],
  };
}
