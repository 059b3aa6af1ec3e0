import { calledAgentWaits, isTextPart } from '../../core/index.ts';
import type {
  CalledAgentWait,
  JsonObject,
  LogEvent,
  LogEventByType,
  LoggedError,
  PartialEvent,
  Seq,
  Usage,
} from '../../core/index.ts';
import type { SessionDeleted } from '../../managed/index.ts';
import { toContentBlocks } from '../../managed/projections/content-blocks.ts';
import { toClientMessage, failureReference } from './failure-log.ts';
import { toThreadId } from './thread-id.ts';
import { toWireContent, toWireResult, wireEventId } from './wire-event.ts';
import type { WireEvent } from './wire-event.ts';
import { toWireTime } from './wire-schemas.ts';

interface IdentifiedEvent extends ProjectedEvent {
  readonly id: string;
  /** The id that an earlier version of the server used. It is still valid as a cursor. */
  readonly legacyId: string | undefined;
}

export interface EventProjectionOptions {
  readonly sessionId: string;
  readonly sessionUid: string;
  /** Reads the log after a number, to its end. */
  readonly read: (from: Seq) => AsyncIterable<LogEvent>;
}

/** Part of an event that is being generated. It is not stored and has no id of its own. */
export type WirePreview = JsonObject & { readonly type: 'event_start' | 'event_delta' };

/** Which parts of unfinished events one reader has received. */
export class PreviewState {
  /** The firing whose parts are shown now, and the event types that were started for it. */
  firingId = '';
  types: Set<string> = new Set<string>();
  /** Firings whose further parts are not shown, because they do not continue the parts that were shown. */
  readonly invalidFirings: Set<string> = new Set<string>();
}

/** Position of an event: the number of its log entry, and its index among the events of that entry. */
export interface EventPosition {
  readonly seq: Seq;
  readonly index: number;
}

interface ProjectedEvent {
  /** Key that the event id is derived from. Default: the number of the log entry. */
  readonly key?: string;
  readonly type: string;
  readonly fields?: JsonObject;
}

/**
 * Shows a log in the format of the HTTP API and finds events by their ids. Which call a result belongs to, the index of
 * a message in its turn, and the position of an id depend on earlier entries. The projection therefore indexes the log
 * once, and later only new entries.
 */
export class EventProjection {
  readonly #sessionId: string;
  readonly #uid: string;
  readonly #read: (from: Seq) => AsyncIterable<LogEvent>;
  readonly #calls = new Map<string, LogEventByType<'tool.call'>>();
  /** Calls of tools of called agents, with the number of the entry that showed each first. */
  readonly #calledAgentCalls = new Map<string, Seq>();
  readonly #messageCounts = new Map<string, number>();
  /** By log entry: how many messages of the same turn precede it. The entry may be projected again. */
  readonly #messageIndexes = new Map<Seq, number>();
  /** Call id by the id of the event that showed the call. */
  readonly #callIdsByEventId = new Map<string, string>();
  readonly #seqsByEventId = new Map<string, Seq>();
  /** By invocation: the first entry that records its interruption. */
  readonly #interrupts = new Map<string, Seq>();
  #indexedSeq: Seq = 0;

  constructor({ sessionId, sessionUid, read }: EventProjectionOptions) {
    this.#sessionId = sessionId;
    this.#uid = sessionUid;
    this.#read = read;
  }

  /** Number of event ids in memory. */
  get size(): number {
    return this.#seqsByEventId.size;
  }

