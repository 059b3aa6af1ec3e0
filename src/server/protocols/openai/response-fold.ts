import { isJsonObject } from '../../../core/index.ts';
import type { JsonObject, LogEventByType, Usage } from '../../../core/index.ts';
import { formatCallId } from './response-id.ts';
import type { OpenCall, RunEnded, SessionUpdate, TextKind } from '../session-update.ts';

/** What a response has from its request. */
export interface ResponseFacts {
  readonly id: string;
  readonly model: string;
  readonly sessionId: string;
  /** Epoch seconds, until the run has begun. */
  readonly createdAt: number;
  readonly isBackground: boolean;
  readonly metadata: JsonObject;
  /** The calls before this run, by id. */
  readonly calls: ReadonlyMap<string, KnownCall>;
}

export interface KnownCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly needs: LogEventByType<'tool.call'>['needs'];
}

/** An event of a response. Its text, if it has any, takes one number per character. */
export interface ResponseEvent {
  readonly type: string;
  readonly data: JsonObject;
  /** Its sequence number: that of its last character. */
  readonly number: number;
}

interface Item {
  json: JsonObject;
  isDropped?: boolean;
}

/**
 * The numbers of an epoch. An epoch ends where text that was streamed can be lost, or is complete. The text of a message
 * has the second half, because its thoughts are complete only when the message is.
 */
const EPOCH = 2 ** 32;

/**
 * Folds the updates of a run into the events of a response, and the response. The number of an event counts the events
 * and the characters before it, so it does not depend on the pieces in which a text came.
 */
export class ResponseFold {
  readonly #facts: ResponseFacts;
  readonly #items: Item[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #texts = new Map<string, string>();
  readonly #calls: Map<string, KnownCall>;
  #number = -1;
  #status = 'queued';
  #error: JsonObject | null = null;
  #incomplete: JsonObject | null = null;
  #usage: JsonObject | null = null;
  #createdAt: number;
  #hasBegun = false;

  constructor(facts: ResponseFacts) {
    this.#facts = facts;
    this.#createdAt = facts.createdAt;
    this.#calls = new Map(facts.calls);
  }

  /** The response as of the last update. */
  get response(): JsonObject {
    const { id, model, sessionId, isBackground, metadata } = this.#facts;
    return {
      id,
      object: 'response',
      created_at: this.#createdAt,
      status: this.#status,
      background: isBackground,
      error: this.#error,
      incomplete_details: this.#incomplete,
      instructions: null,
      max_output_tokens: null,
      model,
      output: this.#items.flatMap(({ json, isDropped }) => (isDropped === true ? [] : [json])),
      parallel_tool_calls: true,
      conversation: { id: sessionId },
      store: true,
      temperature: null,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_p: null,
      truncation: 'disabled',
      usage: this.#usage,
      metadata,
    };
  }

  get isEnded(): boolean {
    return this.#status !== 'queued' && this.#status !== 'in_progress';
  }

