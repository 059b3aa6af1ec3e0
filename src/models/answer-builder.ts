import type {
  Content,
  FinishReason,
  JsonObject,
  Part,
  ProviderMetadata,
  ThoughtSignature,
  Usage,
} from '../core/index.ts';
import { isJsonObject } from '../core/index.ts';
import { brokenOffArgs, parseStreamedArgs, type CallArgs } from './call-args.ts';
import { fromFilePart } from './file-part.ts';
import type { StreamPart } from './language-model.ts';
import type { ModelDelta, ModelResponse } from './model.ts';
import { toOpaque } from './opaque-part.ts';
import { toSignature } from './provider-seal.ts';
import { toUsage } from './to-usage.ts';

export interface AnswerBuilderOptions {
  /** Whose notes the parts carry. */
  readonly family: string;
  /** Thinking goes back to this provider even if it sealed nothing. */
  readonly echoesThinking: boolean;
  readonly onDelta: (delta: ModelDelta) => void;
  /** The name a call meant, and its arguments as the tool's own schema means them. */
  readonly toolName: (name: string) => string;
  readonly restore: (toolName: string, args: JsonObject) => JsonObject;
}

/** How an answer ended, before it is known whether that is an end. */
export interface AnswerEnd {
  /** In the words of the SDK: `stop`, `tool-calls`, `length`, `content-filter`, `interrupted`, `error`, `other`. */
  readonly unified: string;
  /** In the provider's own. */
  readonly raw: string | undefined;
  /** The provider counted tokens. */
  readonly counted: boolean;
}

/** Puts an answer together from the parts of a stream, in the order in which they began. */
export class AnswerBuilder {
  readonly #options: AnswerBuilderOptions;
  readonly #pieces: Piece[] = [];
  readonly #open = new Map<string, Spoken>();
  readonly #unfinishedCalls = new Map<string, WrittenCall>();
  readonly #metadata: Record<string, string> = {};
  #usage: Usage | undefined;
  #end: AnswerEnd | undefined;

  constructor(options: AnswerBuilderOptions) {
    this.#options = options;
  }

  /** How the stream said that the answer is over; nothing as long as it did not. */
  get end(): AnswerEnd | undefined {
    return this.#end;
  }

