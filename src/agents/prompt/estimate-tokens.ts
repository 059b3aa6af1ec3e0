import { decodedSize, encodeJson } from '../../core/index.ts';
import type { Content, Part } from '../../core/index.ts';

const CHARACTERS_PER_TOKEN = 4;
/** What a message costs beside its parts: who speaks, where it begins and ends. */
const TOKENS_PER_CONTENT = 4;
/** An image, whatever its size: providers scale it. Also a file that is elsewhere, of which nothing is known. */
const TOKENS_PER_FILE = 1600;
/** Of a document that is not text, such as a PDF: about 2,000 tokens for a page of 50 KB. */
const BYTES_PER_DOCUMENT_TOKEN = 25;

/**
 * How many tokens a message is, about: four characters each, thinking and its seal included. No provider counts so;
 * who must know better passes a counter.
 */
export function estimateTokens({ parts }: Content): number {
  return parts.reduce((sum, part) => sum + estimatePartTokens(part), TOKENS_PER_CONTENT);
}

/** The same for text that is no message. */
export function estimateTextTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

function estimatePartTokens(part: Part): number {
  if ('inlineData' in part)
    return estimateFileTokens(part.inlineData.mimeType, part.inlineData.data);
  if ('fileData' in part) return TOKENS_PER_FILE;
  const content = 'text' in part ? part.text : encodeJson(part, 'part');
  const signature = 'text' in part ? (part.thoughtSignature ?? '') : '';
  return estimateTextTokens(content + signature);
}

function estimateFileTokens(mimeType: string, base64: string): number {
  if (mimeType.startsWith('image/')) return TOKENS_PER_FILE;
  const bytes = decodedSize(base64);
  const each = mimeType.startsWith('text/') ? CHARACTERS_PER_TOKEN : BYTES_PER_DOCUMENT_TOKEN;
  return Math.ceil(bytes / each);
}