  /** The events of an update. */
  add(update: SessionUpdate): readonly ResponseEvent[] {
    // The time of its first log entry, which every reader sees.
    if (!this.#hasBegun && 'at' in update) {
      this.#hasBegun = true;
      this.#createdAt = Math.floor(update.at / 1000);
    }
    if (update.type === 'run.started')
      return [this.#emit('response.created', { response: this.response })];
    if (this.#status !== 'queued' || update.type === 'run.ended') return this.#toEvents(update);
    this.#status = 'in_progress';
    const begun = this.#emit('response.in_progress', { response: this.response });
    return [begun, ...this.#toEvents(update)];
  }

  #toEvents(update: SessionUpdate): readonly ResponseEvent[] {
    switch (update.type) {
      case 'text.start':
        return this.#startText(update);
      case 'text.delta': {
        const { messageId, kind, text } = update;
        const id = toItemId(kind, messageId);
        this.#texts.set(id, (this.#texts.get(id) ?? '') + text);
        // A thought after the beginning of the text is in the response, and not in its stream.
        if (this.#isFinished(id)) return [];
        const delta = { item_id: id, ...this.#at(id), content_index: 0, delta: text };
        // A text has a number for each character.
        this.#number += text.length - 1;
        return kind === 'text'
          ? [this.#emit('response.output_text.delta', { ...delta, logprobs: [] })]
          : [this.#emit('response.reasoning_text.delta', delta)];
      }
      case 'text.end':
        return this.#endText(update, 'completed');
      case 'text.dropped': {
        const ended = this.#endText(update, 'incomplete');
        const item = this.#items[this.#indexes.get(toItemId(update.kind, update.messageId)) ?? -1];
        if (item !== undefined) item.isDropped = true;
        return ended;
      }
      case 'tool.call': {
        const { callId, name, args, needs } = update;
        this.#calls.set(callId, { name, args, needs });
        return needs === 'nothing' ? this.#startCall(callId, update) : [];
      }
      case 'tool.result':
        return this.#endCall(update);
      case 'agent.message':
      case 'model.attempt':
      case 'turn.rescheduled':
      case 'turn.ended':
        this.#number = (Math.floor(this.#number / EPOCH) + 1) * EPOCH;
        return [];
      case 'run.ended':
        return this.#end(update);
      default:
        return [];
    }
  }

  #startText({ messageId, kind }: { messageId: string; kind: TextKind }): readonly ResponseEvent[] {
    const id = toItemId(kind, messageId);
    const json =
      kind === 'text'
        ? { type: 'message', id, status: 'in_progress', role: 'assistant', content: [] }
        : { type: 'reasoning', id, status: 'in_progress', summary: [], content: [] };
    const thoughts = toItemId('thinking', messageId);
    const ended =
      kind === 'text' && this.#indexes.has(thoughts) && !this.#isFinished(thoughts)
        ? this.#endText({ messageId, kind: 'thinking' }, 'completed')
        : [];
    if (kind === 'text') {
      const half = Math.floor(this.#number / EPOCH) * EPOCH + EPOCH / 2;
      this.#number = Math.max(this.#number, half);
    }
    return [
      ...ended,
      this.#addItem(id, json),
      this.#emit('response.content_part.added', {
        item_id: id,
        ...this.#at(id),
        content_index: 0,
        part: toContent(kind, ''),
      }),
    ];
  }

  #endText(
    { messageId, kind }: { messageId: string; kind: TextKind },
    status: 'completed' | 'incomplete',
  ): readonly ResponseEvent[] {
    const id = toItemId(kind, messageId);
    const text = this.#texts.get(id) ?? '';
    const part = toContent(kind, text);
    const at = { item_id: id, ...this.#at(id), content_index: 0 };
    const json =
      kind === 'text'
        ? { type: 'message', id, status, role: 'assistant', content: [part] }
        : { type: 'reasoning', id, status, summary: [], content: [part] };
    if (this.#isFinished(id)) {
      this.#setItem(id, json);
      return [];
    }
    return [
      kind === 'text'
        ? this.#emit('response.output_text.done', { ...at, text, logprobs: [] })
        : this.#emit('response.reasoning_text.done', { ...at, text }),
      this.#emit('response.content_part.done', { ...at, part }),
      this.#finishItem(id, json),
    ];
  }

  #startCall(callId: string, { name, args }: Omit<KnownCall, 'needs'>): readonly ResponseEvent[] {
    const id = toItemId('call', callId);
    const json = this.#toCallItem(callId, { name, args });
    return [
      this.#addItem(id, { ...json, status: 'in_progress' }),
      this.#emit('response.mcp_call.in_progress', { item_id: id, ...this.#at(id) }),
    ];
  }

  #endCall({
    callId,
    name,
    outcome,
    response,
  }: LogEventByType<'tool.result'>): readonly ResponseEvent[] {
    const call = this.#calls.get(callId) ?? { name, args: {}, needs: 'nothing' };
    // The client has the result of its own call.
    if (call.needs === 'result') return [];
    const id = toItemId('call', callId);
    const started = this.#indexes.has(id) ? [] : this.#startCall(callId, call);
    const isOk = outcome === 'ok';
    const done = isOk ? 'response.mcp_call.completed' : 'response.mcp_call.failed';
    const json = {
      ...this.#toCallItem(callId, call),
      status: isOk ? 'completed' : 'failed',
      output: isOk ? JSON.stringify(response) : null,
      error: isOk ? null : toErrorText(outcome, response),
    };
    return [
      ...started,
      this.#emit(done, { item_id: id, ...this.#at(id) }),
      this.#finishItem(id, json),
    ];
  }

  #toCallItem(callId: string, { name, args }: Omit<KnownCall, 'needs'>): JsonObject {
    return {
      type: 'mcp_call',
      id: toItemId('call', callId),
      name,
      arguments: JSON.stringify(args),
      server_label: this.#facts.model,
      approval_request_id: null,
      output: null,
      error: null,
    };
  }

