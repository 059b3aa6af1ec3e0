import { decodeJson } from '../json/decode-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { omitUndefined } from '../json/omit-undefined.ts';
import { isOpaquePart, type Content, type OpaquePart, type Part } from './content.ts';

/** A call of a tool that the model's provider ran itself, such as its web search. Petrichor runs nothing for it. */
export type ProviderToolCall = {
  /** The provider's id of the call. */
  readonly id: string;
  /** The name of the tool in the agent. */
  readonly name: string;
  /** The provider family, such as `anthropic`. */
  readonly provider: string;
  readonly args: JsonObject;
  /** Missing if the provider sent no result, or sends it in a later message. */
  readonly result?: Json;
  readonly isError?: true;
};

/** A part that the provider `by` sent, in the form of its AI SDK package. */
export interface ProviderPart {
  readonly by: string;
  readonly part: JsonObject & { readonly type: string };
}

/** The part of a provider inside an opaque part; undefined if it is none. */
export function readProviderPart({ opaque }: OpaquePart): ProviderPart | undefined {
  if (!isJsonObject(opaque)) return undefined;
  const { by, part } = opaque;
  if (typeof by !== 'string' || !isJsonObject(part) || typeof part['type'] !== 'string')
    return undefined;
  return { by, part: { ...part, type: part['type'] } };
}

/** Lists the calls that the provider of the model ran itself, with their results, in the order of the message. */
export function getProviderToolCalls(
  source: { readonly content?: Content } | Content | undefined,
): readonly ProviderToolCall[] {
  const content = source !== undefined && 'parts' in source ? source : source?.content;
  const parts = (content?.parts ?? []).flatMap(toProviderParts);
  // Gemini has no ids: the first result that follows a call is that of the call.
  const results = parts.filter(({ part }) => part.type === 'tool-result').map(({ part }) => part);
  return parts
    .filter(({ part }) => part.type === 'tool-call')
    .map(({ by, part }) => {
      const id = toText(part['toolCallId']);
      const index = results.findIndex((one) => one['toolCallId'] === id);
      const [result] = index === -1 ? [] : results.splice(index, 1);
      return {
        id,
        name: toText(part['toolName']),
        provider: by,
        args: readProviderArgs(part),
        ...omitUndefined({
          result: result?.['result'],
          isError: result?.['isError'] === true ? (true as const) : undefined,
        }),
      };
    });
}

/** The sources that a provider names beside its text, in the form of ADK's citations. */
export function listCitations({ parts }: Content): readonly JsonObject[] {
  return parts
    .flatMap(toProviderParts)
    .filter(({ part }) => part.type === 'source')
    .map(({ part: { url, title } }) =>
      omitUndefined({
        uri: typeof url === 'string' ? url : undefined,
        title: typeof title === 'string' ? title : undefined,
      }),
    );
}

/**
 * Converts a part of a provider to the parts that ADK has for it: programs that Gemini ran, and calls of other tools that
 * the provider ran. Sources give none, because an event names them beside its content.
 */
export function toAdkParts(opaquePart: OpaquePart): readonly Json[] {
  const provided = readProviderPart(opaquePart);
  if (provided === undefined) return [opaquePart.opaque];
  const { by, part } = provided;
  const id = toText(part['toolCallId']);
  const toolType = toText(part['toolName']).replace(/^server:/, '');
  const isProgram = by === 'google' && toolType === 'code_execution';
  if (part.type === 'tool-call') {
    const args = readProviderArgs(part);
    return [isProgram ? { executableCode: args } : { toolCall: { id, toolType, args } }];
  }
  if (part.type === 'tool-result') {
    const { result = null } = part;
    return isProgram
      ? [{ codeExecutionResult: result }]
      : [{ toolResponse: { id, toolType, response: toObject(result) } }];
  }
  return part.type === 'source' ? [] : [opaquePart.opaque];
}

/** The arguments of a call, which a provider sends as JSON text or as an object. */
function readProviderArgs({ input }: JsonObject): JsonObject {
  if (isJsonObject(input)) return input;
  if (typeof input !== 'string') return {};
  try {
    const value = decodeJson(input, 'input');
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function toProviderParts(part: Part): readonly ProviderPart[] {
  const provided = isOpaquePart(part) ? readProviderPart(part) : undefined;
  return provided === undefined ? [] : [provided];
}

function toObject(value: Json): JsonObject {
  return isJsonObject(value) ? value : { output: value };
}

function toText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
