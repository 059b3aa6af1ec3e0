import { decodedSize, encodeJson } from '../../core/index.ts';
import type { Content, Part } from '../../core/index.ts';

const CHARACTERS_PER_TOKEN = 4;
/** The overhead of a message beside its parts: its role and its delimiters. */
const TOKENS_PER_CONTENT = 4;
/** For an image of any size, because providers scale images; and for a referenced file, whose size is unknown. */
const TOKENS_PER_FILE = 1600;
/** For a document that is not text, such as a PDF: about 2,000 tokens for a page of 50 KB. */
const BYTES_PER_DOCUMENT_TOKEN = 25;

/**
 * Estimates the tokens of a message at four characters a token, including thoughts and their signatures. Providers count
 * differently; for exact budgets pass `countTokens` of `TrimOptions`.
 */
export function estimateTokens({ parts }: Content): number {
  return parts.reduce((sum, part) => sum + estimatePartTokens(part), TOKENS_PER_CONTENT);
}

/** Estimates the tokens of text outside a message. */
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
  const bytesPerToken = mimeType.startsWith('text/')
    ? CHARACTERS_PER_TOKEN
    : BYTES_PER_DOCUMENT_TOKEN;
  return Math.ceil(bytes / bytesPerToken);
}