  /** The events that show a log entry: none, one, or several in order. */
  async project(event: LogEvent | SessionDeleted): Promise<readonly WireEvent[]> {
    if (event.type === 'session.deleted') {
      const id = wireEventId(this.#uid, 'deleted');
      return [{ id, type: 'session.deleted', seq: event.seq }];
    }
    await this.#indexUpTo(event.seq - 1);
    this.#index(event);
    const { seq, at } = event;
    return this.#projectWithIds(event).map(({ id, type, fields }) => ({
      id,
      type,
      seq,
      processed_at: toWireTime(at),
      ...fields,
    }));
  }

  /** The previews for a partial event: what it adds to the event that is being generated. */
  async preview(
    event: PartialEvent,
    after: Seq,
    state: PreviewState,
  ): Promise<readonly WirePreview[]> {
    if (event.type === 'partial.reset') {
      // Parts of the failed attempt cannot be withdrawn. The complete event follows with the right content.
      state.invalidFirings.add(event.firingId);
      return [];
    }
    if (event.kind === 'progress' || state.invalidFirings.has(event.firingId)) return [];
    await this.#indexUpTo(after);
    const type = event.kind === 'text' ? 'agent.message' : 'agent.thinking';
    const id = this.#eventId(
      turnMessageKey(type, event.invocationId, this.#messageCounts.get(event.invocationId)),
    );
    if (state.firingId !== event.firingId) {
      state.firingId = event.firingId;
      state.types = new Set();
    }
    const isNew = !state.types.has(type);
    state.types.add(type);
    const start: WirePreview = { type: 'event_start', event: { type, id } };
    if (type === 'agent.thinking') return isNew ? [start] : [];
    const content = { type: 'text', text: event.text };
    const delta: WirePreview = {
      type: 'event_delta',
      event_id: id,
      delta: { type: 'content_delta', index: 0, content },
    };
    return isNew ? [start, delta] : [delta];
  }

  /**
   * Finds a call by its own id, or by the id of the event that showed it. Returns undefined if this log has no such
   * call.
   */
  async resolveCallId(id: string): Promise<string | undefined> {
    const indexed = this.#calls.has(id) ? id : this.#callIdsByEventId.get(id);
    if (indexed !== undefined) return indexed;
    await this.#indexUpTo(Infinity);
    return this.#calls.has(id) || this.#calledAgentCalls.has(id)
      ? id
      : this.#callIdsByEventId.get(id);
  }

  /** The log entry of a call, found by call id or event id. */
  async findCall(callId: string): Promise<LogEventByType<'tool.call'> | undefined> {
    const id = await this.resolveCallId(callId);
    return id === undefined ? undefined : this.#calls.get(id);
  }

  /** The position of an event; undefined if it is not in this log. */
  async findPosition(id: string): Promise<EventPosition | undefined> {
    if (!this.#seqsByEventId.has(id)) await this.#indexUpTo(Infinity);
    const seq = this.#seqsByEventId.get(id);
    if (seq === undefined) return undefined;
    for await (const event of this.#read(seq - 1)) {
      const index = this.#projectWithIds(event).findIndex(
        (projected) => projected.id === id || projected.legacyId === id,
      );
      return index < 0 ? undefined : { seq, index };
    }
    return undefined;
  }

  async #indexUpTo(seq: Seq): Promise<void> {
    if (this.#indexedSeq >= seq) return;
    for await (const event of this.#read(this.#indexedSeq)) {
      if (event.seq > seq) return;
      this.#index(event);
    }
  }

  #index(event: LogEvent): void {
    if (event.seq <= this.#indexedSeq) return;
    this.#indexedSeq = event.seq;
    if (event.type === 'tool.call') {
      this.#calls.set(event.callId, event);
      this.#callIdsByEventId.set(this.#eventId(callKey(event.callId)), event.callId);
    }
    if (event.type === 'tool.pending')
      for (const { callId } of calledAgentWaits(event.request) ?? []) {
        if (this.#calledAgentCalls.has(callId)) continue;
        this.#calledAgentCalls.set(callId, event.seq);
        this.#callIdsByEventId.set(this.#eventId(callKey(callId)), callId);
      }
    if (event.type === 'agent.message') {
      const before = this.#messageCounts.get(event.invocationId) ?? 0;
      this.#messageIndexes.set(event.seq, before);
      this.#messageCounts.set(event.invocationId, before + 1);
    }
    if (event.type === 'turn.ended' && event.stopReason === 'interrupted') {
      const { invocationId } = event;
      if (!this.#interrupts.has(invocationId)) this.#interrupts.set(invocationId, event.seq);
    }
    for (const { id, legacyId } of this.#projectWithIds(event)) {
      if (!this.#seqsByEventId.has(id)) this.#seqsByEventId.set(id, event.seq);
      if (legacyId !== undefined) this.#seqsByEventId.set(legacyId, event.seq);
    }
  }

  #projectWithIds(event: LogEvent): readonly IdentifiedEvent[] {
    return this.#projectEvent(event).map((projected, index) => {
      const ownKey = `seq:${event.seq}${index === 0 ? '' : `.${index}`}`;
      return {
        ...projected,
        id: this.#eventId(projected.key ?? ownKey),
        legacyId: projected.type === 'user.interrupt' ? this.#eventId(ownKey) : undefined,
      };
    });
  }

  #projectEvent(event: LogEvent): readonly ProjectedEvent[] {
    switch (event.type) {
      case 'user.message':
        return [
          {
            key: messageKey(event.messageId),
            type: 'user.message',
            fields: { content: toWireContent(toContentBlocks(event.content)) },
          },
        ];
      case 'turn.started':
      case 'turn.resumed':
        return [{ type: 'session.status_running' }];
      case 'agent.message':
        return this.#projectMessage(event);
      case 'tool.call':
        return [this.#projectCall(event)];
      case 'tool.pending':
        return (calledAgentWaits(event.request) ?? [])
          .filter(({ callId }) => this.#calledAgentCalls.get(callId) === event.seq)
          .map(projectCalledAgentCall);
      case 'tool.answered':
        return this.#projectConfirmation(event);
      case 'tool.result':
        return [this.#projectResult(event)];
      case 'turn.waiting': {
        const ids = event.callIds.map((callId) => this.#eventId(callKey(callId)));
        return [idleEvent({ type: 'requires_action', event_ids: ids })];
      }
      case 'turn.ended':
        return this.#projectTurnEnd(event);
      case 'turn.rescheduled':
        return [
          {
            type: 'session.error',
            fields: { error: this.#toErrorFields(event.error, event.seq, 'retrying') },
          },
          { type: 'session.status_rescheduled' },
        ];
      case 'model.attempt':
        return [{ type: 'session.status_running' }];
      case 'error':
        return [
          {
            type: 'session.error',
            fields: { error: this.#toErrorFields(event, event.seq, toRetryStatus(event)) },
          },
        ];
      case 'outcome.defined':
        return [projectOutcome(event)];
      case 'outcome.evaluated':
        return this.#projectEvaluation(event);
      case 'session.archived':
      case 'session.completed':
        return [{ type: 'session.status_terminated' }];
      default:
        return [];
    }
  }

  #projectMessage(event: LogEventByType<'agent.message'>): readonly ProjectedEvent[] {
    const { invocationId, usage, content } = event;
    const texts = toWireContent(toContentBlocks(content));
    const isThinking = content.parts.some((part) => isTextPart(part) && part.thought === true);
    const start = `seq:${event.seq}`;
    const messageIndex = this.#messageIndexes.get(event.seq);
    return [
      { key: start, type: 'span.model_request_start' },
      ...(isThinking
        ? [
            {
              key: turnMessageKey('agent.thinking', invocationId, messageIndex),
              type: 'agent.thinking',
            },
          ]
        : []),
      ...(texts.length > 0
        ? [
            {
              key: turnMessageKey('agent.message', invocationId, messageIndex),
              type: 'agent.message',
              fields: { content: texts },
            },
          ]
        : []),
      {
        type: 'span.model_request_end',
        fields: {
          model_request_start_id: this.#eventId(start),
          is_error: false,
          model_usage: toModelUsage(usage),
        },
      },
    ];
  }

  #projectCall({
    callId,
    name,
    args,
    origin,
    permission,
  }: LogEventByType<'tool.call'>): ProjectedEvent {
    const key = callKey(callId);
    if (origin?.kind === 'custom')
      return { key, type: 'agent.custom_tool_use', fields: { name, input: args } };
    const evaluated = permission === undefined ? {} : { evaluated_permission: permission };
    const fields = { name, input: args, ...evaluated };
    return origin?.kind === 'mcp'
      ? {
          key,
          type: 'agent.mcp_tool_use',
          fields: { ...fields, mcp_server_name: origin.server },
        }
      : { key, type: 'agent.tool_use', fields };
  }

  /** A `tool.answered` entry with an answer shows nothing: the result shows it. */
  #projectConfirmation({
    callId,
    decision,
    message,
  }: LogEventByType<'tool.answered'>): readonly ProjectedEvent[] {
    if (decision === 'answered') return [];
    const fields = {
      tool_use_id: this.#eventId(callKey(callId)),
      result: decision === 'approved' ? 'allow' : 'deny',
      ...(message !== undefined && { deny_message: message }),
    };
    return [{ key: confirmationKey(callId), type: 'user.tool_confirmation', fields }];
  }

  #projectResult({ callId, outcome, response }: LogEventByType<'tool.result'>): ProjectedEvent {
    const key = resultKey(callId);
    const id = this.#eventId(callKey(callId));
    const output = { content: toWireResult(response), is_error: outcome !== 'ok' };
    const call = this.#calls.get(callId);
    switch (call?.origin?.kind) {
      case 'custom':
        return {
          key,
          type: 'user.custom_tool_result',
          fields: { custom_tool_use_id: id, ...output },
        };
      case 'mcp':
        return { key, type: 'agent.mcp_tool_result', fields: { mcp_tool_use_id: id, ...output } };
      default: {
        const type = call?.needs === 'result' ? 'user.tool_result' : 'agent.tool_result';
        return { key, type, fields: { tool_use_id: id, ...output } };
      }
    }
  }

  #projectTurnEnd({
    stopReason,
    invocationId,
    seq,
  }: LogEventByType<'turn.ended'>): readonly ProjectedEvent[] {
    switch (stopReason) {
      case 'interrupted': {
        const isFirst = this.#interrupts.get(invocationId) === seq;
        const key = isFirst ? { key: interruptKey(invocationId) } : {};
        return [{ ...key, type: 'user.interrupt' }, idleEvent({ type: 'end_turn' })];
      }
      case 'error':
      case 'retries_exhausted':
        return [idleEvent({ type: 'retries_exhausted' })];
      case 'budget_reached':
        return [idleEvent({ type: 'budget_reached' })];
      case 'refusal': {
        const details = { type: 'refusal', category: null, explanation: null };
        return [idleEvent({ type: 'refusal' }, details)];
      }
      default:
        return [idleEvent({ type: 'end_turn' })];
    }
  }

  #projectEvaluation(event: LogEventByType<'outcome.evaluated'>): readonly ProjectedEvent[] {
    const { outcomeId: outcome_id, iteration, result, explanation, usage } = event;
    const start = `seq:${event.seq}`;
    return [
      { key: start, type: 'span.outcome_evaluation_start', fields: { outcome_id, iteration } },
      {
        type: 'span.outcome_evaluation_end',
        fields: {
          outcome_id,
          iteration,
          result,
          explanation,
          outcome_evaluation_start_id: this.#eventId(start),
          usage: toModelUsage(usage),
        },
      },
    ];
  }

  #toErrorFields(error: LoggedError, seq: Seq, retry: RetryStatus): JsonObject {
    const message = toClientMessage(error, failureReference(this.#sessionId, seq));
    return { type: toErrorType(error.code), message, retry_status: { type: retry } };
  }

  #eventId(key: string): string {
    return wireEventId(this.#uid, key);
  }
}