  /** Takes the next part. What is no part of an answer is passed over. */
  add(part: StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#begin(part);
        break;
      case 'text-delta':
      case 'reasoning-delta':
        this.#append(part);
        break;
      case 'text-end':
      case 'reasoning-end':
        this.#note(part, this.#open.get(keyOf(part)));
        break;
      case 'tool-input-start':
        this.#beginCall(part);
        break;
      case 'tool-input-delta':
        this.#appendToCall(part);
        break;
      case 'tool-call':
        this.#addCall(part);
        break;
      case 'file':
        this.#addFile(part);
        break;
      case 'tool-result':
        if (part['preliminary'] !== true) this.#keep(part);
        break;
      case 'custom':
        // Anthropic's package announces a message by one; what it holds is told elsewhere too.
        if (part['kind'] !== 'anthropic.message_start') this.#keep(part);
        break;
      case 'reasoning-file':
      case 'source':
      case 'tool-approval-request':
        this.#keep(part);
        break;
      case 'response-metadata':
        this.#identify(part);
        break;
      case 'finish':
        this.#finish(part);
        break;
      default:
        break;
    }
  }

  /** Tells something of the answer beside it. */
  tell(name: string, value: string): void {
    this.#metadata[name] = value;
  }

  /** The whole answer. Calls whose arguments broke off are calls that say so. */
  build(): ModelResponse {
    for (const call of this.#unfinishedCalls.values()) {
      this.#pieces.push(this.#callPart(call, brokenOffArgs(call.written)));
    }
    this.#unfinishedCalls.clear();
    this.#breakLastCall();
    const parts = this.#pieces.flatMap((piece) => this.#partOf(piece));
    const content: Content = { role: 'model', parts: parts.length > 0 ? parts : [{ text: '' }] };
    return {
      content,
      finishReason: finishReasonOf(this.#end, parts),
      ...(this.#usage !== undefined && { usage: this.#usage }),
      ...this.#told(),
    };
  }

  #told(): { readonly providerMetadata?: ProviderMetadata } {
    return Object.keys(this.#metadata).length === 0
      ? {}
      : { providerMetadata: { ...this.#metadata } };
  }

  #begin(part: StreamPart): Spoken {
    const spoken: Spoken = { thought: part.type.startsWith('reasoning'), text: '', note: {} };
    this.#open.set(keyOf(part), spoken);
    this.#pieces.push(spoken);
    this.#note(part, spoken);
    return spoken;
  }

  #append(part: StreamPart): void {
    const spoken = this.#open.get(keyOf(part)) ?? this.#begin(part);
    this.#note(part, spoken);
    const text = textOf(part['delta']);
    if (text === '') return;
    spoken.text += text;
    this.#options.onDelta({ kind: spoken.thought ? 'thinking' : 'text', text });
  }

  // A note may come at the start, with any piece or at the end; the last word on each member counts.
  #note({ providerMetadata }: StreamPart, spoken: Spoken | undefined): void {
    if (spoken !== undefined) spoken.note = mergedNotes(spoken.note, providerMetadata);
  }

  #beginCall({ id, toolName, providerExecuted, providerMetadata }: StreamPart): void {
    if (providerExecuted === true) return;
    this.#unfinishedCalls.set(textOf(id), {
      id: textOf(id),
      name: textOf(toolName),
      written: '',
      note: mergedNotes({}, providerMetadata),
    });
  }

  #appendToCall({ id, delta }: StreamPart): void {
    const call = this.#unfinishedCalls.get(textOf(id));
    if (call !== undefined) call.written += textOf(delta);
  }

  #addCall(part: StreamPart): void {
    const id = textOf(part['toolCallId']);
    const streamed = this.#unfinishedCalls.get(id)?.written ?? '';
    this.#unfinishedCalls.delete(id);
    if (part['providerExecuted'] === true) {
      this.#keep(part);
      return;
    }
    const note = mergedNotes({}, part['providerMetadata']);
    const call = { id, name: textOf(part['toolName']), note };
    const { input } = part;
    const read =
      typeof input === 'string' ? parseStreamedArgs(input, streamed) : brokenOffArgs(streamed);
    this.#pieces.push(this.#callPart(call, read));
  }

  /** An answer that was cut off may have been cut before the first of its last call's arguments. */
  #breakLastCall(): void {
    if (!CUT_OFF.has(this.#end?.unified ?? '')) return;
    const last = this.#pieces.at(-1);
    if (last === undefined || !('functionCall' in last)) return;
    const { args, argsError } = last.functionCall;
    if (argsError !== undefined || Object.keys(args).length > 0) return;
    this.#pieces[this.#pieces.length - 1] = {
      ...last,
      functionCall: { ...last.functionCall, ...brokenOffArgs('') },
    };
  }

  #callPart({ id, name: sent, note }: NamedCall, { args, argsError }: CallArgs): Part {
    const name = this.#options.toolName(sent);
    const restored = argsError === undefined ? this.#options.restore(name, args) : args;
    return {
      functionCall: { id, name, args: restored, ...(argsError !== undefined && { argsError }) },
      ...this.#sealed(withoutPlaces(note), id !== ''),
    };
  }

  #addFile(part: StreamPart): void {
    const file = fromFilePart(part);
    if (file === undefined) return;
    const note = mergedNotes({}, part['providerMetadata']);
    this.#pieces.push('inlineData' in file ? { ...file, ...this.#sealed(note, false) } : file);
  }

  #keep(part: StreamPart): void {
    this.#pieces.push(toOpaque(part, this.#options.family));
  }

  #identify({ id, modelId }: StreamPart): void {
    if (typeof id === 'string') this.tell('responseId', id);
    if (typeof modelId === 'string') this.tell('modelId', modelId);
  }

  #finish({ finishReason, usage }: StreamPart): void {
    const reason = isJsonObject(finishReason) ? finishReason : {};
    const { unified, raw } = reason;
    this.#end = {
      unified: typeof unified === 'string' ? unified : 'other',
      raw: typeof raw === 'string' && raw !== '' ? raw : undefined,
      counted: hasTokens(usage),
    };
    if (typeof raw === 'string') this.tell('finishReason', raw);
    this.#usage = toUsage(usage);
    const counted = isJsonObject(usage) ? usage['raw'] : undefined;
    if (counted !== undefined) this.tell('usage', JSON.stringify(counted));
  }

  #partOf(piece: Piece): readonly Part[] {
    if (!('note' in piece)) return [piece];
    const { thought, text, note } = piece;
    const seal = thought
      ? this.#sealed(note, this.#options.echoesThinking)
      : this.#sealed(withoutPlaces(note), false);
    if (text === '' && !('thoughtSignature' in seal && hasWords(note))) return [];
    return [{ text, ...(thought && { thought: true as const }), ...seal }];
  }

  #sealed(note: JsonObject, always: boolean): { readonly thoughtSignature?: ThoughtSignature } {
    const by = this.#options.family;
    if (hasWords(note)) return { thoughtSignature: toSignature({ by, note }) };
    return always ? { thoughtSignature: toSignature({ by }) } : {};
  }
}

