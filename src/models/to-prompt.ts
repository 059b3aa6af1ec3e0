import type { FunctionCallPart, JsonObject, Part } from '../core/index.ts';
import { toFilePart } from './file-part.ts';
import type { PromptMessage, PromptPart, ProviderOptions } from './language-model.ts';
import type { ModelRequest } from './model.ts';
import { promptTurns, type CallResult, type PromptTurn } from './prompt-turns.ts';
import { fromOpaque } from './opaque-part.ts';
import { fromSignature, type ProviderSeal } from './provider-seal.ts';
import { resultOutput } from './result-output.ts';
import type { ToolNames } from './tool-names.ts';

/** For whom a prompt is. */
export interface PromptTarget {
  readonly version: 'v3' | 'v4';
  /** Whose notes go along; those of others stay here. */
  readonly family: string;
  readonly names: ToolNames;
  /** It can be shown an image inside a result. */
  readonly seesResultImages: boolean;
  /** Marks the end of what should be cached: after the instruction, or after the whole conversation too. */
  readonly cacheMark?: {
    readonly after: 'instruction' | 'conversation';
    readonly options: ProviderOptions;
  };
}

/** Writes a request as a prompt of the AI SDK's specification. */
export function toPrompt(
  request: Pick<ModelRequest, 'instruction' | 'contents'>,
  target: PromptTarget,
): PromptMessage[] {
  const { instruction = '', contents } = request;
  const turns = promptTurns(contents);
  const reader: Reader = { ...target, owners: ownersOf(turns) };
  const messages = turns
    .map((turn) => messageOf(turn, reader))
    .filter(({ content }) => content.length > 0);
  const { cacheMark } = target;
  const last = messages.at(-1);
  if (cacheMark?.after === 'conversation' && last !== undefined) {
    messages[messages.length - 1] = { ...last, providerOptions: cacheMark.options };
  }
  if (instruction === '') return messages;
  const marked = cacheMark === undefined ? {} : { providerOptions: cacheMark.options };
  return [{ role: 'system', content: instruction, ...marked }, ...messages];
}

interface Reader extends PromptTarget {
  /** Which call an id of the provider belongs to: the first that has it. */
  readonly owners: ReadonlyMap<string, string>;
}

function ownersOf(turns: readonly PromptTurn[]): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const { call } of turns.flatMap((turn) => (turn.kind === 'results' ? turn.results : []))) {
    const { id, providerId } = call.functionCall;
    if (providerId !== undefined && !owners.has(providerId)) owners.set(providerId, id);
  }
  return owners;
}

function messageOf(turn: PromptTurn, target: Reader): PromptMessage {
  if (turn.kind === 'results') {
    return { role: 'tool', content: turn.results.map((result) => resultPart(result, target)) };
  }
  if (turn.kind === 'user') {
    return { role: 'user', content: turn.parts.flatMap((part) => userPart(part, target)) };
  }
  return { role: 'assistant', content: turn.parts.flatMap((part) => modelPart(part, target)) };
}

function userPart(part: Part, target: PromptTarget): readonly PromptPart[] {
  if ('text' in part) return part.text === '' ? [] : [{ type: 'text', text: part.text }];
  return toFilePart(part, target);
}

function modelPart(part: Part, target: Reader): readonly PromptPart[] {
  if ('opaque' in part) return fromOpaque(part, target.family);
  const seal = 'thoughtSignature' in part ? sealOf(part.thoughtSignature, target) : undefined;
  if ('text' in part) return spokenPart(part, seal);
  if ('functionCall' in part) {
    const { name, args } = part.functionCall;
    const toolName = target.names.toProvider(name);
    const toolCallId = callIdFor(part, target);
    return [{ type: 'tool-call', toolCallId, toolName, input: args, ...noted(seal) }];
  }
  // No provider takes an address from a model's mouth.
  if ('fileData' in part) return [{ type: 'text', text: `(file: ${part.fileData.fileUri})` }];
  return toFilePart(part, target).map((file) => ({ ...file, ...noted(seal) }));
}

function spokenPart(
  { text, thought }: { readonly text: string; readonly thought?: true },
  seal: ProviderSeal | undefined,
): readonly PromptPart[] {
  // Thinking is of use only to the one who thought it.
  if (thought === true) {
    return seal === undefined ? [] : [{ type: 'reasoning', text, ...noted(seal) }];
  }
  return text === '' && seal?.note === undefined ? [] : [{ type: 'text', text, ...noted(seal) }];
}

function sealOf(signature: string | undefined, target: PromptTarget): ProviderSeal | undefined {
  return fromSignature(signature, target.family);
}

function noted(seal: ProviderSeal | undefined): { readonly providerOptions?: JsonObject } {
  return seal?.note === undefined ? {} : { providerOptions: seal.note };
}

function resultPart({ call, response }: CallResult, target: Reader): PromptPart {
  return {
    type: 'tool-result',
    toolCallId: callIdFor(call, target),
    toolName: target.names.toProvider(call.functionCall.name),
    output: resultOutput(response, target),
  };
}

// The provider's own id goes back to that provider; to any other the call has ours. So has a call whose id the provider
// gave before: some number theirs anew in each answer, and the strict take no id twice.
function callIdFor({ functionCall, thoughtSignature }: FunctionCallPart, target: Reader): string {
  const { id, providerId } = functionCall;
  const isTheirs =
    providerId !== undefined &&
    target.owners.get(providerId) === id &&
    sealOf(thoughtSignature, target) !== undefined;
  return isTheirs ? providerId : id;
}
