import * as v from 'valibot';
import { InvalidInputError, isJsonObject } from '../../../core/index.ts';
import type { Json, JsonObject, Part } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import { nonEmptyText } from '../../wire/wire-schemas.ts';
import { parseArguments, parseOutput, toFilePart } from './conversation-input.ts';
import type { ClientItem } from './conversation-input.ts';

const anyObject = v.custom<JsonObject>(isJsonObject, 'must be an object');

/** The body of a request for a response. Other fields are ignored: parameters of models belong to the agent. */
export interface ResponsesRequest {
  readonly model?: string | undefined;
  readonly input: string | readonly JsonObject[];
  readonly instructions?: string | null | undefined;
  readonly previous_response_id?: string | null | undefined;
  readonly conversation?: string | { readonly id: string } | null | undefined;
  readonly stream?: boolean | null | undefined;
  readonly background?: boolean | null | undefined;
  readonly tools?: readonly JsonObject[] | null | undefined;
  readonly metadata?: JsonObject | null | undefined;
}

export const responsesRequest: v.GenericSchema<unknown, ResponsesRequest> = v.looseObject({
  model: v.optional(nonEmptyText(256)),
  input: v.union([v.string(), v.array(anyObject)], 'must be text, or a list of items'),
  instructions: v.nullish(v.string()),
  previous_response_id: v.nullish(nonEmptyText(4096)),
  conversation: v.nullish(
    v.union([nonEmptyText(256), v.looseObject({ id: nonEmptyText(256) })], 'must be an id'),
  ),
  stream: v.nullish(v.boolean()),
  background: v.nullish(v.boolean()),
  tools: v.nullish(v.array(anyObject)),
  metadata: v.nullish(anyObject),
});

/** @throws InvalidInputError for an item that is not known or not complete */
export function toItems({ input, instructions }: ResponsesRequest): readonly ClientItem[] {
  const items =
    typeof input === 'string'
      ? [{ type: 'user', parts: [{ text: input }] } as const]
      : input.map((item, index) => toItem(item, `input[${index}]`));
  if (instructions == null || instructions === '') return items;
  // They are for this request: just before its message.
  const first = items.findLastIndex(({ type }) => type !== 'user') + 1;
  return [
    ...items.slice(0, first),
    { type: 'user', parts: [{ text: instructions }] },
    ...items.slice(first),
  ];
}

function toItem(item: JsonObject, field: string): ClientItem {
  const { type = 'message', role, content } = item;
  switch (type) {
    case 'message':
      if (role === 'assistant') return { type: 'agent', text: joinText(content) };
      if (role === 'user' || role === 'system' || role === 'developer')
        return { type: 'user', parts: toParts(content, `${field}.content`) };
      throw new InvalidInputError(`${field}.role`, 'must be user, system, developer or assistant.');
    case 'function_call':
      return {
        type: 'call',
        callId: toText(item['call_id'], `${field}.call_id`),
        name: toText(item['name'], `${field}.name`),
        args: parseArguments(item['arguments'], `${field}.arguments`),
      };
    case 'function_call_output': {
      const { output } = item;
      const callId = toText(item['call_id'], `${field}.call_id`);
      const response = parseOutput(typeof output === 'string' ? output : joinText(output));
      return { type: 'answer', answer: { type: 'result', callId, response } };
    }
    case 'mcp_approval_response': {
      const { approve, reason } = item;
      const callId = toText(item['approval_request_id'], `${field}.approval_request_id`);
      if (approve === true) return { type: 'answer', answer: { type: 'approve', callId } };
      if (approve !== false)
        throw new InvalidInputError(`${field}.approve`, 'must be true or false.');
      const message = typeof reason === 'string' ? reason : undefined;
      return {
        type: 'answer',
        answer: { type: 'deny', callId, ...omitUndefined({ message }) },
      };
    }
    case 'reasoning':
    case 'mcp_call':
    case 'mcp_approval_request':
      return { type: 'other' };
    default:
      throw new InvalidInputError(
        `${field}.type`,
        `is ${JSON.stringify(type)}, which no agent here takes. Send messages, function_call_output and mcp_approval_response.`,
      );
  }
}

function toParts(content: Json | undefined, field: string): readonly Part[] {
  if (typeof content === 'string') return [{ text: content }];
  if (Array.isArray(content))
    return content.map((part, index) => toPart(part, `${field}[${index}]`));
  throw new InvalidInputError(field, 'must be text, or a list of parts.');
}

function toPart(part: Json, field: string): Part {
  const { type, text, image_url, file_data, file_url } = isJsonObject(part) ? part : {};
  if ((type === 'input_text' || type === 'output_text') && typeof text === 'string')
    return { text };
  if (type === 'input_image') return toFilePart(image_url, `${field}.image_url`, 'image/jpeg');
  if (type === 'input_file')
    return toFilePart(file_data ?? file_url, `${field}.file_data`, 'application/pdf');
  throw new InvalidInputError(field, 'must be an input_text, input_image or input_file.');
}

function joinText(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}

function toText(value: Json | undefined, field: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new InvalidInputError(field, 'must be a text that is not empty.');
}