interface Spoken {
  readonly thought: boolean;
  text: string;
  note: JsonObject;
}

interface NamedCall {
  readonly id: string;
  readonly name: string;
  readonly note: JsonObject;
}

interface WrittenCall extends NamedCall {
  written: string;
}

type Piece = Spoken | Part;

function keyOf({ type, id }: StreamPart): string {
  return `${type.startsWith('text') ? 'text' : 'reasoning'}:${textOf(id)}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function mergedNotes(before: JsonObject, more: unknown): JsonObject {
  if (!isJsonObject(more)) return before;
  const merged: Record<string, JsonObject[string]> = { ...before };
  for (const [name, note] of Object.entries(more)) {
    const old = merged[name];
    merged[name] = isJsonObject(old) && isJsonObject(note) ? { ...old, ...note } : note;
  }
  return merged;
}

// Where a provider keeps the part, and what it cites: nothing it needs to be told again, and the first goes stale.
function withoutPlaces(note: JsonObject): JsonObject {
  const kept = Object.entries(note).map(([name, one]) => {
    if (!isJsonObject(one)) return [name, one] as const;
    const { itemId: _itemId, annotations: _annotations, citations: _citations, ...rest } = one;
    return [name, rest] as const;
  });
  return Object.fromEntries(kept);
}

function hasWords(note: JsonObject): boolean {
  return Object.values(note).some(
    (one) => !isJsonObject(one) || Object.values(one).some((value) => value !== null),
  );
}

/** Ends, in the words of the SDK, that come where the model would have gone on. */
const CUT_OFF: ReadonlySet<string> = new Set(['length', 'content-filter', 'other']);

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'max_tokens',
  'content-filter': 'refusal',
};

function finishReasonOf(end: AnswerEnd | undefined, parts: readonly Part[]): FinishReason {
  if (parts.some((part) => 'functionCall' in part)) return 'tool_calls';
  return FINISH_REASONS[end?.unified ?? ''] ?? 'other';
}

function hasTokens(usage: unknown): boolean {
  if (!isJsonObject(usage)) return false;
  return ['inputTokens', 'outputTokens'].some((name) => {
    const tokens = usage[name];
    return isJsonObject(tokens) && typeof tokens['total'] === 'number';
  });
}
