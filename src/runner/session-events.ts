import * as v from 'valibot';
import {
  agent,
  conversation,
  eventOut,
  state,
  turnCurrent,
  turnPermit,
  turnStopping,
} from '../agents/index.ts';
import type { Agent, ConversationItem } from '../agents/index.ts';
import type { Event, JsonObject, LogEntry } from '../core/index.ts';
import {
  all,
  allOf,
  append,
  compile,
  compose,
  faultPlace,
  initially,
  net,
  place,
  pure,
  put,
  upTo,
} from '../net/index.ts';
import type { Net, TokenPlace } from '../net/index.ts';

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
const eventSaid: TokenPlace<ConversationItem> = place('event.said', object<ConversationItem>(), {
  owed: true,
  version: 1,
});

const given = { state: put(state), said: upTo(1, eventSaid), events: upTo(1, eventOut) } as const;

/** The subnet that takes appended events into log, state and conversation, in the order they came. */
function sessionEvents(inTurns: boolean): Net {
  const note = pure('session.note', {
    take: { appended: eventIn, permit: turnPermit },
    give: allOf({ permit: turnPermit, ...given }),
    // Before the next message, which was sent in its light.
    priority: 2,
    run: ({ appended }) => ({ permit: null, ...takenUp(appended) }),
  });
  const noteInTurn = pure('session.note-in-turn', {
    take: { appended: eventIn, turn: turnCurrent },
    give: allOf({ turn: turnCurrent, ...given }),
    priority: 2,
    run: ({ appended, turn }) => ({ turn, ...takenUp(appended) }),
  });
  const say = pure('session.say', {
    take: { said: eventSaid, permit: turnPermit },
    give: allOf({ permit: turnPermit, line: append(conversation) }),
    priority: 3,
    run: ({ said }) => ({ permit: null, line: [said] }),
  });
  // In a session with agents the turn control does this.
  const fail = pure('session.fail', {
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
    transitions: [note, say, ...(inTurns ? [noteInTurn] : [fail])],
  });
}

function takenUp({ event, stateDelta }: AppendedEvent): {
  readonly state: { readonly set: JsonObject };
  readonly said: readonly ConversationItem[];
  readonly events: readonly LogEntry[];
} {
  const entries = { set: stateDelta };
  if (event === undefined) return { state: entries, said: [], events: [] };
  const { invocationId, author, content } = event;
  const line = content !== undefined && {
    invocationId,
    content,
    ...(author !== 'user' && { author }),
  };
  return {
    state: entries,
    said: line === false ? [] : [line],
    events: [{ type: 'event.appended', invocationId, event }],
  };
}

/** The agent, under the name of its app, in sessions that take appended events, and have these subnets beside them. */
export function inSessionsOf(appName: string, of: Agent, beside: readonly Net[] = []): Agent {
  const open: Net = {
    ...of.net,
    in: { ...of.net.in, turnPermit, turnCurrent, ...(beside.length > 0 && { turnStopping }) },
    out: { ...of.net.out, state, conversation, eventOut },
  };
  const whole = compose(of.net.name, {
    in: { ...of.net.in, eventIn },
    nets: [open, sessionEvents(true), ...beside],
  });
  return { ...of, name: appName, speaker: of.name, net: whole, compiled: compile(whole) };
}

/** What keeps a session that no agent has run yet: it takes appended events and nothing else. */
export function restingAgent(): Agent {
  const none = agent({
    name: 'session',
    model: { name: 'none', generate: async () => Promise.reject(new Error('Nobody asks it.')) },
  });
  const resting = compose('session', {
    in: { eventIn },
    nets: [sessionEvents(false)],
    initial: [initially(turnPermit, null)],
  });
  return { ...none, net: resting, compiled: compile(resting) };
}
