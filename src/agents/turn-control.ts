import { isFunctionCallPart } from '../core/index.ts';
import type { Content, JsonObject, LogEntry, Part } from '../core/index.ts';
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
  running,
  truncate,
  upTo,
} from '../net/index.ts';
import type { Effect, FiringToken, MapWrites, Net } from '../net/index.ts';
import { toolError } from '../tools/index.ts';
import {
  conversation,
  eventOut,
  interruptIn,
  modelFailed,
  modelRequest,
  modelResponse,
  rewindIn,
  sessionWrite,
  state,
  toolBatch,
  toolCall,
  toolParked,
  toolResult,
  turnBudget,
  turnCurrent,
  turnEnding,
  turnPermit,
  turnWaiting,
  userIn,
} from './places.ts';
import type {
  Batch,
  Call,
  CallResult,
  ConversationItem,
  IncomingMessage,
  ModelAnswer,
  ParkedCall,
  SessionWrite,
} from './places.ts';
import { resultEvent } from './result-event.ts';
import { answersOf } from './call-result.ts';

export interface TurnControlOptions {
  readonly agentName: string;
  readonly ask: Effect;
  readonly run: Effect<{ readonly call: typeof toolCall }>;
}

/** Stopping goes before everything else a turn could do in the same moment. */
const STOP_PRIORITY = 100;

/**
 * How a turn ends: by itself, by an interrupt, or by a fault. Whoever stops it takes everything the turn holds and
 * answers every call that is still open, so that the history stays one a model accepts.
 */
export function turnControl({ agentName, ask, run }: TurnControlOptions): Net {
  /** All that a turn may hold, wherever it stands. */
  const held = {
    requests: all(modelRequest, { min: 0 }),
    asked: all(running(ask), { min: 0 }),
    responses: all(modelResponse, { min: 0 }),
    failures: all(modelFailed, { min: 0 }),
    batches: all(toolBatch, { min: 0 }),
    calls: all(toolCall, { min: 0 }),
    ran: all(running(run), { min: 0 }),
    parked: all(toolParked, { min: 0 }),
    results: all(toolResult, { min: 0 }),
    writes: all(sessionWrite, { min: 0 }),
    endings: all(turnEnding, { min: 0 }),
  } as const;

  const interrupt = pure('turn.interrupt', {
    take: {
      interrupt: matching(interruptIn, ({ invocationId }) => invocationId),
      turn: matching(turnCurrent, ({ invocationId }) => invocationId),
      ...held,
    },
    reset: [turnBudget, turnWaiting],
    priority: STOP_PRIORITY,
    give: allOf({
      turn: turnCurrent,
      ending: turnEnding,
      said: append(conversation),
      events: upTo(100_000, eventOut),
    }),
    run: ({ turn, ...rest }) => {
      const closed = close(agentName, rest, 'The call was stopped by an interrupt.');
      return {
        turn,
        ending: { stopReason: 'interrupted' },
        said: closed.said,
        events: closed.events,
      };
    },
  });

  const late = pure('interrupt.late', {
    take: { interrupt: interruptIn },
    priority: STOP_PRIORITY - 1,
    give: allOf({ events: upTo(1, eventOut) }),
    run: ({ interrupt: { invocationId } }) => ({
      events: [{ type: 'turn.ended', invocationId, stopReason: 'interrupted' }],
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
    reset: [turnBudget, turnWaiting],
    priority: STOP_PRIORITY + 1,
    give: allOf({
      permit: turnPermit,
      said: append(conversation),
      temp: put(state),
      events: upTo(100_000, eventOut),
    }),
    run: ({ fault, turns, permits: _permits, state, ...rest }) => {
      const faulted = inputsOf(fault.inputs);
      const closed = close(
        agentName,
        joined(rest, faulted),
        'The call was dropped because the turn failed.',
      );
      const invocationId = turns[0]?.invocationId ?? faulted.invocationId;
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
        events: [...faulted.events, ...closed.events, error, ...ended],
      };
    },
  });

  const end = pure('turn.end', {
    take: { ending: turnEnding, turn: turnCurrent },
    read: { state },
    // What the turn wrote is written before it ends.
    unless: [sessionWrite],
    reset: [turnBudget],
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
      interruptIn,
      rewindIn,
      modelRequest,
      modelResponse,
      modelFailed,
      toolBatch,
      toolCall,
      toolParked,
      toolResult,
      turnBudget,
      turnWaiting,
      turnEnding,
      turnCurrent,
      turnPermit,
      sessionWrite,
      state,
    },
    out: { turnPermit, turnCurrent, turnEnding, conversation, state, eventOut },
    transitions: [interrupt, late, abandon, end, rewind],
  });
}

