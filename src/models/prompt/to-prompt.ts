import type { Content, FunctionCallPart, JsonObject, Part } from '../../core/index.ts';
import { toFilePart } from '../provider/file-part.ts';
import type { PromptMessage, PromptPart, ProviderOptions } from '../provider/language-model.ts';
import type { ModelRequest } from '../model/model.ts';
import { isBlank, toPromptTurns, type AnsweredCall, type PromptTurn } from './prompt-turns.ts';
import { fromOpaque } from '../provider/opaque-part.ts';
import { fromThoughtSignature, type ProviderSignature } from '../provider/provider-signature.ts';
import { resultOutput } from './result-output.ts';
import type { ToolNames } from './tool-names.ts';

/** The provider that receives a prompt. */
export interface PromptTarget {
  readonly version: 'v3' | 'v4';
  /** The provider family. Only its own signatures are sent. */
  readonly family: string;
  readonly names: ToolNames;
  /** Whether it accepts an image inside a result. */
  readonly supportsResultImages: boolean;
  /**
   * Marks the end of the cacheable prefix: after the instruction, or also after the conversation.
   */
  readonly cacheMark?: {
    readonly after: 'instruction' | 'conversation';
    readonly options: ProviderOptions;
  };
}

/** Converts a request to a prompt of the AI SDK specification. */
export function toPrompt(
  request: Pick<ModelRequest, 'instruction' | 'contents'>,
  target: PromptTarget,
): PromptMessage[] {
  const { instruction = '', contents } = request;
  const shown = contents.map((content) => dropTrailingThoughts(content, target));
  const turns = toPromptTurns(shown, (role, part) => isSent(role, part, target));
  const ids = callIds(turns, target);
  const messages = turns.map((turn) => toMessage(turn, ids.get(turn) ?? [], target));
  const { cacheMark } = target;
  const last = messages.at(-1);
  if (cacheMark?.after === 'conversation' && last !== undefined) {
    messages[messages.length - 1] = { ...last, providerOptions: cacheMark.options };
  }
  if (instruction === '') return messages;
  const marked = cacheMark === undefined ? {} : { providerOptions: cacheMark.options };
  return [{ role: 'system', content: instruction, ...marked }, ...messages];
}

/**
 * The ids of the calls of each turn and of their results. They are unique, because strict providers
 * reject a repeated id.
 */
function callIds(
  turns: readonly PromptTurn[],
  target: PromptTarget,
): ReadonlyMap<PromptTurn, readonly string[]> {
  const used = new Set<string>();
  const ids = new Map<PromptTurn, readonly string[]>();
  for (const [i, turn] of turns.entries()) {
    if (turn.kind !== 'results') continue;
    const turnIds = turn.results.map(({ call }) => unusedId(call, used, target));
    ids.set(turn, turnIds);
    const before = turns[i - 1];
    if (before !== undefined) ids.set(before, turnIds);
  }
  return ids;
}

// The provider's own id is sent back to that provider; every other provider gets ours. A provider's
// id that was already used is replaced, too: some providers number calls from the beginning in each
// response. Our ids are unique, unless a program wrote the conversation.
function unusedId(
  { functionCall: { id, providerId }, thoughtSignature }: FunctionCallPart,
  used: Set<string>,
  target: PromptTarget,
): string {
  const ownId = readSignature(thoughtSignature, target) === undefined ? undefined : providerId;
  let unused = ownId !== undefined && !used.has(ownId) ? ownId : id;
  for (let n = 2; used.has(unused); n++) unused = `${id}_${n}`;
  used.add(unused);
  return unused;
}

function toMessage(turn: PromptTurn, ids: readonly string[], target: PromptTarget): PromptMessage {
  if (turn.kind === 'results') {
    const content = turn.results.map((result, n) => resultPart(result, ids[n], target));
    return { role: 'tool', content };
  }
  if (turn.kind === 'user') {
    return { role: 'user', content: turn.parts.flatMap((part) => userPart(part, target)) };
  }
  let calls = 0;
  const content = turn.parts.flatMap((part) =>
    'functionCall' in part ? [callPart(part, ids[calls++], target)] : modelPart(part, target),
  );
  return { role: 'assistant', content };
}

/** Drops thinking at the end of a response. Only Gemini accepts it there. */
function dropTrailingThoughts(content: Content, target: PromptTarget): Content {
  const { role, parts } = content;
  if (role !== 'model' || target.family === 'google') return content;
  const last = parts.findLastIndex((part) => !isThought(part) && isSent(role, part, target));
  return { role, parts: parts.filter((part, i) => i < last || !isThought(part)) };
}

/**
 * Whether any of a part is sent to this provider. Thinking and opaque parts of other providers are
 * not sent, nor are blank texts.
 */
function isSent(role: Content['role'], part: Part, target: PromptTarget): boolean {
  if ('functionResponse' in part) return false;
  if (role !== 'model') return !isThought(part) && !('opaque' in part) && !isBlank(part);
  if ('opaque' in part) return fromOpaque(part, target.family).length > 0;
  if (!('text' in part)) return true;
  const signature = readSignature(part.thoughtSignature, target);
  // Gemini signs an empty text at the end of its response. Thinking is useful only to the model
  // family that produced it.
  const mayBeBlank =
    signature?.note !== undefined && (isThought(part) || target.family === 'google');
  return isThought(part)
    ? signature !== undefined && (mayBeBlank || !isBlank(part))
    : mayBeBlank || !isBlank(part);
}

function isThought(part: Part): boolean {
  return 'text' in part && part.thought === true;
}

function userPart(part: Part, target: PromptTarget): readonly PromptPart[] {
  return 'text' in part ? [{ type: 'text', text: part.text }] : toFilePart(part, target);
}

function callPart(
  { functionCall: { name, args }, thoughtSignature }: FunctionCallPart,
  toolCallId: string | undefined,
  target: PromptTarget,
): PromptPart {
  const toolName = target.names.toProvider(name);
  const signature = readSignature(thoughtSignature, target);
  return { type: 'tool-call', toolCallId, toolName, input: args, ...signatureOptions(signature) };
}

function modelPart(part: Part, target: PromptTarget): readonly PromptPart[] {
  if ('opaque' in part) return fromOpaque(part, target.family);
  const signature =
    'thoughtSignature' in part ? readSignature(part.thoughtSignature, target) : undefined;
  if ('text' in part) {
    return [
      {
        type: isThought(part) ? 'reasoning' : 'text',
        text: part.text,
        ...signatureOptions(signature),
      },
    ];
  }
  // No provider accepts a URL in a model message, and only Gemini accepts bytes.
  if ('fileData' in part) return [{ type: 'text', text: `(file: ${part.fileData.fileUri})` }];
  if ('inlineData' in part && target.family !== 'google') {
    return [{ type: 'text', text: `(a file of ${part.inlineData.mimeType})` }];
  }
  return toFilePart(part, target).map((file) => ({ ...file, ...signatureOptions(signature) }));
}

function readSignature(
  signature: string | undefined,
  target: PromptTarget,
): ProviderSignature | undefined {
  return fromThoughtSignature(signature, target.family);
}

function signatureOptions(signature: ProviderSignature | undefined): {
  readonly providerOptions?: JsonObject;
} {
  return signature?.note === undefined ? {} : { providerOptions: signature.note };
}

function resultPart(
  { call, response }: AnsweredCall,
  toolCallId: string | undefined,
  target: PromptTarget,
): PromptPart {
  return {
    type: 'tool-result',
    toolCallId,
    toolName: target.names.toProvider(call.functionCall.name),
    output: resultOutput(response, target),
  };
}
