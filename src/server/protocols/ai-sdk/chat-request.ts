import * as v from 'valibot';
import { InvalidInputError, isJsonObject, parseUserContent } from '../../../core/index.ts';
import type { Json, JsonObject, Part } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import { nonEmptyText } from '../../wire/wire-schemas.ts';
import type { ClientInput } from '../send-inputs.ts';

const anyObject = v.custom<JsonObject>(isJsonObject, 'must be an object');

/** A `UIMessage`. */
export interface ChatMessage {
  readonly id: string;
  readonly role: string;
  readonly parts: readonly JsonObject[];
}

interface DeclaredTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters?: JsonObject | undefined;
}

/** The body that `DefaultChatTransport` sends. `tools` are declared by its option `body`. */
export interface ChatRequest {
  readonly id: string;
  readonly messages: readonly ChatMessage[];
  readonly trigger?: string | undefined;
  readonly tools: readonly DeclaredTool[];
}

// Clients add fields of their own. They are ignored.
export const chatRequest: v.GenericSchema<unknown, ChatRequest> = v.looseObject({
  id: nonEmptyText(256),
  messages: v.array(
    v.looseObject({ id: nonEmptyText(256), role: nonEmptyText(32), parts: v.array(anyObject) }),
  ),
  trigger: v.optional(v.string()),
  tools: v.optional(
    v.array(
      v.looseObject({
        name: nonEmptyText(64),
        description: v.optional(v.string()),
        parameters: v.optional(anyObject),
      }),
    ),
    [],
  ),
});

/**
 * The inputs of a request: its last message, if it is of the user, or the approvals and results that the last message of
 * the assistant has got.
 * @param canAnswer whether a client may answer the call, or has answered it
 * @throws InvalidInputError for an invalid part
 */
export function toInputs(
  { messages, tools }: ChatRequest,
  canAnswer: (callId: string, needs: 'approval' | 'result') => boolean,
): readonly ClientInput[] {
  const last = messages.at(-1);
  if (last === undefined)
    throw new InvalidInputError('messages', 'is empty. Send the message of the user.');
  const field = `messages[${messages.length - 1}].parts`;
  if (last.role !== 'user') return last.parts.flatMap((part) => toAnswer(part, canAnswer));
  const parts = last.parts.map((part, index) => toPart(part, `${field}[${index}]`));
  return [
    {
      type: 'message',
      messageId: last.id,
      content: parseUserContent({ role: 'user', parts }),
      ...omitUndefined({
        clientTools:
          tools.length === 0
            ? undefined
            : tools.map(({ name, description, parameters }) => ({
                name,
                ...omitUndefined({ description, parameters }),
              })),
      }),
    },
  ];
}

function toAnswer(
  part: JsonObject,
  canAnswer: (callId: string, needs: 'approval' | 'result') => boolean,
): readonly ClientInput[] {
  const { toolCallId: callId, state, approval, output, errorText } = part;
  if (typeof callId !== 'string') return [];
  const approved = isJsonObject(approval) ? approval['approved'] : undefined;
  if (state === 'approval-responded' && typeof approved === 'boolean') {
    if (!canAnswer(callId, 'approval')) return [];
    if (approved) return [{ type: 'approve', callId }];
    const message = isJsonObject(approval) ? approval['reason'] : undefined;
    return [
      {
        type: 'deny',
        callId,
        ...omitUndefined({ message: typeof message === 'string' ? message : undefined }),
      },
    ];
  }
  if (!canAnswer(callId, 'result')) return [];
  const response: Json = output ?? null;
  if (state === 'output-available') return [{ type: 'result', callId, response }];
  if (state === 'output-error' && typeof errorText === 'string')
    return [{ type: 'result', callId, response: errorText, isError: true }];
  return [];
}

function toPart({ type, text, url, mediaType }: JsonObject, field: string): Part {
  if (type === 'text' && typeof text === 'string') return { text };
  if (type === 'file' && typeof url === 'string' && typeof mediaType === 'string') {
    const data = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
    return data === undefined
      ? { fileData: { mimeType: mediaType, fileUri: url } }
      : { inlineData: { mimeType: mediaType, data } };
  }
  throw new InvalidInputError(field, 'must be a text, or a file with a url and a mediaType.');
}
