import { object } from '../../agents/internal.ts';
import { omitUndefined } from '../../core/internal.ts';
import * as v from 'valibot';
import { conversation, eventOut, state, turnCurrent, turnPermit } from '../../agents/index.ts';
import type { ConversationItem } from '../../agents/index.ts';
import type { Event, JsonObject, LogEntry } from '../../core/index.ts';
import { all, allOf, append, faultPlace, net, place, pure, put, upTo } from '../../net/index.ts';
import type { Net, TokenPlace } from '../../net/index.ts';

/** An event or state that a program adds to a session outside of any turn. */
export interface AppendedEvent {
  /** Stored in the log unchanged. Absent for the initial state of a session. */
  readonly event?: Event | undefined;
  readonly stateDelta: JsonObject;
}

/** Input place for appended events. */
export const eventIn: TokenPlace<AppendedEvent> = place(
  'event.in',
  v.object({ event: v.optional(object<Event>()), stateDelta: object<JsonObject>() }),
  { environment: true, owed: true, version: 1 },
);

/** Content of appended events, held until no turn runs: within a turn it could separate a call from its result. */
const pendingItem: TokenPlace<ConversationItem> = place('event.said', object<ConversationItem>(), {
  owed: true,
  version: 1,
});

const appendOutputs = {
  state: put(state),
  said: upTo(1, pendingItem),
  events: upTo(1, eventOut),
} as const;

/** The subnet that applies appended events to log, state and conversation, in order of arrival. */
export function appendedEventsNet(inTurns: boolean): Net {
  const applyAppended = pure('session.note', {
    take: { appended: eventIn, permit: turnPermit },
    give: allOf({ permit: turnPermit, ...appendOutputs }),
    // Runs before the next message starts a turn: that message was sent after this event.
    priority: 2,
    run: ({ appended }) => ({ permit: null, ...toAppendOutputs(appended) }),
  });
  const applyAppendedInTurn = pure('session.note-in-turn', {
    take: { appended: eventIn, turn: turnCurrent },
    give: allOf({ turn: turnCurrent, ...appendOutputs }),
    priority: 2,
    run: ({ appended, turn }) => ({ turn, ...toAppendOutputs(appended) }),
  });
  const extendConversation = pure('session.say', {
    take: { said: pendingItem, permit: turnPermit },
    give: allOf({ permit: turnPermit, line: append(conversation) }),
    priority: 3,
    run: ({ said }) => ({ permit: null, line: [said] }),
  });
  // In a session with agents, turn control reports faults instead.
  const reportFault = pure('session.fail', {
    take: { fault: faultPlace, permits: all(turnPermit, { min: 0 }) },
    give: allOf({ permit: turnPermit, events: upTo(1, eventOut) }),
    run: ({ fault: { code, transition, message } }) => ({
      permit: null,
      events: [{ type: 'error', code, message: `${transition} failed: ${message}` }],
    }),
  });
  return net('session-events', {
    in: {
      eventIn,
      turnPermit,
      ...omitUndefined({ turnCurrent: inTurns ? turnCurrent : undefined }),
    },
    out: { state, conversation, eventOut },
    transitions: [
      applyAppended,
      extendConversation,
      ...(inTurns ? [applyAppendedInTurn] : [reportFault]),
    ],
  });
}

function toAppendOutputs({ event, stateDelta }: AppendedEvent): {
  readonly state: { readonly set: JsonObject };
  readonly said: readonly ConversationItem[];
  readonly events: readonly LogEntry[];
} {
  const entries = { set: stateDelta };
  if (event === undefined) return { state: entries, said: [], events: [] };
  const { invocationId, author, content } = event;
  const item = content !== undefined && {
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
