import { isTextPart } from '../core/index.ts';
import type {
  JsonObject,
  LogEvent,
  LogEventOf,
  LoggedError,
  PartialEvent,
  Seq,
  Usage,
} from '../core/index.ts';
import type { SessionDeleted } from '../managed/index.ts';
import { blocksOfContent } from '../managed/content-blocks.ts';
import { clientMessage, failureReference } from './client-failure.ts';
import { toWireContent, toWireResult, wireEventId } from './wire-event.ts';
import type { WireEvent } from './wire-event.ts';
import { toWireTime } from './wire-schemas.ts';

export interface WireFaceOptions {
  readonly sessionId: string;
  readonly sessionUid: string;
  /** Reads the log after a number, to its end. */
  readonly read: (from: Seq) => AsyncIterable<LogEvent>;
}

/** A piece of an answer that is being made: never kept, and it has no id of its own. */
export type Preview = JsonObject & { readonly type: 'event_start' | 'event_delta' };

interface Shown {
  /** What it is about: its id derives from it. The event's own number unless said. */
  readonly about?: string;
  readonly type: string;
  readonly fields?: JsonObject;
}

/**
 * Shows a log as the wire spells it. What a result answers, and which of a turn's messages one is, stands earlier in
 * the log: it is read there, once, when the first event is shown.
 */
export class WireFace {
  readonly #sessionId: string;
  readonly #uid: string;
  readonly #read: (from: Seq) => AsyncIterable<LogEvent>;
  readonly #calls = new Map<string, LogEventOf<'tool.call'>>();
  readonly #said = new Map<string, number>();
  /** How many messages of its turn stand before one, by its number: it may be shown again. */
  readonly #before = new Map<Seq, number>();
  #known: Seq = 0;
  /** The firing whose pieces are shown, and whether they still join to what it will say. */
  #previewed: { readonly firing: string; readonly kinds: Set<string> } | undefined;
  readonly #spoilt = new Set<string>();

  constructor({ sessionId, sessionUid, read }: WireFaceOptions) {
    this.#sessionId = sessionId;
    this.#uid = sessionUid;
    this.#read = read;
  }