  #end({ outcome, waits, error, usage, stopReason }: RunEnded): readonly ResponseEvent[] {
    const events = this.#items.flatMap((item): readonly ResponseEvent[] => {
      const { id, status } = item.json;
      if (status !== 'in_progress' || typeof id !== 'string') return [];
      return [this.#finishItem(id, { ...item.json, status: 'incomplete' })];
    });
    for (const call of waits) events.push(...this.#addWait(call));
    if (usage !== undefined) this.#usage = toUsage(usage);
    switch (outcome) {
      case 'completed':
      case 'waiting': {
        const reason = stopReason === undefined ? undefined : INCOMPLETE_REASONS[stopReason];
        this.#status = reason === undefined ? 'completed' : 'incomplete';
        if (reason !== undefined) this.#incomplete = { reason };
        break;
      }
      case 'interrupted':
        this.#status = 'cancelled';
        break;
      case 'failed':
      case 'closed': {
        this.#status = 'failed';
        const message =
          outcome === 'closed'
            ? 'The session was closed.'
            : 'The turn failed. See the log of the server.';
        this.#error = {
          /**
           * The turn that a response of the OpenAI protocol answers failed, or its session was closed.
           * @remedy Read the message and the log of the session, and send another request.
           */
          code: 'server_error',
          message: error?.message ?? message,
        };
        break;
      }
      default:
        return outcome satisfies never;
    }
    // The API has no event of its own for a response that was cancelled.
    const type = this.#status === 'cancelled' ? 'incomplete' : this.#status;
    return [...events, this.#emit(`response.${type}`, { response: this.response })];
  }

  #addWait({ callId, name, args, needs, request }: OpenCall): readonly ResponseEvent[] {
    const call_id = formatCallId(this.#facts.sessionId, callId);
    if (needs === 'approval') {
      const label = this.#facts.model;
      const json = { type: 'mcp_approval_request', id: call_id, name, server_label: label };
      const complete = { ...json, arguments: JSON.stringify(args) };
      return [this.#addItem(call_id, complete), this.#finishItem(call_id, complete)];
    }
    const id = toItemId('function', callId);
    const text = JSON.stringify(request === undefined ? args : { ...args, request });
    const json = { type: 'function_call', id, call_id, name };
    return [
      this.#addItem(id, { ...json, arguments: '', status: 'in_progress' }),
      this.#emit('response.function_call_arguments.done', {
        item_id: id,
        ...this.#at(id),
        name,
        arguments: text,
      }),
      this.#finishItem(id, { ...json, arguments: text, status: 'completed' }),
    ];
  }

  #addItem(id: string, json: JsonObject): ResponseEvent {
    this.#indexes.set(id, this.#items.push({ json }) - 1);
    return this.#emit('response.output_item.added', { ...this.#at(id), item: json });
  }

  #finishItem(id: string, json: JsonObject): ResponseEvent {
    this.#setItem(id, json);
    return this.#emit('response.output_item.done', { ...this.#at(id), item: json });
  }

  #setItem(id: string, json: JsonObject): void {
    const item = this.#items[this.#indexes.get(id) ?? -1];
    if (item !== undefined) item.json = json;
  }

  #isFinished(id: string): boolean {
    const status = this.#items[this.#indexes.get(id) ?? -1]?.json['status'];
    return status !== undefined && status !== 'in_progress';
  }

  #at(id: string): { readonly output_index: number } {
    return { output_index: this.#indexes.get(id) ?? 0 };
  }

  #emit(type: string, fields: JsonObject): ResponseEvent {
    const number = ++this.#number;
    return { type, number, data: { type, ...fields, sequence_number: number } };
  }
}

/** The rest of an event for a reader that has the numbers up to `after`. Undefined: it has the event. */
export function cutEvent(
  { data, number }: ResponseEvent,
  after: number | undefined,
): JsonObject | undefined {
  if (after === undefined) return data;
  if (number <= after) return undefined;
  const { delta } = data;
  if (typeof delta !== 'string') return data;
  const has = after - (number - delta.length);
  return has > 0 ? { ...data, delta: delta.slice(has) } : data;
}

const INCOMPLETE_REASONS: Readonly<Record<string, string | undefined>> = {
  max_tokens: 'max_output_tokens',
  refusal: 'content_filter',
};

const PREFIXES = { text: 'msg', thinking: 'rs', call: 'mcp', function: 'fc' } as const;

function toItemId(kind: keyof typeof PREFIXES, id: string): string {
  return `${PREFIXES[kind]}_${id}`;
}

function toContent(kind: TextKind, text: string): JsonObject {
  return kind === 'text'
    ? { type: 'output_text', text, annotations: [], logprobs: [] }
    : { type: 'reasoning_text', text };
}

function toErrorText(outcome: string, response: unknown): string {
  const error = isJsonObject(response) ? response['error'] : undefined;
  const message = isJsonObject(error) ? error['message'] : undefined;
  return typeof message === 'string' ? message : `${outcome}: ${JSON.stringify(response)}`;
}

/** Token counts as both APIs of responses name them. */
function toUsage({
  inputTokens,
  outputTokens,
  totalTokens,
  thinkingTokens = 0,
  cacheReadTokens = 0,
  cacheWriteTokens = 0,
}: Usage): JsonObject {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: thinkingTokens },
    total_tokens: totalTokens,
  };
}
