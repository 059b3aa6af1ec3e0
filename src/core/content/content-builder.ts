import type { Content, Part, Role } from './content.ts';
import { toInlineData } from './encode-inline-data.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { encodeJson } from '../json/encode-json.ts';
import type { JsonObject } from '../json/json.ts';

/** Builds a message part by part. Each method returns a new builder and does not change the previous one. */
export interface ContentBuilder {
  readonly text: (text: string) => ContentBuilder;
  /**
   * Adds bytes.
   * @throws InlineDataTooLargeError above `MAX_INLINE_DATA_SIZE` bytes.
   * @throws InvalidInputError if `mimeType` is empty.
   */
  readonly inlineData: (
    mimeType: string,
    bytes: Uint8Array,
    displayName?: string,
  ) => ContentBuilder;
  readonly fileData: (mimeType: string, fileUri: string) => ContentBuilder;
  /** Adds the result of a tool call. @throws NotSerializableError if `response` is not JSON. */
  readonly functionResponse: (id: string, name: string, response: JsonObject) => ContentBuilder;
  readonly part: (part: Part) => ContentBuilder;
  /** Returns the message. @throws InvalidInputError if it has no parts. */
  readonly build: () => Content;
}

/** Starts a message: `content('user').text('What is this?').inlineData('image/png', bytes).build()`. */
export function content(role: Role): ContentBuilder {
  return createBuilder(role, []);
}

function createBuilder(role: Role, parts: readonly Part[]): ContentBuilder {
  const withPart = (part: Part): ContentBuilder => createBuilder(role, [...parts, part]);
  return {
    text: (text) => withPart({ text }),
    inlineData: (mimeType, bytes, displayName) =>
      withPart({ inlineData: toInlineData(mimeType, bytes, displayName) }),
    fileData: (mimeType, fileUri) => withPart({ fileData: { mimeType, fileUri } }),
    functionResponse: (id, name, response) => {
      encodeJson(response, 'functionResponse.response');
      return withPart({ functionResponse: { id, name, response } });
    },
    part: withPart,
    build: () => buildContent(role, parts),
  };
}

function buildContent(role: Role, parts: readonly Part[]): Content {
  if (parts.length === 0) throw new InvalidInputError('content.parts', 'must not be empty.');
  return { role, parts };
}
