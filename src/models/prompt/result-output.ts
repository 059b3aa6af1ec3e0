import {
  decodedSize,
  isJsonObject,
  type FunctionResponse,
  type Json,
  type JsonObject,
} from '../../core/index.ts';
import { toFilePart } from '../provider/file-part.ts';
import type { PromptPart } from '../provider/language-model.ts';

/** The provider that receives a result. */
export interface ResultTarget {
  readonly version: 'v3' | 'v4';
  readonly family: string;
  /** Whether it accepts an image inside a result. */
  readonly supportsResultImages: boolean;
}

/**
 * Converts the result of a tool to an output of the AI SDK. Images in its `content` are sent beside
 * the text if the provider can see them there. Other bytes are only described: as text they would
 * be expensive and useless.
 */
export function resultOutput(
  { response, isError }: FunctionResponse,
  target: ResultTarget,
): PromptPart {
  const content = response['content'];
  if (!Array.isArray(content) || !content.some(hasBytes)) {
    return { type: isError === true ? 'error-json' : 'json', value: response };
  }
  const canShow = target.supportsResultImages && isError !== true;
  const shown = canShow ? content.filter((part) => hasBytes(part) && isShowableImage(part)) : [];
  const value = {
    ...response,
    content: content.map((part) =>
      hasBytes(part) ? describeBytes(part, shown.includes(part)) : part,
    ),
  };
  if (shown.length === 0) return { type: isError === true ? 'error-json' : 'json', value };
  // Exactly one text: Gemini's package makes a separate result of each.
  const text = { type: 'text', text: JSON.stringify(value) };
  return { type: 'content', value: [text, ...shown.flatMap((part) => imagePart(part, target))] };
}

interface BytesPart extends JsonObject {
  readonly inlineData: { readonly mimeType: string; readonly data: string };
}

function hasBytes(part: Json): part is BytesPart {
  const data = isJsonObject(part) ? part['inlineData'] : undefined;
  return (
    isJsonObject(data) && typeof data['data'] === 'string' && typeof data['mimeType'] === 'string'
  );
}

/** The image types that all providers accept. Another type would fail the whole request. */
function isShowableImage({ inlineData: { mimeType } }: BytesPart): boolean {
  return /^image\/(?:png|jpeg|gif|webp)$/.test(mimeType);
}

function describeBytes({ inlineData }: BytesPart, isShown: boolean): JsonObject {
  const { data, ...rest } = inlineData;
  const note = isShown ? 'shown beside this' : 'you cannot be shown this';
  return { inlineData: { ...rest, sizeBytes: decodedSize(data), note } };
}

function imagePart({ inlineData }: BytesPart, target: ResultTarget): readonly PromptPart[] {
  const { mimeType: mediaType, data } = inlineData;
  return target.version === 'v3'
    ? [{ type: 'image-data', mediaType, data }]
    : toFilePart({ inlineData: { mimeType: mediaType, data } }, target);
}
