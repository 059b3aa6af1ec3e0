import { calledAgentWaits, isTextPart } from '../core/index.ts';
import type {
  CalledAgentWait,
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
import { threadIdOf } from './thread-id.ts';
import { toWireContent, toWireResult, wireEventId } from './wire-event.ts';
import type { WireEvent } from './wire-event.ts';
import { toWireTime } from './wire-schemas.ts';

interface IdentifiedEvent extends Shown {
  readonly id: string;
  /** The id that an earlier version of the server gave it: still a cursor. */
  readonly former: string | undefined;
}

export interface WireFaceOptions {
  readonly sessionId: string;
  readonly sessionUid: string;
  /** Reads the log after a number, to its end. */
  readonly read: (from: Seq) => AsyncIterable<LogEvent>;
}

/** A piece of an answer that is being made: never kept, and it has no id of its own. */
export type Preview = JsonObject & { readonly type: 'event_start' | 'event_delta' };

/** Which pieces of answers one reader was shown. */
export class PreviewState {
  /** The firing whose pieces are shown, and the types that were begun. */
  firing = '';
  types: Set<string> = new Set<string>();
  /** Firings whose pieces no longer join to what they will say. */
  readonly spoilt: Set<string> = new Set<string>();
}

/** Where in the log an event of the wire stands: the number of its entry, and its index among the events of that one. */
export interface EventPlace {
  readonly seq: Seq;
  readonly index: number;
}

interface Shown {
  /** What it is about: its id derives from it. The event's own number unless said. */
  readonly about?: string;
  readonly type: string;
  readonly fields?: JsonObject;
}

/**
 * Shows a log as the wire spells it, and finds events by their ids. What a result answers, which of a turn's messages
 * one is and where an id stands follow from the log before it: the log is read once, and only its new entries later.
 */
export class WireFace {
  readonly #sessionId: string;
  readonly #uid: string;
  readonly #read: (from: Seq) => AsyncIterable<LogEvent>;
  readonly #calls = new Map<string, LogEventOf<'tool.call'>>();
  /** Calls of agents that the session called, each with the event that showed it first. */
  readonly #called = new Map<string, Seq>();
  readonly #said = new Map<string, number>();
  /** How many messages of its turn stand before one, by its number: it may be shown again. */
  readonly #before = new Map<Seq, number>();
  /** The call of each event that showed one. */
  readonly #callIds = new Map<string, string>();
  readonly #seqs = new Map<string, Seq>();
  /** The first entry that says that a turn was interrupted. */
  readonly #interrupts = new Map<string, Seq>();
  #known: Seq = 0;

  constructor({ sessionId, sessionUid, read }: WireFaceOptions) {
    this.#sessionId = sessionId;
    this.#uid = sessionUid;
    this.#read = read;
  }

  /** How many ids it has in memory. */
  get size(): number {
    return this.#seqs.size;
  }

  /** What clients see of an event: none, one, or several, in order. */
  async show(event: LogEvent | SessionDeleted): Promise<readonly WireEvent[]> {
    if (event.type === 'session.deleted') {
      const id = wireEventId(this.#uid, 'deleted');
      return [{ id, type: 'session.deleted', seq: event.seq }];
    }
    await this.#learnUpTo(event.seq - 1);
    this.#note(event);
    const { seq, at } = event;
    return this.#identified(event).map(({ id, type, fields }) => ({
      id,
      type,
      seq,
      processed_at: toWireTime(at),
      ...fields,
    }));
  }

  /** What a piece of an answer adds to the event that it will be. */
  async preview(event: PartialEvent, after: Seq, state: PreviewState): Promise<readonly Preview[]> {
    if (event.type === 'partial.reset') {
      // What was shown of the attempt before cannot be taken back: the whole event tells.
      state.spoilt.add(event.firingId);
      return [];
    }
    if (event.kind === 'progress' || state.spoilt.has(event.firingId)) return [];
    await this.#learnUpTo(after);
    const type = event.kind === 'text' ? 'agent.message' : 'agent.thinking';
    const id = this.#id(aboutSaying(type, event.invocationId, this.#said.get(event.invocationId)));
    if (state.firing !== event.firingId) {
      state.firing = event.firingId;
      state.types = new Set();
    }
    const isNew = !state.types.has(type);
    state.types.add(type);
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
    const known = this.#calls.has(id) ? id : this.#callIds.get(id);
    if (known !== undefined) return known;
    await this.#learnUpTo(Infinity);
    return this.#calls.has(id) || this.#called.has(id) ? id : this.#callIds.get(id);
  }

  /** How a call is shown: by an event of a client's own tool, of an MCP server's, or of a tool that runs here. */
  async call(callId: string): Promise<LogEventOf<'tool.call'> | undefined> {
    const id = await this.callOf(callId);
    return id === undefined ? undefined : this.#calls.get(id);
  }

  /** Where an event stands; undefined when it is not in this log. */
  async find(id: string): Promise<EventPlace | undefined> {
    if (!this.#seqs.has(id)) await this.#learnUpTo(Infinity);
    const seq = this.#seqs.get(id);
    if (seq === undefined) return undefined;
    for await (const event of this.#read(seq - 1)) {
      const index = this.#identified(event).findIndex(
        (shown) => shown.id === id || shown.former === id,
      );
      return index < 0 ? undefined : { seq, index };
    }
    return undefined;
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
    if (event.type === 'tool.call') {
      this.#calls.set(event.callId, event);
      this.#callIds.set(this.#id(aboutCall(event.callId)), event.callId);
    }
    if (event.type === 'tool.pending')
      for (const { callId } of calledAgentWaits(event.request) ?? []) {
        if (this.#called.has(callId)) continue;
        this.#called.set(callId, event.seq);
        this.#callIds.set(this.#id(aboutCall(callId)), callId);
      }
    if (event.type === 'agent.message') {
      const before = this.#said.get(event.invocationId) ?? 0;
      this.#before.set(event.seq, before);
      this.#said.set(event.invocationId, before + 1);
    }
    if (event.type === 'turn.ended' && event.stopReason === 'interrupted') {
      const { invocationId } = event;
      if (!this.#interrupts.has(invocationId)) this.#interrupts.set(invocationId, event.seq);
    }
    for (const { id, former } of this.#identified(event)) {
      if (!this.#seqs.has(id)) this.#seqs.set(id, event.seq);
      if (former !== undefined) this.#seqs.set(former, event.seq);
    }
  }

  #identified(event: LogEvent): readonly IdentifiedEvent[] {
    return this.#shown(event).map((shown, index) => {
      const own = `seq:${event.seq}${index === 0 ? '' : `.${index}`}`;
      return {
        ...shown,
        id: this.#id(shown.about ?? own),
        former: shown.type === 'user.interrupt' ? this.#id(own) : undefined,
      };
    });
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
      case 'tool.pending':
        return (calledAgentWaits(event.request) ?? [])
          .filter(({ callId }) => this.#called.get(callId) === event.seq)
          .map(calledUse);
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

  #ended({ stopReason, invocationId, seq }: LogEventOf<'turn.ended'>): readonly Shown[] {
    switch (stopReason) {
      case 'interrupted': {
        const isFirst = this.#interrupts.get(invocationId) === seq;
        const about = isFirst ? { about: aboutInterrupt(invocationId) } : {};
        return [{ ...about, type: 'user.interrupt' }, idle({ type: 'end_turn' })];
      }
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

/** A call that waits in a thread, shown where somebody looks who may answer it. */
function calledUse({ callId, name, args, needs, session }: CalledAgentWait): Shown {
  const about = aboutCall(callId);
  const fields = { name, input: args, session_thread_id: threadIdOf(session) };
  return needs === 'approval'
    ? { about, type: 'agent.tool_use', fields: { ...fields, evaluated_permission: 'ask' } }
    : { about, type: 'agent.custom_tool_use', fields };
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
