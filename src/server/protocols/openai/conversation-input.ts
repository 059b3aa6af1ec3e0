import {
  InvalidInputError,
  isJsonObject,
  parseUserContent,
  sha256Hex,
} from '../../../core/index.ts';
import type { Content, Json, JsonObject, Part } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import type { ClientTool } from '../../../tools/index.ts';
import type { HistoryEntry } from '../append-history.ts';
import type { ClientInput } from '../send-inputs.ts';

/** An answer to a call, whose id is that of the client. */
export type ClientAnswer = Exclude<ClientInput, { readonly type: 'message' }>;

/** One item of a conversation, as either API sends it. */
export type ClientItem =
  | { readonly type: 'user'; readonly parts: readonly Part[] }
  | { readonly type: 'agent'; readonly text: string }
  | {
      readonly type: 'call';
      readonly callId: string;
      readonly name: string;
      readonly args: JsonObject;
    }
  | { readonly type: 'answer'; readonly answer: ClientAnswer }
  /** An item that the session has, such as the thoughts of the agent. */
  | { readonly type: 'other' };

/** What a request adds to a conversation. */
export interface NewItems {
  /** The answers after the last item of the agent. */
  readonly answers: readonly ClientAnswer[];
  /** The message of the user after the last item of the agent. Undefined: there is none. */
  readonly message: Content | undefined;
  /** The items before. */
  readonly earlier: readonly ClientItem[];
}

/** Splits the items of a request. New are those after the last item of the agent. */
export function splitItems(items: readonly ClientItem[]): NewItems {
  const last = items.findLastIndex(({ type }) => type !== 'user' && type !== 'answer');
  const added = items.slice(last + 1);
  const parts = added.flatMap((item) => (item.type === 'user' ? item.parts : []));
  return {
    answers: added.flatMap((item) => (item.type === 'answer' ? [item.answer] : [])),
    message: parts.length === 0 ? undefined : parseUserContent({ role: 'user', parts }),
    earlier: items.slice(0, last + 1),
  };
}

/** What is sent to the session: the answers, then the new message if there is one. Empty tools and metadata are left out. */
export function toInputs(
  answers: readonly ClientAnswer[],
  message: Content | undefined,
  {
    messageId,
    clientTools = [],
    metadata,
  }: {
    readonly messageId: string;
    readonly clientTools: readonly ClientTool[] | undefined;
    readonly metadata: JsonObject;
  },
): readonly ClientInput[] {
  if (message === undefined) return answers;
  const options = omitUndefined({
    clientTools: clientTools.length === 0 ? undefined : clientTools,
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
  });
  return [...answers, { type: 'message', messageId, content: message, ...options }];
}

/** The items with which a new session starts. A call without a result, and a result without a call, are left out. */
export function toHistory(
  items: readonly ClientItem[],
  agentName: string,
): readonly HistoryEntry[] {
  const results = new Map(
    items.flatMap((item) =>
      item.type === 'answer' && item.answer.type === 'result'
        ? [[item.answer.callId, item.answer] as const]
        : [],
    ),
  );
  return items.flatMap((item): readonly HistoryEntry[] => {
    switch (item.type) {
      case 'user':
        return [{ author: 'user', content: parseUserContent({ role: 'user', parts: item.parts }) }];
      case 'agent':
        return item.text === ''
          ? []
          : [{ author: agentName, content: { role: 'model', parts: [{ text: item.text }] } }];
      case 'call': {
        const { callId, name, args } = item;
        const result = results.get(callId);
        if (result === undefined) return [];
        const response = isJsonObject(result.response)
          ? result.response
          : { result: result.response };
        // An id that every provider accepts.
        const id = `call_${sha256Hex(callId).slice(0, 24)}`;
        const functionResponse = { id, name, response };
        return [
          {
            author: agentName,
            content: { role: 'model', parts: [{ functionCall: { id, name, args } }] },
          },
          { author: agentName, content: { role: 'tool', parts: [{ functionResponse }] } },
        ];
      }
      default:
        return [];
    }
  });
}

/** The arguments of a call. @throws InvalidInputError */
export function parseArguments(text: Json | undefined, field: string): JsonObject {
  const value = typeof text === 'string' ? parseJson(text === '' ? '{}' : text) : undefined;
  if (isJsonObject(value)) return value;
  throw new InvalidInputError(field, 'must be the JSON text of an object.');
}

/** The output of a call: an object if the text is JSON of one. */
export function parseOutput(text: string): Json {
  const value = parseJson(text);
  return isJsonObject(value) ? value : text;
}

function parseJson(text: string): Json | undefined {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse returns JSON
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/**
 * A tool that the client declares.
 * @param declaration the object that has the name of the function
 * @throws InvalidInputError
 */
export function parseClientTool(
  type: Json | undefined,
  declaration: Json | undefined,
  field: string,
): ClientTool {
  if (type !== 'function')
    throw new InvalidInputError(
      `${field}.type`,
      `must be "function"; it is ${JSON.stringify(type)}. Give other tools to the agent.`,
    );
  const { name, description, parameters } = isJsonObject(declaration) ? declaration : {};
  if (typeof name !== 'string')
    throw new InvalidInputError(`${field}.name`, 'must be the name of the function.');
  return {
    name,
    ...omitUndefined({
      description: typeof description === 'string' ? description : undefined,
      parameters:
        isJsonObject(parameters) && Object.keys(parameters).length > 0 ? parameters : undefined,
    }),
  };
}

/**
 * A file or an image, from a data URL or an address.
 * @param mimeType that of an address
 * @throws InvalidInputError
 */
export function toFilePart(url: Json | undefined, field: string, mimeType: string): Part {
  if (typeof url !== 'string' || url === '')
    throw new InvalidInputError(
      field,
      'must be a data URL or an address. File ids are not supported.',
    );
  const [, type = '', data] = /^data:([^;,]*)[^,]*;base64,(.*)$/s.exec(url) ?? [];
  if (data !== undefined) return { inlineData: { mimeType: type === '' ? mimeType : type, data } };
  return { fileData: { mimeType, fileUri: url } };
}
