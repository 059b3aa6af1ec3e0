import {
  omitUndefined,
  readAnswer,
  TurnNotCompletedError,
  type TurnStop,
  type WaitingCall,
} from '../core/internal.ts';
import type { FollowOptions } from './follow-events.ts';
import type { HttpCallOptions } from './http-caller.ts';
import type { PageParams, Session } from './resources.ts';
import type { AcceptedEvent, IdleReason, SessionEvent, StreamedEvent } from './session-event.ts';
import { userMessage, type UserEvent, type UserMessage } from './user-event.ts';

/** The calls of the client that `ask` makes. */
interface SessionCalls {
  readonly get: (id: string) => Promise<Session>;
  readonly send: (
    id: string,
    events: readonly UserEvent[],
    options: AskOptions,
  ) => Promise<readonly AcceptedEvent[]>;
  readonly listEvents: (id: string, page?: PageParams) => AsyncIterable<SessionEvent>;
  readonly events: (id: string, options: FollowOptions) => AsyncIterable<StreamedEvent>;
}

type AskOptions = Pick<HttpCallOptions, 'signal' | 'idempotencyKey'>;

/**
 * Sends a message and reads its turn to the end.
 * @throws TurnNotCompletedError, ApiError, ConnectionError, or the reason of an aborted signal
 */
export async function ask(
  { get, send, events, listEvents }: SessionCalls,
  id: string,
  message: string | UserMessage,
  options: AskOptions = {},
): Promise<string> {
  const { signal, idempotencyKey } = options;
  const before = await get(id);
  const [accepted] = await send(
    id,
    [typeof message === 'string' ? userMessage(message) : message],
    options,
  );
  const reader = new AnswerReader(accepted?.id ?? '');
  // A message that was sent earlier with this key may be anywhere in the log.
  const after = idempotencyKey === undefined ? before.last_seq : 0;
  // A session without a pending call did not wait. A server of an earlier release does not report them.
  if (idempotencyKey === undefined && before.pending_count !== 0) {
    const query = { order: 'desc', types: STATUS_TYPES, limit: 1 };
    for await (const status of listEvents(id, query)) {
      if (status.type !== 'session.status_idle') break;
      const stop = reader.waitAt(status);
      if (stop === undefined || status.seq > before.last_seq) break;
      if (await isAnswered(listEvents, id, status.stop_reason)) break;
      throw new TurnNotCompletedError(id, {
        ...stop,
        pending: await listWaitingCalls(listEvents(id), status.stop_reason),
      });
    }
  }
  for await (const event of events(id, { after, ...omitUndefined({ signal }) })) {
    if (!('seq' in event)) continue;
    const stop = reader.read(event);
    if (stop === undefined) continue;
    if (event.type === 'session.status_idle' && stop.stopReason === 'requires_action') {
      if (await isAnswered(listEvents, id, event.stop_reason)) continue;
      // A wait of an earlier read of the log may be over. Read after the answers, of which each extends the log.
      if ((await get(id)).last_seq > event.seq) continue;
    }
    return readAnswer(id, stop);
  }
  signal?.throwIfAborted();
  return readAnswer(id, reader.endedStop);
}

const STATUS_TYPES = [
  'session.status_idle',
  'session.status_running',
  'session.status_rescheduled',
  'session.status_terminated',
];

const ANSWER_TYPES = ['user.tool_confirmation', 'user.tool_result', 'user.custom_tool_result'];

/** True if an answer to one of the waiting calls is accepted and not processed yet. */
async function isAnswered(
  listEvents: SessionCalls['listEvents'],
  id: string,
  reason: IdleReason,
): Promise<boolean> {
  const waiting: readonly string[] = reason.type === 'requires_action' ? reason.event_ids : [];
  for await (const event of listEvents(id, { order: 'desc', types: ANSWER_TYPES })) {
    const answer = toAnswer(event);
    if (answer?.isProcessed === true) return false;
    if (answer !== undefined && waiting.includes(answer.callId)) return true;
  }
  return false;
}

