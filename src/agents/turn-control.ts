import type { JsonObject, LogEntry } from '../core/index.ts';
import {
  all,
  allOf,
  append,
  faultPlace,
  heldValues,
  matching,
  net,
  pure,
  put,
  truncate,
  upTo,
} from '../net/index.ts';
import type { MapWrites, Net, Ports } from '../net/index.ts';
import { messageEvent } from './begun-turn.ts';
import {
  conversation,
  eventOut,
  interruptIn,
  rewindIn,
  sessionWrite,
  state,
  stopAsked,
  turnCurrent,
  turnEnding,
  turnPermit,
  turnStopping,
  turnWaiting,
  userIn,
} from './places.ts';
import { closingOf, takesOf } from './turn-part.ts';
import type { HeldValues, TurnPart } from './turn-part.ts';

/** Whose tokens are taken away when a turn is stopped: those of an agent that is missing here would outlive it. */
export interface TurnControlOptions {
  /** What the turn's agents may hold. */
  readonly parts: readonly TurnPart[];
}

/** Stopping goes before everything else a turn could do in the same moment. */
const STOP_PRIORITY = 100;

/**
 * How a turn ends: by itself, by an interrupt, because an agent ended it, or by a fault. Whoever stops it takes
 * everything the turn holds and answers every call that is still open, so that the history stays one a model accepts.
 */
