import type { CallId } from '../identity/ids.ts';
import type { Json, JsonObject } from '../json/json.ts';

/** The role of a message. Results of tools have the role `tool`. */
export type Role = 'user' | 'model' | 'tool';

/** One message: of a user, of a model, or with the results of tools. */
export type Content = {
  readonly role: Role;
  readonly parts: readonly Part[];
};

/** One part of a message. Each kind has a member that no other kind has. */
export type Part =
  | TextPart
  | InlineDataPart
  | FileDataPart
  | FunctionCallPart
  | FunctionResponsePart
  | OpaquePart;

/** Text, or the model's thinking if `thought` is true. The text may be empty if the part has only a signature. */
export type TextPart = {
  readonly text: string;
  readonly thought?: true;
  readonly thoughtSignature?: ThoughtSignature;
};

/** A provider's opaque signature of its thinking. It is stored unchanged and sent back only to the same provider. */
export type ThoughtSignature = string;

/** Bytes inside the message, at most `MAX_INLINE_DATA_SIZE` bytes. */
export type InlineDataPart = {
  readonly inlineData: InlineData;
  readonly thoughtSignature?: ThoughtSignature;
};

/** Bytes in base64 with their media type. ADK's `Blob`. */
export type InlineData = {
  readonly mimeType: string;
  /** Base64, padded, standard alphabet. */
  readonly data: string;
  readonly displayName?: string;
};

/** A reference to bytes outside the message. */
export type FileDataPart = { readonly fileData: FileData };

/** The URI of a file, or a file id of the model provider, with its media type. ADK's `FileData`. */
export type FileData = {
  readonly mimeType: string;
  readonly fileUri: string;
  readonly displayName?: string;
};

/** A tool call by the model. */
export type FunctionCallPart = {
  readonly functionCall: FunctionCall;
  readonly thoughtSignature?: ThoughtSignature;
};

/** The tool to call and its arguments. Petrichor creates the `id`, which is unique in the session; the result has the same id. */
export type FunctionCall = {
  readonly id: CallId;
  readonly name: string;
  /** The arguments. Empty and meaningless if `argsError` is set. */
  readonly args: JsonObject;
  /** Set if the model's arguments were not JSON. The call is answered with this error and never run. */
  readonly argsError?: ArgsError;
  /** The provider's id of this call, sent back only to that provider. */
  readonly providerId?: string;
};

/** The parse error of a call's arguments, with the text that the model wrote. */
export type ArgsError = { readonly message: string; readonly raw: string };

/** The result of a tool call. */
export type FunctionResponsePart = { readonly functionResponse: FunctionResponse };

/** The response of a tool to the call with the same `id`. `isError` marks a failed call for the model. */
export type FunctionResponse = {
  readonly id: CallId;
  readonly name: string;
  readonly response: JsonObject;
  readonly isError?: true;
};

/** A part of a kind that this version does not know. It is stored and passed on unchanged. */
export type OpaquePart = { readonly opaque: Json };

/** True for text and thinking, including empty text. */
export function isTextPart(part: Part): part is TextPart {
  return 'text' in part;
}

/** True for a part that contains its bytes. */
export function isInlineDataPart(part: Part): part is InlineDataPart {
  return 'inlineData' in part;
}

/** True for a part that refers to a file. */
export function isFileDataPart(part: Part): part is FileDataPart {
  return 'fileData' in part;
}

/** True for a tool call, including one with invalid arguments. */
export function isFunctionCallPart(part: Part): part is FunctionCallPart {
  return 'functionCall' in part;
}

/** True for the result of a tool call, including an error. */
export function isFunctionResponsePart(part: Part): part is FunctionResponsePart {
  return 'functionResponse' in part;
}

/** True for a part of a kind that this version does not know. */
export function isOpaquePart(part: Part): part is OpaquePart {
  return 'opaque' in part;
}

/** Returns a user message with one text part. */
export function userContent(text: string): Content {
  return { role: 'user', parts: [{ text }] };
}

/** Returns the text of a message without thinking. Parts are joined without a separator. */
export function contentText(content: Content | undefined): string {
  return joinText(content, false);
}

/** Returns the thinking of a message. Parts are joined without a separator. */
export function contentThinking(content: Content | undefined): string {
  return joinText(content, true);
}

function joinText(content: Content | undefined, thought: boolean): string {
  let text = '';
  for (const part of content?.parts ?? []) {
    if (isTextPart(part) && (part.thought ?? false) === thought) text += part.text;
  }
  return text;
}
