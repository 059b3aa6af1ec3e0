import { getFunctionCalls } from '../content/function-calls.ts';
import type { CallId, SessionUid } from '../identity/ids.ts';
import type { JsonObject } from '../json/json.ts';
import { mergeEventActions } from './event-actions.ts';
import type { Event } from './event.ts';
import type { LogEvent, LogEventByType } from './log-event.ts';
import { toAdkEvent } from './to-adk-event.ts';

/** The calls of one answer of a model, until each has a result or waits. */
interface CallGroup {
  readonly message: LogEventByType<'agent.message'>;
  /** Calls that have neither a result nor wait for an answer. */
  readonly running: Set<CallId>;
  /** State changes and results that are not shown yet. */
  held: Event[];
}

/**
 * Converts the log of a session to ADK events, in its order. The results of the calls of one answer, and what their tools
 * wrote to state, are one event, which has the id of its last part. A call that waits does not hold up the others.
 *
 * A reader that begins inside a turn gets other events than one that begins before it. So begin at a `user.message`, or
 * where a turn ended or waits.
 */
export class AdkEventMapper {
  readonly #uid: SessionUid;
  readonly #groups = new Map<CallId, CallGroup>();

  constructor(sessionUid: SessionUid) {
    this.#uid = sessionUid;
  }

  /** Returns the events that a log event completes. */
  add(logEvent: LogEvent): readonly Event[] {
    switch (logEvent.type) {
      case 'agent.message':
        this.#open(logEvent);
        return this.#convert(logEvent);
      case 'tool.call':
        return logEvent.needs === 'nothing' ? [] : this.#wait(logEvent);
      case 'tool.pending':
        return this.#wait(logEvent);
      case 'tool.answered':
        this.#groups.get(logEvent.callId)?.running.add(logEvent.callId);
        return [];
      case 'state.changed': {
        const group = this.#findRunning(logEvent);
        if (group === undefined) return this.#convert(logEvent);
        group.held.push(...this.#convert(logEvent));
        return [];
      }
      case 'tool.result': {
        const events = this.#convert(logEvent);
        const group = this.#groups.get(logEvent.callId);
        if (group === undefined) return events;
        group.running.delete(logEvent.callId);
        group.held.push(...events);
        return group.running.size === 0 ? release(group) : [];
      }
      case 'turn.waiting':
        return this.#releaseAll();
      case 'turn.ended':
        return [...this.endTurn(), ...this.#convert(logEvent)];
      default:
        return this.#convert(logEvent);
    }
  }

  /** Returns what is held back, because the turn is over. */
  endTurn(): readonly Event[] {
    const held = this.#releaseAll();
    this.#groups.clear();
    return held;
  }

  #open(message: LogEventByType<'agent.message'>): void {
    const ids = getFunctionCalls(message).map(({ id }) => id);
    const group = { message, running: new Set(ids), held: [] };
    for (const id of ids) this.#groups.set(id, group);
  }

  #wait(logEvent: LogEventByType<'tool.call' | 'tool.pending'>): readonly Event[] {
    const { callId } = logEvent;
    const group = this.#groups.get(callId);
    group?.running.delete(callId);
    const isDone = group !== undefined && group.running.size === 0;
    const { message } = group ?? {};
    // The event of the call names it already, and nothing is asked.
    const isKnown =
      message?.longRunningToolIds?.includes(callId) === true &&
      (logEvent.type === 'tool.call'
        ? logEvent.needs === 'result'
        : logEvent.request === undefined);
    const args = message && getFunctionCalls(message).find(({ id }) => id === callId)?.args;
    return [...(isKnown ? [] : this.#convert(logEvent, args)), ...(isDone ? release(group) : [])];
  }

  /** The calls of an agent that run, to which its state changes belong. */
  #findRunning({ author, branch }: LogEventByType<'state.changed'>): CallGroup | undefined {
    return [...this.#groups.values()].findLast(
      ({ message, running }) =>
        running.size > 0 && message.author === author && message.branch === branch,
    );
  }

  #releaseAll(): readonly Event[] {
    return [...new Set(this.#groups.values())].flatMap((group) => release(group));
  }

  #convert(logEvent: LogEvent, args?: JsonObject): readonly Event[] {
    const event = toAdkEvent(logEvent, this.#uid, args);
    return event === undefined ? [] : [event];
  }
}

/** The results of a group as one event, in the order of the calls; its state changes alone if it has no results. */
function release(group: CallGroup): readonly Event[] {
  const { held, message } = group;
  group.held = [];
  const results = held.filter(({ content }) => content !== undefined);
  const last = results.at(-1);
  if (last === undefined) return held;
  const order = getFunctionCalls(message).map(({ id }) => id);
  const parts = results
    .flatMap(({ content }) => content?.parts ?? [])
    .toSorted((a, b) => position(order, a) - position(order, b));
  return [
    {
      ...last,
      content: { role: 'tool', parts },
      actions: mergeEventActions(held.map(({ actions }) => actions)),
    },
  ];
}

function position(order: readonly CallId[], part: object): number {
  return 'functionResponse' in part
    ? order.indexOf(String(Reflect.get(Object(part.functionResponse), 'id')))
    : -1;
}
