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

/** An event or state that a program adds to a session outside of any turn. */
export interface AppendedEvent {
  /** Stored in the log unchanged. Absent for the initial state of a session. */
  readonly event?: Event | undefined;
  readonly stateDelta: JsonObject;
}

const object = <T>(): v.GenericSchema<unknown, T> =>
  v.custom<T>((value) => typeof value === 'object' && value !== null, 'must be an object');

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
function appendedEventsNet(inTurns: boolean): Net {
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

/**
 * Extends an agent so that its sessions accept appended events, and adds the `extraNets` to them. The agent gets the
 * app's name, because sessions are run by the agent of that name.
 */
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

/** The agent of a session that no agent has run yet: it accepts appended events and nothing else. */
export function appendOnlyAgent(): Agent {
  const none = agent({
    name: 'session',
    model: {
      name: 'none',
      generate: async () => Promise.reject(new Error('A session without agents calls no model.')),
    },
  });
  const appendOnly = compose('session', {
    in: { eventIn },
    nets: [appendedEventsNet(false)],
    initial: [initialToken(turnPermit, null)],
  });
  return { ...none, net: appendOnly, compiled: compile(appendOnly) };
}
