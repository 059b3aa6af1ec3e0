import * as v from 'valibot';
import {
  agent,
  conversation,
  eventOut,
  state,
  turnCurrent,
  turnPermit,
  turnStopping,
} from '../../agents/index.ts';
import type { Agent, ConversationItem } from '../../agents/index.ts';
import type { Event, JsonObject, LogEntry } from '../../core/index.ts';
import {
  all,
  allOf,
  append,
  compile,
  compose,
  faultPlace,
  initialToken,
  net,
  place,
  pure,
  put,
  upTo,
} from '../../net/index.ts';
import type { Net, TokenPlace } from '../../net/index.ts';

/** Something a program puts into a session outside of any turn. */
export interface AppendedEvent {
  /** Kept in the log as it is. None for state that a session begins with. */
  readonly event?: Event | undefined;
  readonly stateDelta: JsonObject;
}

const object = <T>(): v.GenericSchema<unknown, T> =>
  v.custom<T>((value) => typeof value === 'object' && value !== null, 'must be an object');

/** Where appended events enter. */
export const eventIn: TokenPlace<AppendedEvent> = place(
  'event.in',
  v.object({ event: v.optional(object<Event>()), stateDelta: object<JsonObject>() }),
  { environment: true, owed: true, version: 1 },
);

/** What appended events say, until no turn runs: inside one it could part a call from its answer. */
const pendingItem: TokenPlace<ConversationItem> = place('event.said', object<ConversationItem>(), {
  owed: true,
  version: 1,
});

const appendOutputs = {
  state: put(state),
  said: upTo(1, pendingItem),
  events: upTo(1, eventOut),
} as const;

/** The subnet that takes appended events into log, state and conversation, in the order they came. */
function appendedEventsNet(inTurns: boolean): Net {
  const applyAppended = pure('session.note', {
    take: { appended: eventIn, permit: turnPermit },
    give: allOf({ permit: turnPermit, ...appendOutputs }),
    // Before the next message, which was sent in its light.
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
  // In a session with agents the turn control does this.
  const reportFault = pure('session.fail', {
    take: { fault: faultPlace, permits: all(turnPermit, { min: 0 }) },
    give: allOf({ permit: turnPermit, events: upTo(1, eventOut) }),
    run: ({ fault: { code, transition, message } }) => ({
      permit: null,
      events: [{ type: 'error', code, message: `${transition} failed: ${message}` }],
    }),
  });
  return net('session-events', {
    in: { eventIn, turnPermit, ...(inTurns && { turnCurrent }) },
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
    ...(author !== 'user' && { author }),
  };
  return {
    state: entries,
    said: item === false ? [] : [item],
    events: [{ type: 'event.appended', invocationId, event }],
  };
}

/** The agent, under the name of its app, in sessions that take appended events, and have these subnets beside them. */
export function withAppendedEvents(
  appName: string,
  root: Agent,
  extraNets: readonly Net[] = [],
): Agent {
  const open: Net = {
    ...root.net,
    in: { ...root.net.in, turnPermit, turnCurrent, ...(extraNets.length > 0 && { turnStopping }) },
    out: { ...root.net.out, state, conversation, eventOut },
  };
  const whole = compose(root.net.name, {
    in: { ...root.net.in, eventIn },
    nets: [open, appendedEventsNet(true), ...extraNets],
  });
  return { ...root, name: appName, author: root.name, net: whole, compiled: compile(whole) };
}

/** What keeps a session that no agent has run yet: it takes appended events and nothing else. */
export function appendOnlyAgent(): Agent {
  const none = agent({
    name: 'session',
    model: { name: 'none', generate: async () => Promise.reject(new Error('Nobody asks it.')) },
  });
  const appendOnly = compose('session', {
    in: { eventIn },
    nets: [appendedEventsNet(false)],
    initial: [initialToken(turnPermit, null)],
  });
  return { ...none, net: appendOnly, compiled: compile(appendOnly) };
}
