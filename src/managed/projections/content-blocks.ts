import {
  InvalidInputError,
  isFileDataPart,
  isFunctionResponsePart,
  isInlineDataPart,
  isJsonObject,
  isOpaquePart,
  isTextPart,
  parseContent,
} from '../../core/index.ts';
import type { Content, Json, JsonObject, Part } from '../../core/index.ts';
import { toSnakeCaseKeys } from '../parsing/snake-case-keys.ts';
import type { ContentBlock } from '../interface/user-event.ts';

const IMAGE = 'image/png';
const FILE = 'application/octet-stream';

/**
 * Converts a client's message.
 * @throws InvalidInputError if a block is invalid
 * @throws InlineDataTooLargeError if inline data is too large
 */
export function fromContentBlocks(blocks: readonly ContentBlock[]): Content {
  return parseContent({ role: 'user', parts: blocks.map(toPart) });
}

/** Converts a client's result to a tool result: text as a string, several blocks as a list. */
export function toToolResult(blocks: readonly ContentBlock[]): Json {
  const [first] = blocks;
  if (blocks.length === 1 && first?.type === 'text')
    return parseJsonObject(first.text) ?? first.text;
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.length === blocks.length ? texts.join('\n') : { content: blocks.map(toJson) };
}

/** The blocks of a message that clients see: neither thinking nor calls. */
export function toContentBlocks({ parts }: Content): readonly ContentBlock[] {
  return parts.flatMap((part): readonly ContentBlock[] => {
    if (isTextPart(part)) {
      const isShown = part.thought !== true && part.text !== '';
      return isShown ? [{ type: 'text', text: part.text }] : [];
    }
    if (isInlineDataPart(part)) {
      const { mimeType, data } = part.inlineData;
      return [{ type: 'image', source: { type: 'base64', media_type: mimeType, data } }];
    }
    if (isFileDataPart(part)) return [fileBlock(part.fileData)];
    // A later result of a long-running tool, which came as a message.
    if (isFunctionResponsePart(part))
      return [{ type: 'text', text: JSON.stringify(part.functionResponse.response) }];
    return isOpaquePart(part) ? [{ type: 'opaque', value: part.opaque }] : [];
  });
}

function fileBlock({ mimeType, fileUri }: { mimeType: string; fileUri: string }): ContentBlock {
  return mimeType === FILE
    ? { type: 'file', file_id: fileUri }
    : { type: 'image', source: { type: 'url', url: fileUri, media_type: mimeType } };
}

function toPart(block: ContentBlock, index: number): Part {
  switch (block.type) {
    case 'text':
      return { text: block.text };
    case 'file':
      return { fileData: { mimeType: FILE, fileUri: block.file_id } };
    case 'image':
      return imagePart(toSnakeCaseKeys(block.source), `event.content[${index}].source`);
    case 'opaque':
      return { opaque: block.value };
    default:
      return block satisfies never;
  }
}

function imagePart(source: JsonObject, field: string): Part {
  const { url, data, media_type: mediaType = IMAGE } = source;
  const mimeType = typeof mediaType === 'string' ? mediaType : IMAGE;
  if (typeof url === 'string') return { fileData: { mimeType, fileUri: url } };
  if (typeof data === 'string') return { inlineData: { mimeType, data } };
  throw new InvalidInputError(field, 'must have a url, or data in base64 with its media_type.');
}

/** Parses text that is a JSON object, because a tool's result should be an object if possible. */
function parseJsonObject(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function toJson(block: ContentBlock): Json {
  return { ...block };
}