/** A call that waits in a thread, shown in the session so that its clients can answer it. */
function projectCalledAgentCall({
  callId,
  name,
  args,
  needs,
  session,
}: CalledAgentWait): ProjectedEvent {
  const key = callKey(callId);
  const fields = { name, input: args, session_thread_id: toThreadId(session) };
  return needs === 'approval'
    ? { key, type: 'agent.tool_use', fields: { ...fields, evaluated_permission: 'ask' } }
    : { key, type: 'agent.custom_tool_use', fields };
}

export function messageKey(messageId: string): string {
  return `message:${messageId}`;
}

export function callKey(callId: string): string {
  return `call:${callId}`;
}

export function resultKey(callId: string): string {
  return `result:${callId}`;
}

export function confirmationKey(callId: string): string {
  return `confirmation:${callId}`;
}

/** The key is the stopped turn's invocation, because a turn is interrupted once. */
export function interruptKey(invocationId: string): string {
  return `interrupt:${invocationId}`;
}

export function outcomeKey(outcomeId: string): string {
  return `outcome:${outcomeId}`;
}

/** The key is the index in the turn, so the id is known while the message is generated. */
function turnMessageKey(type: string, invocationId: string, messageIndex = 0): string {
  return `${type}:${invocationId}:${messageIndex}`;
}

