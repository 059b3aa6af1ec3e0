import { GROUNDING_METADATA, omitUndefined, readOwn } from '../../core/internal.ts';
import type {
  Content,
  FinishReason,
  JsonObject,
  Part,
  ProviderMetadata,
  ThoughtSignature,
  Usage,
} from '../../core/index.ts';
import { isJsonObject } from '../../core/index.ts';
import { truncatedArgs, parseStreamedArgs, type CallArgs } from './call-args.ts';
import { fromFilePart } from '../provider/file-part.ts';
import { NO_CALL_ID, type StreamPart } from '../provider/language-model.ts';
import type { ModelDelta, ModelResponse } from '../model/model.ts';
import { toOpaque } from '../provider/opaque-part.ts';
import { toThoughtSignature } from '../provider/provider-signature.ts';
import { toUsage } from './to-usage.ts';

export interface ResponseBuilderOptions {
  /** The provider family whose signatures the parts carry. */
  readonly family: string;
  /** Whether this provider accepts thinking without a signature. */
  readonly acceptsUnsignedThinking: boolean;
  readonly onDelta: (delta: ModelDelta) => void;
  /** Restores the name of a tool, and its arguments to the form of the tool's schema. */
  readonly toolName: (name: string) => string;
  readonly restore: (toolName: string, args: JsonObject) => JsonObject;
}

/** How the stream ended. It is not yet known whether this is a proper end. */
export interface ResponseEnd {
  /**
   * The unified reason of the SDK: `stop`, `tool-calls`, `length`, `content-filter`, `interrupted`,
   * `error`, `other`.
   */
  readonly unified: string;
  /** The provider's own reason. */
  readonly raw: string | undefined;
  /** Whether the provider sent token counts. */
  readonly counted: boolean;
}

/** Builds a response from the parts of a stream, in the order in which they began. */
export class ResponseBuilder {
  readonly #options: ResponseBuilderOptions;
  readonly #pieces: Piece[] = [];
  readonly #open = new Map<string, TextPiece>();
  readonly #unfinishedCalls = new Map<string, StreamedCall>();
  readonly #metadata: Record<string, string> = {};
  #usage: Usage | undefined;
  #end: ResponseEnd | undefined;

  constructor(options: ResponseBuilderOptions) {
    this.#options = options;
  }

  /** How the stream ended; undefined until then. */
  get end(): ResponseEnd | undefined {
    return this.#end;
  }

  /** Adds the next part. Parts that do not belong to the response are ignored. */
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
        this.#mergeMetadata(part, this.#open.get(partKey(part)));
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
        if (part['preliminary'] !== true) this.#addOpaque(part);
        break;
      case 'custom':
        // Anthropic's package announces a message with this part; its content also comes elsewhere.
        if (part['kind'] !== 'anthropic.message_start') this.#addOpaque(part);
        break;
      case 'reasoning-file':
      case 'source':
      case 'tool-approval-request':
        this.#addOpaque(part);
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

  /** Adds metadata beside the content. */
  setMetadata(name: string, value: string): void {
    this.#metadata[name] = value;
  }