/** The answer that an event is. Undefined for any other event. */
function toAnswer(
  event: SessionEvent,
): { readonly callId: string; readonly isProcessed: boolean } | undefined {
  switch (event.type) {
    case 'user.tool_confirmation':
    case 'user.tool_result':
      return { callId: event.tool_use_id, isProcessed: event.processed_at !== null };
    case 'user.custom_tool_result':
      return { callId: event.custom_tool_use_id, isProcessed: event.processed_at !== null };
    default:
      return undefined;
  }
}

async function listWaitingCalls(
  events: AsyncIterable<SessionEvent>,
  reason: IdleReason,
): Promise<readonly WaitingCall[]> {
  const ids = reason.type === 'requires_action' ? reason.event_ids : [];
  const calls: WaitingCall[] = [];
  for await (const event of events) {
    const call = ids.includes(event.id) ? toWaitingCall(event) : undefined;
    if (call !== undefined) calls.push(call);
  }
  return calls;
}

/** Reads how the turn of a message stops from the events of its session. */
class AnswerReader {
  readonly #messageId: string;
  readonly #calls = new Map<string, WaitingCall>();
  #hasBegun = false;
  #isInterrupted = false;
  #text = '';
  #error: TurnStop['error'];

  constructor(messageId: string) {
    this.#messageId = messageId;
  }

  /** Returns the stop, if the event stops the turn, or is a wait of the turn before it. */
  read(event: SessionEvent): TurnStop | undefined {
    const call = toWaitingCall(event);
    if (call !== undefined) this.#calls.set(event.id, call);
    if (event.id === this.#messageId) this.#hasBegun = true;
    if (event.type === 'session.status_idle' && !this.#hasBegun) return this.waitAt(event);
    if (!this.#hasBegun) return undefined;
    switch (event.type) {
      case 'agent.message':
        this.#text = event.content.map((block) => ('text' in block ? block.text : '')).join('');
        return undefined;
      case 'user.interrupt':
        this.#isInterrupted = true;
        return undefined;
      case 'session.error': {
        const { type, message } = event.error;
        this.#error = { code: type, message };
        return undefined;
      }
      case 'session.status_idle':
        return this.waitAt(event) ?? this.#end(event.stop_reason.type);
      default:
        return undefined;
    }
  }

  /** The stop of a session that waits for answers. Undefined for any other reason. */
  waitAt({
    stop_reason,
  }: Extract<SessionEvent, { readonly type: 'session.status_idle' }>): TurnStop | undefined {
    if (stop_reason.type !== 'requires_action') return undefined;
    const pending = stop_reason.event_ids.flatMap((id) => this.#calls.get(id) ?? []);
    return { ...this.#facts, stopReason: 'requires_action', pending, isQueued: !this.#hasBegun };
  }

  /** The stop of a session that ended before the turn did. */
  get endedStop(): TurnStop {
    return { ...this.#facts, stopReason: 'interrupted', pending: [] };
  }

  #end(reason: IdleReason['type']): TurnStop {
    const stopReason = this.#isInterrupted ? 'interrupted' : reason;
    return { ...this.#facts, stopReason, pending: [] };
  }

  get #facts(): Pick<TurnStop, 'text' | 'error'> {
    return { text: this.#text, error: this.#error };
  }
}

/** The call that an event shows. Undefined for an event that is no call. */
function toWaitingCall(event: SessionEvent): WaitingCall | undefined {
  switch (event.type) {
    case 'agent.tool_use':
    case 'agent.mcp_tool_use': {
      const needs = event.evaluated_permission === 'ask' ? 'approval' : 'result';
      return { id: event.id, name: event.name, args: toJson(event.input), needs };
    }
    case 'agent.custom_tool_use':
      return { id: event.id, name: event.name, args: toJson(event.input), needs: 'result' };
    default:
      return undefined;
  }
}

function toJson(input: Readonly<Record<string, unknown>>): WaitingCall['args'] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was parsed from JSON
  return input as WaitingCall['args'];
}
