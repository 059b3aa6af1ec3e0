import * as v from 'valibot';
import { InvalidInputError, isJsonObject, parseUserContent } from '../../../core/index.ts';
import type { Content, Json, JsonObject, Part } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import type { JsonSchema } from '../../../models/index.ts';
import type { OpenCall } from '../session-update.ts';
import type { ClientInput } from '../send-inputs.ts';
import { nonEmptyText } from '../../wire/wire-schemas.ts';

const anyObject = v.custom<JsonObject>(isJsonObject, 'must be an object');

// Clients send fields that this version of the protocol does not have. They are ignored.
const message = v.looseObject({
  id: nonEmptyText(256),
  role: nonEmptyText(32),
  content: v.optional(v.union([v.string(), v.array(anyObject), anyObject])),
  toolCallId: v.optional(nonEmptyText(512)),
  error: v.optional(v.string()),
});

const clientTool = v.looseObject({
  name: nonEmptyText(64),
  description: v.optional(v.string()),
  parameters: v.nullish(anyObject),
});

const resumeEntry = v.looseObject({
  interruptId: nonEmptyText(512),
  status: v.picklist(['resolved', 'cancelled'], 'must be resolved or cancelled'),
  payload: v.optional(v.unknown()),
});

/** The body of a run: `RunAgentInput` of AG-UI. */
export const runInput: v.GenericSchema<unknown, RunInput> = v.looseObject({
  threadId: nonEmptyText(256),
  runId: nonEmptyText(256),
  messages: v.array(message),
  tools: v.optional(v.array(clientTool), []),
  context: v.optional(v.array(anyObject), []),
  forwardedProps: v.optional(v.unknown()),
  state: v.optional(v.unknown()),
  resume: v.optional(v.array(resumeEntry), []),
});

/** A message of the client's conversation. */
export interface ClientMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: string | readonly JsonObject[] | JsonObject | undefined;
  readonly toolCallId?: string | undefined;
  readonly error?: string | undefined;
}

interface DeclaredTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly parameters?: JsonObject | null | undefined;
}

interface ResumeEntry {
  readonly interruptId: string;
  readonly status: 'resolved' | 'cancelled';
  readonly payload?: unknown;
}

/** A parsed run. */
export interface RunInput {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly ClientMessage[];
  readonly tools: readonly DeclaredTool[];
  readonly context: readonly JsonObject[];
  readonly forwardedProps?: unknown;
  /** The state of the client. */
  readonly state?: unknown;
  readonly resume: readonly ResumeEntry[];
}

/**
 * The inputs of a run: its answers to interrupts, the results of front-end tools, and its new messages. New are those
 * after the last message of the assistant.
 * @param canAnswer whether a call waits for a result, or got one from a client
 * @throws InvalidInputError for an invalid answer or message
 */
export function toInputs(
  input: RunInput,
  open: readonly OpenCall[],
  canAnswer: (callId: string) => boolean,
): readonly ClientInput[] {
  const last = input.messages.findLastIndex(({ role }) => role === 'assistant');
  const added = [...input.messages.entries()].slice(last + 1);
  const answers = input.resume.map((entry, index) => toAnswer(entry, index, open));
  const results = added.flatMap(([index, { role, toolCallId, content, error }]) =>
    role === 'tool' && toolCallId !== undefined && canAnswer(toolCallId)
      ? [toResult(toolCallId, contentToText(content, `messages[${index}].content`), error)]
      : [],
  );
  const messages = added.flatMap(([index, one]): readonly ClientInput[] =>
    one.role === 'user' ? [toMessage(input, one, `messages[${index}].content`)] : [],
  );
  return [...answers, ...results, ...messages];
}

function toMessage(
  { tools, context, forwardedProps }: RunInput,
  { id, content }: ClientMessage,
  field: string,
): ClientInput {
  const metadata = {
    ...(context.length > 0 && { context: [...context] }),
    ...(isJsonObject(forwardedProps) &&
      Object.keys(forwardedProps).length > 0 && { forwardedProps }),
  };
  return {
    type: 'message',
    messageId: id,
    content: toContent(content, field),
    ...omitUndefined({
      metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
      clientTools:
        tools.length === 0
          ? undefined
          : tools.map(({ name, description, parameters }) => ({
              name,
              ...omitUndefined({ description, parameters: toSchema(parameters) }),
            })),
    }),
  };
}

/** A front end may declare a tool without arguments as an empty object. */
function toSchema(parameters: JsonObject | null | undefined): JsonSchema | undefined {
  if (parameters == null || Object.keys(parameters).length === 0) return undefined;
  return parameters;
}

function toAnswer(
  { interruptId: callId, status, payload }: RunInput['resume'][number],
  index: number,
  open: readonly OpenCall[],
): ClientInput {
  const field = `resume[${index}].payload`;
  const needs = open.find((call) => call.callId === callId)?.needs;
  const approved = isJsonObject(payload) ? payload['approved'] : payload;
  // After the call was answered, only the payload tells what the answer was.
  const isApproval = needs === undefined ? typeof approved === 'boolean' : needs === 'approval';
  if (status === 'cancelled')
    return { type: 'deny', callId, message: 'The user cancelled the request.' };
  if (!isApproval) return toResult(callId, toJson(payload), undefined);
  if (typeof approved !== 'boolean')
    throw new InvalidInputError(field, 'must be { "approved": true } or { "approved": false }.');
  const reason = isJsonObject(payload) ? payload['message'] : undefined;
  if (approved) return { type: 'approve', callId };
  return {
    type: 'deny',
    callId,
    ...omitUndefined({ message: typeof reason === 'string' ? reason : undefined }),
  };
}

function toResult(callId: string, response: Json, error: string | undefined): ClientInput {
  return error === undefined
    ? { type: 'result', callId, response }
    : { type: 'result', callId, response: error, isError: true };
}

function toJson(payload: unknown): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a member of a JSON body
  return (payload ?? null) as Json;
}

/** The result of a front-end tool: an object if the text is JSON of one. */
function contentToText(content: ClientMessage['content'], field: string): Json {
  const text =
    typeof content === 'string'
      ? content
      : toContent(content, field)
          .parts.map((part) => ('text' in part ? part.text : ''))
          .join('');
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : text;
  } catch {
    return text;
  }
}

/** @throws InvalidInputError for a part that is not text, an image, audio, a video or a document */
function toContent(content: ClientMessage['content'], field: string): Content {
  if (typeof content === 'string')
    return parseUserContent({ role: 'user', parts: [{ text: content }] });
  const parts = Array.isArray(content) ? content : [];
  if (parts.length === 0) throw new InvalidInputError(field, 'must be text, or a list of parts.');
  return parseUserContent({
    role: 'user',
    parts: parts.map((part, index) => toPart(part, `${field}[${index}]`)),
  });
}

function toPart({ type, text, source }: JsonObject, field: string): Part {
  if (type === 'text' && typeof text === 'string') return { text };
  if (isJsonObject(source)) {
    const { value, mimeType = 'application/octet-stream' } = source;
    if (typeof value === 'string' && typeof mimeType === 'string') {
      if (source['type'] === 'data') return { inlineData: { mimeType, data: value } };
      if (source['type'] === 'url') return { fileData: { mimeType, fileUri: value } };
    }
  }
  throw new InvalidInputError(
    field,
    'must be text, or an image, audio, video or document with a source of type data or url.',
  );
}