function idleEvent(
  stop_reason: JsonObject,
  stop_details: JsonObject | null = null,
): ProjectedEvent {
  return { type: 'session.status_idle', fields: { stop_reason, stop_details } };
}

function projectOutcome(event: LogEventByType<'outcome.defined'>): ProjectedEvent {
  const { outcomeId: outcome_id, description, rubric, maxIterations } = event;
  return {
    key: outcomeKey(outcome_id),
    type: 'user.define_outcome',
    fields: {
      outcome_id,
      description,
      rubric: { type: 'text', content: rubric ?? description },
      max_iterations: maxIterations,
    },
  };
}

/** Converts token usage to the format of the HTTP API. */
function toModelUsage(usage: Usage | undefined): JsonObject {
  return {
    input_tokens: Math.max(0, usage?.inputTokens ?? 0),
    output_tokens: Math.max(0, usage?.outputTokens ?? 0),
    cache_read_input_tokens: Math.max(0, usage?.cacheReadTokens ?? 0),
    cache_creation_input_tokens: Math.max(0, usage?.cacheWriteTokens ?? 0),
  };
}

type RetryStatus = 'retrying' | 'exhausted' | 'terminal';

function toRetryStatus({ code }: { readonly code: string }): RetryStatus {
  return /overloaded|rate_limit|timeout|network|unavailable/.test(code) ? 'exhausted' : 'terminal';
}

function toErrorType(code: string): string {
  if (code === 'model_overloaded') return 'model_overloaded_error';
  if (code.startsWith('model_rate_limit')) return 'model_rate_limited_error';
  if (code.startsWith('model_')) return 'model_request_failed_error';
  if (code.startsWith('mcp_auth')) return 'mcp_authentication_failed_error';
  if (code.startsWith('mcp_')) return 'mcp_connection_failed_error';
  return 'unknown_error';
}