  /** The complete response. A call with truncated arguments has `argsError`. */
  build(): ModelResponse {
    for (const call of this.#unfinishedCalls.values()) {
      this.#pieces.push(this.#callPart(call, truncatedArgs(call.argsText)));
    }
    this.#unfinishedCalls.clear();
    this.#markLastCallTruncated();
    const parts = this.#pieces.flatMap((piece) => this.#toParts(piece));
    const content: Content = { role: 'model', parts: parts.length > 0 ? parts : [{ text: '' }] };
    return {
      content,
      finishReason: toFinishReason(this.#end, parts),
      ...omitUndefined({ usage: this.#usage }),
      ...this.#providerMetadata(),
    };
  }

  #providerMetadata(): { readonly providerMetadata?: ProviderMetadata } {
    return Object.keys(this.#metadata).length === 0
      ? {}
      : { providerMetadata: { ...this.#metadata } };
  }

  #begin(part: StreamPart): TextPiece {
    const piece: TextPiece = { thought: part.type.startsWith('reasoning'), text: '', note: {} };
    this.#open.set(partKey(part), piece);
    this.#pieces.push(piece);
    this.#mergeMetadata(part, piece);
    return piece;
  }

  #append(part: StreamPart): void {
    const piece = this.#open.get(partKey(part)) ?? this.#begin(part);
    this.#mergeMetadata(part, piece);
    const text = asString(part['delta']);
    if (text === '') return;
    piece.text += text;
    this.#options.onDelta({ kind: piece.thought ? 'thinking' : 'text', text });
  }

  // Metadata may come at the start, with any delta or at the end. The last value of each member
  // wins.
  #mergeMetadata({ providerMetadata }: StreamPart, piece: TextPiece | undefined): void {
    if (piece !== undefined) piece.note = mergeMetadata(piece.note, providerMetadata);
  }

  #beginCall({ id, toolName, providerExecuted, providerMetadata }: StreamPart): void {
    if (providerExecuted === true) return;
    this.#unfinishedCalls.set(asString(id), {
      id: toProviderId(id),
      name: asString(toolName),
      argsText: '',
      note: mergeMetadata({}, providerMetadata),
    });
  }

  #appendToCall({ id, delta }: StreamPart): void {
    const call = this.#unfinishedCalls.get(asString(id));
    if (call !== undefined) call.argsText += asString(delta);
  }

  #addCall(part: StreamPart): void {
    const id = asString(part['toolCallId']);
    const streamed = this.#unfinishedCalls.get(id)?.argsText ?? '';
    this.#unfinishedCalls.delete(id);
    if (part['providerExecuted'] === true) {
      this.#addOpaque(part);
      return;
    }
    const note = mergeMetadata({}, part['providerMetadata']);
    const call = { id: toProviderId(id), name: asString(part['toolName']), note };
    const { input } = part;
    const read =
      typeof input === 'string' ? parseStreamedArgs(input, streamed) : truncatedArgs(streamed);
    this.#pieces.push(this.#callPart(call, read));
  }

  /** A truncated response may have been cut before the first argument of its last call. */
  #markLastCallTruncated(): void {
    if (!TRUNCATED_ENDS.has(this.#end?.unified ?? '')) return;
    const last = this.#pieces.at(-1);
    if (last === undefined || !('functionCall' in last)) return;
    const { args, argsError } = last.functionCall;
    if (argsError !== undefined || Object.keys(args).length > 0) return;
    this.#pieces[this.#pieces.length - 1] = {
      ...last,
      functionCall: { ...last.functionCall, ...truncatedArgs('') },
    };
  }

  #callPart({ id, name: sent, note }: NamedCall, { args, argsError }: CallArgs): Part {
    const name = this.#options.toolName(sent);
    const restored = argsError === undefined ? this.#options.restore(name, args) : args;
    return {
      functionCall: { id, name, args: restored, ...omitUndefined({ argsError }) },
      ...this.#toThoughtSignature(omitTransientMetadata(note), id !== ''),
    };
  }

  #addFile(part: StreamPart): void {
    const file = fromFilePart(part);
    if (file === undefined) return;
    const note = mergeMetadata({}, part['providerMetadata']);
    this.#pieces.push(
      'inlineData' in file ? { ...file, ...this.#toThoughtSignature(note, false) } : file,
    );
  }

  #addOpaque(part: StreamPart): void {
    this.#pieces.push(toOpaque(part, this.#options.family));
  }

  #identify({ id, modelId }: StreamPart): void {
    if (typeof id === 'string') this.setMetadata('responseId', id);
    if (typeof modelId === 'string') this.setMetadata('modelId', modelId);
  }

  #finish({ finishReason, usage, providerMetadata }: StreamPart): void {
    const reason = isJsonObject(finishReason) ? finishReason : {};
    const { unified, raw } = reason;
    this.#end = {
      unified: typeof unified === 'string' ? unified : 'other',
      raw: typeof raw === 'string' && raw !== '' ? raw : undefined,
      counted: hasTokens(usage),
    };
    if (typeof raw === 'string') this.setMetadata('finishReason', raw);
    this.#usage = toUsage(usage);
    const counted = isJsonObject(usage) ? usage['raw'] : undefined;
    if (counted !== undefined) this.setMetadata('usage', JSON.stringify(counted));
    for (const [name, value] of groundingFacts(providerMetadata))
      this.setMetadata(name, JSON.stringify(value));
  }

  #toParts(piece: Piece): readonly Part[] {
    if (!('note' in piece)) return [piece];
    const { thought, text, note } = piece;
    const signature = thought
      ? this.#toThoughtSignature(note, this.#options.acceptsUnsignedThinking)
      : this.#toThoughtSignature(omitTransientMetadata(note), false);
    if (text === '' && !('thoughtSignature' in signature && hasValues(note))) return [];
    return [
      { text, ...omitUndefined({ thought: thought ? (true as const) : undefined }), ...signature },
    ];
  }

  #toThoughtSignature(
    note: JsonObject,
    always: boolean,
  ): { readonly thoughtSignature?: ThoughtSignature } {
    const by = this.#options.family;
    if (hasValues(note)) return { thoughtSignature: toThoughtSignature({ by, note }) };
    return always ? { thoughtSignature: toThoughtSignature({ by }) } : {};
  }
}