  /** What clients see of an event: none, one, or several, in order. */
  async show(event: LogEvent | SessionDeleted): Promise<readonly WireEvent[]> {
    if (event.type === 'session.deleted') {
      const id = wireEventId(this.#uid, 'deleted');
      return [{ id, type: 'session.deleted', seq: event.seq }];
    }
    await this.#learnUpTo(event.seq - 1);
    this.#note(event);
    const shown = this.#shown(event);
    const { seq, at } = event;
    return shown.map(({ about, type, fields }, index) => ({
      id: this.#id(about ?? `seq:${seq}${index === 0 ? '' : `.${index}`}`),
      type,
      seq,
      processed_at: toWireTime(at),
      ...fields,
    }));
  }

  /** What a piece of an answer adds to the event that it will be. */
  async preview(event: PartialEvent, after: Seq): Promise<readonly Preview[]> {
    if (event.type === 'partial.reset') {
      // What was shown of the attempt before cannot be taken back: the whole event tells.
      this.#spoilt.add(event.firingId);
      return [];
    }
    if (event.kind === 'progress' || this.#spoilt.has(event.firingId)) return [];
    await this.#learnUpTo(after);
    const type = event.kind === 'text' ? 'agent.message' : 'agent.thinking';
    const id = this.#id(aboutSaying(type, event.invocationId, this.#said.get(event.invocationId)));
    if (this.#previewed?.firing !== event.firingId)
      this.#previewed = { firing: event.firingId, kinds: new Set() };
    const isNew = !this.#previewed.kinds.has(type);
    this.#previewed.kinds.add(type);
    const start: Preview = { type: 'event_start', event: { type, id } };
    if (type === 'agent.thinking') return isNew ? [start] : [];
    const content = { type: 'text', text: event.text };
    const delta: Preview = {
      type: 'event_delta',
      event_id: id,
      delta: { type: 'content_delta', index: 0, content },
    };
    return isNew ? [start, delta] : [delta];
  }

  /** The call that a client means by its own id, or by that of the event that showed it; undefined for none of this log. */
  async callOf(id: string): Promise<string | undefined> {
    await this.#learnUpTo(Infinity);
    if (this.#calls.has(id)) return id;
    return [...this.#calls.keys()].find((callId) => this.#id(aboutCall(callId)) === id);
  }

  async #learnUpTo(seq: Seq): Promise<void> {
    if (this.#known >= seq) return;
    for await (const event of this.#read(this.#known)) {
      if (event.seq > seq) return;
      this.#note(event);
    }
  }

  #note(event: LogEvent): void {
    if (event.seq <= this.#known) return;
    this.#known = event.seq;
    if (event.type === 'tool.call') this.#calls.set(event.callId, event);
    if (event.type === 'agent.message') {
      const before = this.#said.get(event.invocationId) ?? 0;
      this.#before.set(event.seq, before);
      this.#said.set(event.invocationId, before + 1);
    }
  }

  #shown(event: LogEvent): readonly Shown[] {
    switch (event.type) {
      case 'user.message':
        return [
          {
            about: aboutMessage(event.messageId),
            type: 'user.message',
            fields: { content: toWireContent(blocksOfContent(event.content)) },
          },
        ];
      case 'turn.started':
      case 'turn.resumed':
        return [{ type: 'session.status_running' }];
      case 'agent.message':
        return this.#answer(event);
      case 'tool.call':
        return [this.#call(event)];
      case 'tool.answered':
        return this.#confirmation(event);
      case 'tool.result':
        return [this.#result(event)];
      case 'turn.waiting': {
        const ids = event.callIds.map((callId) => this.#id(aboutCall(callId)));
        return [idle({ type: 'requires_action', event_ids: ids })];
      }
      case 'turn.ended':
        return this.#ended(event);
      case 'turn.rescheduled':
        return [
          {
            type: 'session.error',
            fields: { error: this.#failure(event.error, event.seq, 'retrying') },
          },
          { type: 'session.status_rescheduled' },
        ];
      case 'model.attempt':
        return [{ type: 'session.status_running' }];
      case 'error':
        return [
          {
            type: 'session.error',
            fields: { error: this.#failure(event, event.seq, retryOf(event)) },
          },
        ];
      case 'outcome.defined':
        return [outcomeView(event)];
      case 'outcome.evaluated':
        return this.#evaluation(event);
      case 'session.archived':
      case 'session.completed':
        return [{ type: 'session.status_terminated' }];
      default:
        return [];
    }
  }

  #answer(event: LogEventOf<'agent.message'>): readonly Shown[] {
    const { invocationId, usage, content } = event;
    const texts = toWireContent(blocksOfContent(content));
    const isThinking = content.parts.some((part) => isTextPart(part) && part.thought === true);
    const start = `seq:${event.seq}`;
    const before = this.#before.get(event.seq);
    return [
      { about: start, type: 'span.model_request_start' },
      ...(isThinking
        ? [{ about: aboutSaying('agent.thinking', invocationId, before), type: 'agent.thinking' }]
        : []),
      ...(texts.length > 0
        ? [
            {
              about: aboutSaying('agent.message', invocationId, before),
              type: 'agent.message',
              fields: { content: texts },
            },
          ]
        : []),
      {
        type: 'span.model_request_end',
        fields: {
          model_request_start_id: this.#id(start),
          is_error: false,
          model_usage: usageView(usage),
        },
      },
    ];
  }

  #call({ callId, name, args, origin, permission }: LogEventOf<'tool.call'>): Shown {
    const about = aboutCall(callId);
    if (origin?.kind === 'custom')
      return { about, type: 'agent.custom_tool_use', fields: { name, input: args } };
    const judged = permission === undefined ? {} : { evaluated_permission: permission };
    const fields = { name, input: args, ...judged };
    return origin?.kind === 'mcp'
      ? {
          about,
          type: 'agent.mcp_tool_use',
          fields: { ...fields, mcp_server_name: origin.server },
        }
      : { about, type: 'agent.tool_use', fields };
  }

  /** An answer is shown by the result it gives. */
  #confirmation({ callId, decision, message }: LogEventOf<'tool.answered'>): readonly Shown[] {
    if (decision === 'answered') return [];
    const fields = {
      tool_use_id: this.#id(aboutCall(callId)),
      result: decision === 'approved' ? 'allow' : 'deny',
      ...(message !== undefined && { deny_message: message }),
    };
    return [{ about: aboutConfirmation(callId), type: 'user.tool_confirmation', fields }];
  }

  #result({ callId, outcome, response }: LogEventOf<'tool.result'>): Shown {
    const about = aboutResult(callId);
    const id = this.#id(aboutCall(callId));
    const said = { content: toWireResult(response), is_error: outcome !== 'ok' };
    const call = this.#calls.get(callId);
    switch (call?.origin?.kind) {
      case 'custom':
        return {
          about,
          type: 'user.custom_tool_result',
          fields: { custom_tool_use_id: id, ...said },
        };
      case 'mcp':
        return { about, type: 'agent.mcp_tool_result', fields: { mcp_tool_use_id: id, ...said } };
      default: {
        const type = call?.needs === 'result' ? 'user.tool_result' : 'agent.tool_result';
        return { about, type, fields: { tool_use_id: id, ...said } };
      }
    }
  }

  #ended({ stopReason }: LogEventOf<'turn.ended'>): readonly Shown[] {
    switch (stopReason) {
      case 'interrupted':
        return [{ type: 'user.interrupt' }, idle({ type: 'end_turn' })];
      case 'error':
      case 'retries_exhausted':
        return [idle({ type: 'retries_exhausted' })];
      case 'budget_reached':
        return [idle({ type: 'budget_reached' })];
      case 'refusal': {
        const details = { type: 'refusal', category: null, explanation: null };
        return [idle({ type: 'refusal' }, details)];
      }
      default:
        return [idle({ type: 'end_turn' })];
    }
  }

  #evaluation(event: LogEventOf<'outcome.evaluated'>): readonly Shown[] {
    const { outcomeId: outcome_id, iteration, result, explanation, usage } = event;
    const start = `seq:${event.seq}`;
    return [
      { about: start, type: 'span.outcome_evaluation_start', fields: { outcome_id, iteration } },
      {
        type: 'span.outcome_evaluation_end',
        fields: {
          outcome_id,
          iteration,
          result,
          explanation,
          outcome_evaluation_start_id: this.#id(start),
          usage: usageView(usage),
        },
      },
    ];
  }

  #failure(error: LoggedError, seq: Seq, retry: RetryStatus): JsonObject {
    const message = clientMessage(error, failureReference(this.#sessionId, seq));
    return { type: errorTypeOf(error.code), message, retry_status: { type: retry } };
  }

  #id(about: string): string {
    return wireEventId(this.#uid, about);
  }
}

export function aboutMessage(messageId: string): string {
  return `message:${messageId}`;
}

export function aboutCall(callId: string): string {
  return `call:${callId}`;
}

export function aboutResult(callId: string): string {
  return `result:${callId}`;
}

export function aboutConfirmation(callId: string): string {
  return `confirmation:${callId}`;
}

/** An interrupt by the turn that it stops: a turn is stopped once. */
export function aboutInterrupt(invocationId: string): string {
  return `interrupt:${invocationId}`;
}

export function aboutOutcome(outcomeId: string): string {
  return `outcome:${outcomeId}`;
}

/** A message by its place in its turn: so its id is known while it is made. */
function aboutSaying(type: string, invocationId: string, before = 0): string {
  return `${type}:${invocationId}:${before}`;
}

function idle(stop_reason: JsonObject, stop_details: JsonObject | null = null): Shown {
  return { type: 'session.status_idle', fields: { stop_reason, stop_details } };
}

function outcomeView(event: LogEventOf<'outcome.defined'>): Shown {
  const { outcomeId: outcome_id, description, rubric, maxIterations } = event;
  return {
    about: aboutOutcome(outcome_id),
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
function usageView(usage: Usage | undefined): JsonObject {
  return {
    input_tokens: Math.max(0, usage?.inputTokens ?? 0),
    output_tokens: Math.max(0, usage?.outputTokens ?? 0),
    cache_read_input_tokens: Math.max(0, usage?.cacheReadTokens ?? 0),
    cache_creation_input_tokens: Math.max(0, usage?.cacheWriteTokens ?? 0),
  };
}

type RetryStatus = 'retrying' | 'exhausted' | 'terminal';

function retryOf({ code }: { readonly code: string }): RetryStatus {
  return /overloaded|rate_limit|timeout|network|unavailable/.test(code) ? 'exhausted' : 'terminal';
}

function errorTypeOf(code: string): string {
  if (code === 'model_overloaded') return 'model_overloaded_error';
  if (code.startsWith('model_rate_limit')) return 'model_rate_limited_error';
  if (code.startsWith('model_')) return 'model_request_failed_error';
  if (code.startsWith('mcp_auth')) return 'mcp_authentication_failed_error';
  if (code.startsWith('mcp_')) return 'mcp_connection_failed_error';
  return 'unknown_error';
}