export function turnControl({ parts }: TurnControlOptions): Net {
  const held = { ...takesOf(parts), endings: all(turnEnding, { min: 0 }) } as const;
  const budgets = parts.flatMap((part) => part.budgets);
  const emptied = [...parts.flatMap(({ dropped }) => dropped), ...budgets, turnWaiting, stopAsked];

  const interrupt = pure('turn.interrupt', {
    take: {
      interrupt: matching(interruptIn, ({ invocationId }) => invocationId),
      turn: matching(turnCurrent, ({ invocationId }) => invocationId),
      ...held,
    },
    reset: [...emptied, turnStopping],
    priority: STOP_PRIORITY,
    give: allOf({
      turn: turnCurrent,
      ending: turnEnding,
      said: append(conversation),
      events: upTo(100_000, eventOut),
    }),
    run: ({ turn, interrupt: _interrupt, endings: _endings, ...rest }) => ({
      turn,
      ending: { stopReason: 'interrupted' },
      ...closingOf(parts, rest, 'The call was stopped by an interrupt.'),
    }),
  });

  const late = pure('interrupt.late', {
    take: { interrupt: interruptIn },
    read: { turns: all(turnCurrent, { min: 0 }) },
    // After a turn has begun that it may be meant for.
    priority: -1,
    give: allOf({ events: upTo(1, eventOut) }),
    run: ({ interrupt: { invocationId }, turns }) => {
      const ended: LogEntry = { type: 'turn.ended', invocationId, stopReason: 'interrupted' };
      // While the next turn runs nothing has come to rest: its own end will say so.
      return { events: turns.length > 0 ? [] : [ended] };
    },
  });

  const halt = pure('turn.halt', {
    take: { asked: all(stopAsked), turn: turnCurrent },
    unless: [turnStopping],
    priority: STOP_PRIORITY,
    give: allOf({ turn: turnCurrent, stop: turnStopping }),
    run: ({ asked, turn }) => ({ turn, stop: asked[0] ?? { stopReason: 'end_turn' as const } }),
  });

  const stop = pure('turn.stop', {
    take: { stops: all(turnStopping), turn: turnCurrent, ...held },
    reset: emptied,
    priority: STOP_PRIORITY,
    give: allOf({
      turn: turnCurrent,
      ending: turnEnding,
      said: append(conversation),
      events: upTo(100_000, eventOut),
    }),
    run: ({ stops, turn, endings: _endings, ...rest }) => ({
      turn,
      ending: stops[0] ?? { stopReason: 'end_turn' as const },
      ...closingOf(parts, rest, 'The call was dropped because the turn was ended.'),
    }),
  });

  const abandon = pure('turn.abandon', {
    take: {
      fault: faultPlace,
      turns: all(turnCurrent, { min: 0 }),
      permits: all(turnPermit, { min: 0 }),
      ...held,
    },
    read: { state },
    reset: [...emptied, turnStopping],
    priority: STOP_PRIORITY + 1,
    give: allOf({
      permit: turnPermit,
      said: append(conversation),
      temp: put(state),
      events: upTo(100_000, eventOut),
    }),
    run: ({ fault, turns, permits: _permits, endings: _endings, state, ...rest }) => {
      const closed = closingOf(
        parts,
        bothOf(rest, fault.inputs),
        'The call was dropped because the turn failed.',
      );
      const [message] = heldValues(fault.inputs, userIn);
      const invocationId = turns[0]?.invocationId ?? invocationIn(fault.inputs);
      const error: LogEntry = {
        type: 'error',
        code: fault.code,
        message: `${fault.transition} failed: ${fault.message}`,
        ...(invocationId !== undefined && { invocationId }),
      };
      const ended: readonly LogEntry[] =
        invocationId === undefined
          ? []
          : [{ type: 'turn.ended', invocationId, stopReason: 'error' }];
      return {
        permit: null,
        said: closed.said,
        temp: withoutTemp(state),
        events: [
          ...(message === undefined ? [] : [messageEvent(message)]),
          ...closed.events,
          error,
          ...ended,
        ],
      };
    },
  });

  const end = pure('turn.end', {
    take: { ending: turnEnding, turn: turnCurrent },
    read: { state },
    // What the turn wrote is written before it ends.
    unless: [sessionWrite],
    reset: budgets,
    give: allOf({ permit: turnPermit, temp: put(state), events: upTo(1, eventOut) }),
    run: ({ ending: { stopReason }, turn: { invocationId, usage }, state }) => ({
      permit: null,
      temp: withoutTemp(state),
      events: [{ type: 'turn.ended', invocationId, stopReason, usage }],
    }),
  });

  const rewind = pure('session.rewind', {
    take: { rewind: rewindIn, permit: turnPermit },
    give: allOf({
      permit: turnPermit,
      said: truncate(conversation),
      state: put(state),
      events: upTo(1, eventOut),
    }),
    run: ({ rewind: { beforeInvocationId, conversationLength, state } }) => ({
      permit: null,
      said: { length: conversationLength },
      state: { set: state, replace: true },
      events: [{ type: 'session.rewound', beforeInvocationId }],
    }),
    // Before the next message: whoever rewinds does not want it answered in the old light.
    priority: 1,
  });

  return net('turn-control', {
    in: {
      ...portsOf(parts),
      interruptIn,
      rewindIn,
      turnWaiting,
      stopAsked,
      turnStopping,
      turnEnding,
      turnCurrent,
      turnPermit,
      sessionWrite,
      state,
    },
    out: { turnPermit, turnCurrent, turnEnding, turnStopping, conversation, state, eventOut },
    transitions: [interrupt, late, halt, stop, abandon, end, rewind],
  });
}

function portsOf(parts: readonly TurnPart[]): Ports {
  const places = parts.flatMap(({ owed, dropped, budgets }) => [...owed, ...dropped, ...budgets]);
  return Object.fromEntries(
    places.filter(({ kind }) => kind !== 'running').map((place) => [place.name, place]),
  );
}

/** `temp:` keys live as long as the turn. */
function withoutTemp(state: JsonObject): MapWrites {
  return { delete: Object.keys(state).filter((key) => key.startsWith('temp:')) };
}

function bothOf(a: HeldValues, b: HeldValues): HeldValues {
  return Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((name) => [
      name,
      [...(a[name] ?? []), ...(b[name] ?? [])],
    ]),
  );
}

/** The invocation that a failed firing was about: its tokens name it. */
function invocationIn(inputs: HeldValues): string | undefined {
  const named = Object.values(inputs)
    .flat()
    .map(
      (value) =>
        memberOf(value, 'invocationId') ?? memberOf(memberOf(value, 'result'), 'invocationId'),
    );
  return named.find((value) => typeof value === 'string');
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
