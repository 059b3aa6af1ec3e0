import * as v from 'valibot';
import { InvalidInputError, isJsonObject, parseUserContent } from '../../../core/index.ts';
import type { Content, Json, JsonObject, Part } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import { parseJsonWithSchema } from '../../../core/validation/parse-with-schema.ts';
import type { ClientTool } from '../../../tools/index.ts';
import { nonEmptyText } from '../../wire/wire-schemas.ts';
import type { ClientInput } from '../send-inputs.ts';
import type { OpenCall } from '../session-update.ts';

/** The extension with which a client offers tools of its own: `metadata` of a message has it as a key. */
export const CLIENT_TOOLS_EXTENSION = 'urn:petrichor:a2a:client-tools:v1';

const anyObject = v.custom<JsonObject>(isJsonObject, 'must be an object');

/** A message of a client, in the JSON form of A2A 1.0. */
export interface A2aMessage {
  readonly messageId: string;
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly parts: readonly JsonObject[];
  readonly metadata?: JsonObject | undefined;
}

const clientMessage: v.GenericSchema<unknown, A2aMessage> = v.looseObject({
  messageId: nonEmptyText(256),
  contextId: v.optional(nonEmptyText(256)),
  taskId: v.optional(nonEmptyText(1024)),
  parts: v.pipe(v.array(anyObject), v.minLength(1, 'must not be empty')),
  metadata: v.optional(anyObject),
});

const clientTools: v.GenericSchema<unknown, { readonly tools: readonly DeclaredTool[] }> =
  v.looseObject({
    tools: v.array(
      v.looseObject({
        name: nonEmptyText(64),
        description: v.optional(v.string()),
        parameters: v.optional(anyObject),
      }),
    ),
  });

interface DeclaredTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters?: JsonObject | undefined;
}

/** @throws InvalidInputError for a message without an id or without parts */
export function parseA2aMessage(value: unknown): A2aMessage {
  return parseJsonWithSchema(clientMessage, value, 'message');
}

/**
 * The input that starts a task: the message, with the tools of the client.
 * @throws InvalidInputError for a part that is empty or not allowed, and for invalid tools
 */
export function toMessageInput(
  message: A2aMessage,
): Extract<ClientInput, { readonly type: 'message' }> {
  const { [CLIENT_TOOLS_EXTENSION]: declared, ...metadata } = message.metadata ?? {};
  const field = `message.metadata.${CLIENT_TOOLS_EXTENSION}`;
  return {
    type: 'message',
    messageId: message.messageId,
    content: toContent(message.parts),
    ...omitUndefined({
      metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
      clientTools: declared === undefined ? undefined : parseTools(declared, field),
    }),
  };
}

/**
 * The inputs that answer the calls of a task that waits. A `data` part answers the call of its `callId`: with `approved`,
 * and `message` for a refusal, or with `result`. Text alone answers the only call that waits.
 * @param open the calls that wait; after the answer was taken, those that the message answered
 * @throws InvalidInputError for a part that answers nothing
 */
export function toAnswers(
  { parts }: A2aMessage,
  open: readonly OpenCall[],
): readonly ClientInput[] {
  const data = parts.flatMap((part, index) =>
    isJsonObject(part['data'])
      ? [{ value: part['data'], field: `message.parts[${index}].data` }]
      : [],
  );
  const answers = data.flatMap(({ value, field }) => {
    const { answers: listed } = value;
    return Array.isArray(listed)
      ? listed.map((one: Json, index) => toAnswer(one, `${field}.answers[${index}]`, open))
      : [toAnswer(value, field, open)];
  });
  if (answers.length > 0) return answers;
  const text = parts
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
    .join('')
    .trim();
  return [toTextAnswer(text, open)];
}

function toAnswer(value: Json, field: string, open: readonly OpenCall[]): ClientInput {
  const { callId: named, approved, message, result, isError } = isJsonObject(value) ? value : {};
  const callId = typeof named === 'string' ? named : findOnlyCall(open, `${field}.callId`).callId;
  if (approved === true) return { type: 'approve', callId };
  if (approved === false)
    return {
      type: 'deny',
      callId,
      ...omitUndefined({ message: typeof message === 'string' ? message : undefined }),
    };
  if (result !== undefined)
    return {
      type: 'result',
      callId,
      response: result,
      ...omitUndefined({ isError: isError === true ? true : undefined }),
    };
  throw new InvalidInputError(
    field,
    'answers no call. Send { "callId", "approved": true }, { "callId", "approved": false, "message" } or { "callId", "result" }.',
  );
}

/** A text is the result of a call. An approval needs one of a few words, so that no sentence is mistaken for one. */
function toTextAnswer(text: string, open: readonly OpenCall[]): ClientInput {
  const { callId, needs } = findOnlyCall(open, 'message.parts');
  if (needs === 'result') return { type: 'result', callId, response: text };
  if (/^(?:approve|approved|yes)[.!]?$/i.test(text)) return { type: 'approve', callId };
  if (/^(?:deny|denied|no)[.!]?$/i.test(text)) return { type: 'deny', callId };
  throw new InvalidInputError(
    'message.parts',
    `must approve or deny the call ${callId}: send the text "approve" or "deny", or a data part { "callId", "approved" }.`,
  );
}

function findOnlyCall(open: readonly OpenCall[], field: string): OpenCall {
  const [first] = open;
  if (first !== undefined && open.length === 1) return first;
  const ids = open.map(({ callId }) => callId).join(', ');
  throw new InvalidInputError(
    field,
    open.length === 0
      ? 'answers no call: none waits.'
      : `must name a call: ${open.length} wait (${ids}). Send a data part with its callId.`,
  );
}

function parseTools(value: Json, field: string): readonly ClientTool[] {
  const { tools } = parseJsonWithSchema(clientTools, value, field);
  return tools.map(({ name, description, parameters }) => ({
    name,
    ...omitUndefined({ description, parameters }),
  }));
}

function toContent(parts: readonly JsonObject[]): Content {
  return parseUserContent({
    role: 'user',
    parts: parts.map((part, index) => toPart(part, `message.parts[${index}]`)),
  });
}

function toPart({ text, raw, url, data, mediaType, filename }: JsonObject, field: string): Part {
  if (typeof text === 'string') return { text };
  const mimeType =
    typeof mediaType === 'string' && mediaType !== '' ? mediaType : 'application/octet-stream';
  const displayName = typeof filename === 'string' && filename !== '' ? filename : undefined;
  if (typeof raw === 'string')
    return { inlineData: { mimeType, data: raw, ...omitUndefined({ displayName }) } };
  if (typeof url === 'string')
    return { fileData: { mimeType, fileUri: url, ...omitUndefined({ displayName }) } };
  if (data !== undefined) return { text: JSON.stringify(data) };
  throw new InvalidInputError(field, 'is empty. Send text, raw, url or data.');
}