/** `temp:` keys live as long as the turn. */
function withoutTemp(state: JsonObject): MapWrites {
  return { delete: Object.keys(state).filter((key) => key.startsWith('temp:')) };
}

interface Held {
  readonly responses: readonly ModelAnswer[];
  readonly batches: readonly Batch[];
  readonly calls: readonly Call[];
  readonly ran: readonly FiringToken<{ readonly call: Call }>[];
  readonly parked: readonly ParkedCall[];
  readonly results: readonly CallResult[];
  readonly writes: readonly SessionWrite[];
}

/** The history and the events that close what a stopped turn left open. */
function close(
  author: string,
  held: Held,
  why: string,
): { readonly said: readonly ConversationItem[]; readonly events: readonly LogEntry[] } {
  const said: ConversationItem[] = [];
  const events: LogEntry[] = [];
  for (const { invocationId, content } of held.responses) {
    // An answer nobody acts on: what it says stands, what it asks for does not.
    const words = withoutCalls(content);
    if (words.parts.length === 0) continue;
    said.push({ invocationId, content: words });
    events.push({ type: 'agent.message', invocationId, author, content: words });
  }
  const unwritten = held.writes.flatMap(({ result }) =>
    result === undefined ? [] : [{ ...result, args: {} }],
  );
  const open: readonly Call[] = [
    ...held.calls,
    ...held.ran.map((firing) => firing.inputs.call),
    ...held.parked,
    ...unwritten,
  ];
  const cancelled = open.map((call): CallResult => {
    const { invocationId, callId, name, index } = call;
    return {
      invocationId,
      callId,
      name,
      index,
      outcome: 'cancelled',
      response: toolError('cancelled', why),
    };
  });
  for (const result of cancelled) events.push(resultEvent(author, result));
  for (const batch of held.batches) said.push(answersOf(batch, [...held.results, ...cancelled]));
  return { said, events };
}

function withoutCalls(content: Content): Content {
  return {
    role: content.role,
    parts: content.parts.filter((part: Part) => !isFunctionCallPart(part)),
  };
}

interface FaultedInputs {
  readonly responses: readonly ModelAnswer[];
  readonly batches: readonly Batch[];
  readonly calls: readonly Call[];
  readonly parked: readonly ParkedCall[];
  readonly results: readonly CallResult[];
  readonly writes: readonly SessionWrite[];
  readonly invocationId: string | undefined;
  readonly events: readonly LogEntry[];
}

function inputsOf(inputs: Readonly<Record<string, readonly unknown[]>>): FaultedInputs {
  const [message] = heldValues(inputs, userIn);
  const requests = heldValues(inputs, modelRequest);
  const responses = heldValues(inputs, modelResponse);
  const failures = heldValues(inputs, modelFailed);
  const batches = heldValues(inputs, toolBatch);
  const calls = heldValues(inputs, toolCall);
  const parked = heldValues(inputs, toolParked);
  const results = heldValues(inputs, toolResult);
  const turns = heldValues(inputs, turnCurrent);
  const some = [
    message,
    ...turns,
    ...requests,
    ...responses,
    ...failures,
    ...batches,
    ...calls,
    ...parked,
    ...results,
  ];
  return {
    responses,
    batches,
    calls,
    parked,
    results,
    writes: heldValues(inputs, sessionWrite),
    invocationId: some.find((token) => token !== undefined)?.invocationId,
    events: message === undefined ? [] : [messageEvent(message)],
  };
}

function messageEvent({ invocationId, messageId, content }: IncomingMessage): LogEntry {
  return { type: 'user.message', author: 'user', invocationId, messageId, content };
}

function joined(held: Held, faulted: FaultedInputs): Held {
  return {
    responses: [...held.responses, ...faulted.responses],
    batches: [...held.batches, ...faulted.batches],
    calls: [...held.calls, ...faulted.calls],
    ran: held.ran,
    parked: [...held.parked, ...faulted.parked],
    results: [...held.results, ...faulted.results],
    writes: [...held.writes, ...faulted.writes],
  };
}
