import { omitUndefined, readMember } from '../../core/internal.ts';
import type { JsonObject, LogEntry } from '../../core/index.ts';
import {
  all,
  allOf,
  append,
  faultPlace,
  inputValues,
  matching,
  net,
  optional,
  pure,
  put,
  truncate,
  upTo,
} from '../../net/index.ts';
import type { AnyPlace, MapWrites, Net, Ports } from '../../net/index.ts';
import { userMessageEvent } from './turn-start-outputs.ts';
import { isClosed, readClosed } from '../vocabulary/closed-session.ts';
import { eventOut, userIn } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { turnCurrent, turnEnding, turnPermit, turnWaiting } from '../vocabulary/turn.ts';
import type { CurrentTurn, Ending } from '../vocabulary/turn.ts';
import { toFirstCall } from '../vocabulary/model-call.ts';
import {
  sessionArchived,
  sessionCompleted,
  sessionFailed,
  sessionQueued,
} from '../vocabulary/session.ts';
import { interruptIn, rewindIn, stopRequested, turnStopping } from '../vocabulary/control.ts';
import type { Extension } from './extension.ts';
import type { HeldValues } from './continuation.ts';
import { toFailedTurn } from './failed-turn.ts';
import { allHeldInputs, allInputs, closeOpenCalls } from './turn-resources.ts';
import type { TurnResources } from './turn-resources.ts';

/** The agents whose tokens are removed when a turn is stopped. Tokens of an agent that is missing here would remain. */
export interface TurnControlOptions {
  /** The places and effects in which the turn's agents may hold tokens. */
  readonly resources: readonly TurnResources[];
  /** The nets that are added to the session's agents. */
  readonly extensions?: readonly Extension[];
  /** Keeps the work of a turn that failed, for a session of several agents. Default: false. */
  readonly continues?: boolean;
}

/** Stopping fires before any other transition of the turn that is enabled at the same time. */
const STOP_PRIORITY = 100;

/**
 * Ends a turn: normally, by an interrupt, at the request of an agent, or after a fault. A transition that stops the turn
 * takes every token of the turn and gives each open call a result, because models reject a history with open calls. Also
 * applies rewinds, between two turns.
 */
