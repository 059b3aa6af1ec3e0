import type { CallId } from '../identity/ids.ts';
import type { Json, JsonObject } from '../json/json.ts';

/** Who speaks. Results of tools are the tool's. */
export type Role = 'user' | 'model' | 'tool';

/** One message: of a person, of a model, or of the tools that answer a model. */
export type Content = {
  readonly role: Role;
  readonly parts: readonly Part[];
};

/** Exactly one kind each, told apart by which member it has. */
export type Part =
  | TextPart
  | InlineDataPart
  | FileDataPart
  | FunctionCallPart
  | FunctionResponsePart
  | OpaquePart;

/** Text, or the model's thinking when `thought` is true. The text may be empty where only a signature came. */
export type TextPart = {
  readonly text: string;
  readonly thought?: true;
  readonly thoughtSignature?: ThoughtSignature;
};

/** A provider's own sealed note about its thinking. Never read by us: kept as it came, and sent back to the same provider. */
export type ThoughtSignature = string;

/** Bytes inside the message, at most `MAX_INLINE_DATA_SIZE`. */
export type InlineDataPart = {
  readonly inlineData: InlineData;
  readonly thoughtSignature?: ThoughtSignature;
};

/** A media type with its bytes in base64. The `Blob` of ADK. */
export type InlineData = {
  readonly mimeType: string;
  /** Base64, padded, standard alphabet. */
  readonly data: string;
  readonly displayName?: string;
};

/** Bytes that are elsewhere. */
export type FileDataPart = { readonly fileData: FileData };

/** A media type with the URI its bytes are at, or a file id its model provider knows. `FileData` of ADK. */
export type FileData = {
  readonly mimeType: string;
  readonly fileUri: string;
  readonly displayName?: string;
};

/** The model asks for a tool. */
export type FunctionCallPart = {
  readonly functionCall: FunctionCall;
  readonly thoughtSignature?: ThoughtSignature;
};

/** Which tool is asked for, with which arguments. `id` is ours and unique in its session: the answer carries it. */
export type FunctionCall = {
  readonly id: CallId;
  readonly name: string;
  /** Empty, and not to be used, when `argsError` is there. */
  readonly args: JsonObject;
  /** The model's arguments were not JSON: the call is answered with this error and never run. */
  readonly argsError?: ArgsError;
  /** The provider's id of this call, echoed to that provider only. */
  readonly providerId?: string;
};

/** Arguments that could not be read, with the text the model wrote. */
export type ArgsError = { readonly message: string; readonly raw: string };

/** A tool answers. */
export type FunctionResponsePart = { readonly functionResponse: FunctionResponse };

/** What a tool gave for the call with the same `id`. `isError` tells the model that the call did not succeed. */
export type FunctionResponse = {
  readonly id: CallId;
  readonly name: string;
  readonly response: JsonObject;
  readonly isError?: true;
};

/** A block this version has no word for. It is kept as it came and passed on. */
export type OpaquePart = { readonly opaque: Json };

/** True for text and for thinking, empty text included. */
export function isTextPart(part: Part): part is TextPart {
  return 'text' in part;
}

/** True when the part carries its bytes itself. */
export function isInlineDataPart(part: Part): part is InlineDataPart {
  return 'inlineData' in part;
}

/** True when the part says where its bytes are. */
export function isFileDataPart(part: Part): part is FileDataPart {
  return 'fileData' in part;
}

/** True when the part asks for a tool, arguments that could not be read included. */
export function isFunctionCallPart(part: Part): part is FunctionCallPart {
  return 'functionCall' in part;
}

/** True when the part is a tool's answer, an error included. */
export function isFunctionResponsePart(part: Part): part is FunctionResponsePart {
  return 'functionResponse' in part;
}

/** True for a block of a kind this version does not know: it can be passed on, not read. */
export function isOpaquePart(part: Part): part is OpaquePart {
  return 'opaque' in part;
}

/** What a person says, as text. */
export function userContent(text: string): Content {
  return { role: 'user', parts: [{ text }] };
}

/** The spoken text of a message, parts joined as they come; thinking is left out. */
export function contentText(content: Content | undefined): string {
  return joinText(content, false);
}

/** The thinking of a message, parts joined as they come. */
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