interface TextPiece {
  readonly thought: boolean;
  text: string;
  note: JsonObject;
}

interface NamedCall {
  readonly id: string;
  readonly name: string;
  readonly note: JsonObject;
}

interface StreamedCall extends NamedCall {
  argsText: string;
}

type Piece = TextPiece | Part;

function partKey({ type, id }: StreamPart): string {
  return `${type.startsWith('text') ? 'text' : 'reasoning'}:${asString(id)}`;
}

function asString(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The provider's id of a call, or empty if it has none. */
function toProviderId(id: unknown): string {
  return id === NO_CALL_ID ? '' : asString(id);
}

function mergeMetadata(before: JsonObject, more: unknown): JsonObject {
  if (!isJsonObject(more)) return before;
  const merged: Record<string, JsonObject[string]> = { ...before };
  for (const [name, note] of Object.entries(more)) {
    const old = merged[name];
    merged[name] = isJsonObject(old) && isJsonObject(note) ? { ...old, ...note } : note;
  }
  return merged;
}

// Ids and citations of the provider: it does not need them back, and the ids expire.
function omitTransientMetadata(note: JsonObject): JsonObject {
  const kept = Object.entries(note).map(([name, one]) => {
    if (!isJsonObject(one)) return [name, one] as const;
    const { itemId: _itemId, annotations: _annotations, citations: _citations, ...rest } = one;
    return [name, rest] as const;
  });
  return Object.fromEntries(kept);
}

function hasValues(note: JsonObject): boolean {
  return Object.values(note).some(
    (one) => !isJsonObject(one) || Object.values(one).some((value) => value !== null),
  );
}

/** Unified end reasons where the model would have continued. */
const TRUNCATED_ENDS: ReadonlySet<string> = new Set(['length', 'content-filter', 'other']);

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'max_tokens',
  'content-filter': 'refusal',
};

function toFinishReason(end: ResponseEnd | undefined, parts: readonly Part[]): FinishReason {
  if (parts.some((part) => 'functionCall' in part)) return 'tool_calls';
  return readOwn(FINISH_REASONS, end?.unified ?? '') ?? 'other';
}

/** What a provider says about the sources of its response, in the spelling of Gemini. */
function groundingFacts(providerMetadata: unknown): readonly (readonly [string, JsonObject])[] {
  if (!isJsonObject(providerMetadata)) return [];
  return Object.values(providerMetadata)
    .filter(isJsonObject)
    .flatMap((note) =>
      GROUNDING_METADATA.flatMap((name) => {
        const value = note[name];
        return isJsonObject(value) ? [[name, value] as const] : [];
      }),
    );
}

function hasTokens(usage: unknown): boolean {
  if (!isJsonObject(usage)) return false;
  return ['inputTokens', 'outputTokens'].some((name) => {
    const tokens = usage[name];
    return isJsonObject(tokens) && typeof tokens['total'] === 'number';
  });
}