export function turnControl({
  resources,
  extensions = [],
  continues = false,
}: TurnControlOptions): Net {
  const extensionPlaces = extensions.flatMap(({ discardable }) => discardable);
  const interrupted = extensions.flatMap((one) => one.interrupted ?? []);
  const held = { ...allHeldInputs(resources), endings: all(turnEnding, { min: 0 }) } as const;
  const budgets = resources.flatMap((part) => part.budgets);
  const work = [...resources.flatMap(({ discardable }) => discardable), ...budgets];
  const signals = [turnWaiting, stopRequested];
  const discarded = [...work, ...extensionPlaces, ...signals];

  const interrupt = pure('turn.interrupt', {
    take: {
      interrupt: matching(interruptIn, ({ invocationId }) => invocationId),
      turn: matching(turnCurrent, ({ invocationId }) => invocationId),
      ...held,
    },
    reset: [...discarded, turnStopping],
    priority: STOP_PRIORITY,
    give: allOf({
      turn: turnCurrent,
      ending: turnEnding,
      said: append(conversation),
      events: upTo(100_000, eventOut),
      ...Object.fromEntries(interrupted.map((one) => [one.name, one])),
    }),
    run: ({ turn, interrupt: _interrupt, endings: _endings, ...rest }) => ({
      turn,
      ending: { stopReason: 'interrupted' as const },
      ...Object.fromEntries(interrupted.map(({ name }) => [name, null])),
      ...closeOpenCalls(resources, rest, 'The call was stopped by an interrupt.'),
    }),
  });

  const late = pure('interrupt.discard', {
    formerNames: ['interrupt.late'],
    take: { interrupt: interruptIn },
    read: { turns: all(turnCurrent, { min: 0 }), ...readClosed },
    // Lower than the start of a turn, because the interrupt may be for a turn that is about to begin.
    priority: -1,
    give: allOf({ events: upTo(1, eventOut) }),
    run: ({ interrupt: { invocationId }, turns, archived, completed }) => {
      const ended: LogEntry = { type: 'turn.ended', invocationId, stopReason: 'interrupted' };
      // While another turn runs the session is not idle, and the end of that turn is logged by `turn.end`.
      const isSilent = turns.length > 0 || isClosed({ archived, completed });
      return { events: isSilent ? [] : [ended] };
    },
  });

  const halt = pure('turn.halt', {
    take: { asked: all(stopRequested), turn: turnCurrent },
    unless: [turnStopping],
    priority: STOP_PRIORITY,
    give: allOf({ turn: turnCurrent, stop: turnStopping }),
    run: ({ asked, turn }) => ({ turn, stop: asked[0] ?? { stopReason: 'end_turn' as const } }),
  });

  // Taken instead of reset: a resume continues with them.
  const left = continues ? allInputs([...work, ...extensionPlaces]) : {};
  const keepFailedTurn = (
    stop: Ending = { stopReason: 'end_turn' },
    turn: CurrentTurn,
    rest: HeldValues,
  ): Ending =>
    stop.failedRequest === undefined
      ? stop
      : { ...stop, failedTurn: toFailedTurn(turn, stop, resources, extensions, rest) };
  const stop = pure('turn.stop', {
    take: { stops: all(turnStopping), turn: turnCurrent, ...held, ...left },
    reset: continues ? signals : discarded,
    priority: STOP_PRIORITY,
    give: allOf({
      turn: turnCurrent,
      ending: turnEnding,
      said: append(conversation),
      events: upTo(100_000, eventOut),
    }),
    run: ({ stops, turn, endings: _endings, ...rest }) => ({
      turn,
      ending: continues
        ? keepFailedTurn(stops[0], turn, rest)
        : (stops[0] ?? { stopReason: 'end_turn' as const }),
      ...closeOpenCalls(resources, rest, 'The call was dropped because the turn was ended.'),
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
    reset: [...discarded, ...interrupted, turnStopping],
    priority: STOP_PRIORITY + 1,
    give: allOf({
      permit: turnPermit,
      said: append(conversation),
      temp: put(state),
      events: upTo(100_000, eventOut),
    }),
    run: ({ fault, turns, permits: _permits, endings: _endings, state, ...rest }) => {
      const closed = closeOpenCalls(
        resources,
        mergeHeldValues(rest, fault.inputs),
        'The call was dropped because the turn failed.',
      );
      const [message] = inputValues(fault.inputs, userIn);
      const invocationId = turns[0]?.invocationId ?? findInvocationId(fault.inputs);
      const error: LogEntry = {
        type: 'error',
        code: fault.code,
        message: `${fault.transition} failed: ${fault.message}`,
        ...omitUndefined({ invocationId }),
      };
      const ended: readonly LogEntry[] =
        invocationId === undefined
          ? []
          : [{ type: 'turn.ended', invocationId, stopReason: 'error' }];
      return {
        permit: null,
        said: closed.said,
        temp: deleteTempKeys(state),
        events: [
          ...(message === undefined ? [] : [userMessageEvent(message)]),
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
    // The turn's pending writes are applied before it ends.
    unless: [sessionWrite],
    reset: [...budgets, ...interrupted, sessionQueued, sessionFailed],
    give: allOf({
      permit: turnPermit,
      failed: optional(sessionFailed),
      temp: put(state),
      events: upTo(1, eventOut),
    }),
    run: ({
      ending: { stopReason, failedRequest, failedTurn },
      turn: { invocationId, usage },
      state,
    }) => ({
      permit: null,
      failed:
        failedRequest === undefined
          ? undefined
          : { request: toFirstCall(failedRequest), ...omitUndefined({ turn: failedTurn }) },
      temp: deleteTempKeys(state),
      events: [{ type: 'turn.ended', invocationId, stopReason, usage }],
    }),
  });

  const rewind = pure('session.rewind', {
    take: { rewind: rewindIn, permit: turnPermit },
    // A rewind also discards the call that failed.
    reset: [sessionFailed],
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
    // Higher than the start of a turn: the next message is answered after the rewind.
    priority: 1,
  });

  return net('turn-control', {
    in: {
      ...toPorts(resources, [...extensionPlaces, ...interrupted]),
      interruptIn,
      rewindIn,
      turnWaiting,
      stopAsked: stopRequested,
      turnStopping,
      turnEnding,
      turnCurrent,
      turnPermit,
      sessionWrite,
      sessionQueued,
      sessionFailed,
      sessionArchived,
      sessionCompleted,
      state,
    },
    out: {
      turnPermit,
      turnCurrent,
      turnEnding,
      turnStopping,
      sessionFailed,
      conversation,
      state,
      eventOut,
      ...Object.fromEntries(interrupted.map((one) => [one.name, one])),
    },
    transitions: [interrupt, late, halt, stop, abandon, end, rewind],
  });
}

function toPorts(resources: readonly TurnResources[], more: readonly AnyPlace[]): Ports {
  const places = resources.flatMap(({ mustAnswer, discardable, budgets }) => [
    ...mustAnswer,
    ...discardable,
    ...budgets,
  ]);
  return Object.fromEntries(
    [...places, ...more]
      .filter(({ kind }) => kind !== 'running')
      .map((place) => [place.name, place]),
  );
}

/** `temp:` keys are removed at the end of the turn. */
function deleteTempKeys(state: JsonObject): MapWrites {
  return { delete: Object.keys(state).filter((key) => key.startsWith('temp:')) };
}

function mergeHeldValues(a: HeldValues, b: HeldValues): HeldValues {
  return Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((name) => [
      name,
      [...(a[name] ?? []), ...(b[name] ?? [])],
    ]),
  );
}

/** The invocation of a failed firing, read from its input tokens. */
function findInvocationId(inputs: HeldValues): string | undefined {
  const named = Object.values(inputs)
    .flat()
    .map(
      (value) =>
        readMember(value, 'invocationId') ??
        readMember(readMember(value, 'result'), 'invocationId'),
    );
  return named.find((value) => typeof value === 'string');
}
