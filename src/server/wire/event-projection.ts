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
  /** The id that an earlier version of the server gave it: still a cursor. */
  readonly legacyId: string | undefined;
}

export interface EventProjectionOptions {
  readonly sessionId: string;
  readonly sessionUid: string;
  /** Reads the log after a number, to its end. */
  readonly read: (from: Seq) => AsyncIterable<LogEvent>;
}

/** A piece of an answer that is being made: never kept, and it has no id of its own. */
export type WirePreview = JsonObject & { readonly type: 'event_start' | 'event_delta' };

/** Which pieces of answers one reader was shown. */
export class PreviewState {
  /** The firing whose pieces are shown, and the types that were begun. */
  firingId = '';
  types: Set<string> = new Set<string>();
  /** Firings whose pieces no longer join to what they will say. */
  readonly invalidFirings: Set<string> = new Set<string>();
}

/** Where in the log an event of the wire stands: the number of its entry, and its index among the events of that one. */
export interface EventPosition {
  readonly seq: Seq;
  readonly index: number;
}

interface ProjectedEvent {
  /** What it is about: its id derives from it. The event's own number unless said. */
  readonly key?: string;
  readonly type: string;
  readonly fields?: JsonObject;
}

/**
 * Shows a log as the wire spells it, and finds events by their ids. What a result answers, which of a turn's messages
 * one is and where an id stands follow from the log before it: the log is read once, and only its new entries later.
 */
export class EventProjection {
  readonly #sessionId: string;
  readonly #uid: string;
  readonly #read: (from: Seq) => AsyncIterable<LogEvent>;
  readonly #calls = new Map<string, LogEventByType<'tool.call'>>();
  /** Calls of agents that the session called, each with the event that showed it first. */
  readonly #calledAgentCalls = new Map<string, Seq>();
  readonly #messageCounts = new Map<string, number>();
  /** How many messages of its turn stand before one, by its number: it may be shown again. */
  readonly #messageIndexes = new Map<Seq, number>();
  /** The call of each event that showed one. */
  readonly #callIdsByEventId = new Map<string, string>();
  readonly #seqsByEventId = new Map<string, Seq>();
  /** The first entry that says that a turn was interrupted. */
  readonly #interrupts = new Map<string, Seq>();
  #indexedSeq: Seq = 0;

  constructor({ sessionId, sessionUid, read }: EventProjectionOptions) {
    this.#sessionId = sessionId;
    this.#uid = sessionUid;
    this.#read = read;
  }

  /** How many ids it has in memory. */
  get size(): number {
    return this.#seqsByEventId.size;
  }

  /** What clients see of an event: none, one, or several, in order. */
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

  /** What a piece of an answer adds to the event that it will be. */
  async preview(
    event: PartialEvent,
    after: Seq,
    state: PreviewState,
  ): Promise<readonly WirePreview[]> {
    if (event.type === 'partial.reset') {
      // What was shown of the attempt before cannot be taken back: the whole event tells.
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

  /** The call that a client means by its own id, or by that of the event that showed it; undefined for none of this log. */
  async resolveCallId(id: string): Promise<string | undefined> {
    const indexed = this.#calls.has(id) ? id : this.#callIdsByEventId.get(id);
    if (indexed !== undefined) return indexed;
    await this.#indexUpTo(Infinity);
    return this.#calls.has(id) || this.#calledAgentCalls.has(id)
      ? id
      : this.#callIdsByEventId.get(id);
  }

  /** How a call is shown: by an event of a client's own tool, of an MCP server's, or of a tool that runs here. */
  async findCall(callId: string): Promise<LogEventByType<'tool.call'> | undefined> {
    const id = await this.resolveCallId(callId);
    return id === undefined ? undefined : this.#calls.get(id);
  }

  /** Where an event stands; undefined when it is not in this log. */
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

  /** An answer is shown by the result it gives. */
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

/** A call that waits in a thread, shown where somebody looks who may answer it. */
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

/** An interrupt by the turn that it stops: a turn is stopped once. */
export function interruptKey(invocationId: string): string {
  return `interrupt:${invocationId}`;
}

export function outcomeKey(outcomeId: string): string {
  return `outcome:${outcomeId}`;
}

/** A message by its place in its turn: so its id is known while it is made. */
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

/** Tokens as the wire counts them. */
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
