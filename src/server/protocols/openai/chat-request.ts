import * as v from 'valibot';
import { InvalidInputError, isJsonObject } from '../../../core/index.ts';
import type { Json, JsonObject, Part } from '../../../core/index.ts';
import { nonEmptyText } from '../../wire/wire-schemas.ts';
import { parseArguments, parseOutput, toFilePart } from './conversation-input.ts';
import type { ClientItem } from './conversation-input.ts';

const anyObject = v.custom<JsonObject>(isJsonObject, 'must be an object');

interface ToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments?: string | undefined };
}

interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly JsonObject[] | null | undefined;
  readonly tool_call_id?: string | undefined;
  readonly tool_calls?: readonly ToolCall[] | null | undefined;
}

/** The body of a chat completion. Other fields are ignored: parameters of models belong to the agent. */
export interface CompletionRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean | null | undefined;
  readonly stream_options?: { readonly include_usage?: boolean | undefined } | null | undefined;
  readonly tools?: readonly JsonObject[] | null | undefined;
  readonly metadata?: JsonObject | null | undefined;
}

export const chatRequest: v.GenericSchema<unknown, CompletionRequest> = v.looseObject({
  model: nonEmptyText(256),
  messages: v.array(
    v.looseObject({
      role: nonEmptyText(32),
      content: v.nullish(v.union([v.string(), v.array(anyObject)])),
      tool_call_id: v.optional(nonEmptyText(4096)),
      tool_calls: v.nullish(
        v.array(
          v.looseObject({
            id: nonEmptyText(4096),
            function: v.looseObject({
              name: nonEmptyText(256),
              arguments: v.optional(v.string()),
            }),
          }),
        ),
      ),
    }),
  ),
  stream: v.nullish(v.boolean()),
  stream_options: v.nullish(v.looseObject({ include_usage: v.optional(v.boolean()) })),
  tools: v.nullish(v.array(anyObject)),
  metadata: v.nullish(anyObject),
});

/** @throws InvalidInputError for a message that is not known or not complete */
export function toChatItems({ messages }: CompletionRequest): readonly ClientItem[] {
  return messages.flatMap((message, index) => toItems(message, `messages[${index}]`));
}

function toItems(
  { role, content, tool_call_id: callId, tool_calls: calls }: ChatMessage,
  field: string,
): readonly ClientItem[] {
  switch (role) {
    case 'user':
    case 'system':
    case 'developer':
      return [{ type: 'user', parts: toParts(content, `${field}.content`) }];
    case 'assistant':
      return [
        { type: 'agent', text: content == null ? '' : joinText(content) },
        ...(calls ?? []).map(({ id, function: { name, arguments: text = '' } }, index) => ({
          type: 'call' as const,
          callId: id,
          name,
          args: parseArguments(text, `${field}.tool_calls[${index}].function.arguments`),
        })),
      ];
    case 'tool': {
      if (callId === undefined)
        throw new InvalidInputError(`${field}.tool_call_id`, 'must be the id of a call.');
      const response = parseOutput(content == null ? '' : joinText(content));
      return [{ type: 'answer', answer: { type: 'result', callId, response } }];
    }
    default:
      throw new InvalidInputError(
        `${field}.role`,
        `must be user, system, developer, assistant or tool; it is ${JSON.stringify(role)}.`,
      );
  }
}

function toParts(content: ChatMessage['content'], field: string): readonly Part[] {
  if (typeof content === 'string') return [{ text: content }];
  if (content == null || content.length === 0)
    throw new InvalidInputError(field, 'must be text, or a list of parts.');
  return content.map((part, index) => toPart(part, `${field}[${index}]`));
}

function toPart(part: JsonObject, field: string): Part {
  const { type, text, image_url: image, input_audio: audio, file } = part;
  if (type === 'text' && typeof text === 'string') return { text };
  if (type === 'image_url')
    return toFilePart(readText(image, 'url'), `${field}.image_url.url`, 'image/jpeg');
  if (type === 'file')
    return toFilePart(readText(file, 'file_data'), `${field}.file.file_data`, 'application/pdf');
  const data = readText(audio, 'data');
  if (type === 'input_audio' && data !== undefined)
    return { inlineData: { mimeType: `audio/${readText(audio, 'format') ?? 'wav'}`, data } };
  throw new InvalidInputError(field, 'must be a text, image_url, input_audio or file.');
}

function readText(value: Json | undefined, member: string): string | undefined {
  const found = isJsonObject(value) ? value[member] : undefined;
  return typeof found === 'string' ? found : undefined;
}

function joinText(content: string | readonly JsonObject[]): string {
  if (typeof content === 'string') return content;
  return content.map((part) => readText(part, 'text') ?? '').join('');
}
