import { omitUndefined } from '../../core/internal.ts';
import {
  InvalidInputError,
  isJsonObject,
  sha256Hex,
  type Json,
  type JsonObject,
} from '../../core/index.ts';
import type { ArtifactPart } from '../artifacts/artifact-service.ts';
import type { ToolResponse } from './tool-response.ts';

/** The largest tool result, in characters of text. Default of tools and agents: 100,000. */
export const DEFAULT_MAX_RESULT_CHARACTERS = 100_000;

const MIN_RESULT_CHARACTERS = 500;

/** The limit of a result, where its full text is stored, and how the model can read it. */
export interface ResultLimit {
  /** Characters of all texts in the response together. Inline data does not count. */
  readonly maxCharacters: number;
  readonly callId: string;
  /** Stores the full result as an artifact. Without it, the truncated part is lost. */
  readonly save?: ((name: string, part: ArtifactPart) => Promise<unknown>) | undefined;
  /** Whether the model has the tool `load_artifacts`. */
  readonly canLoad: boolean;
}

/**
 * Truncates the response to a call to a size that a prompt and a journal can hold. The response
 * keeps its shape; long texts in it are cut. The member `truncation` tells the model the original
 * size, where the full result is stored and how to read on. A response within the limit is returned
 * unchanged. It never rejects: if the full result cannot be stored, `truncation` says so.
 */
export async function truncateResponse<R extends Pick<ToolResponse, 'response'>>(
  result: R,
  limit: ResultLimit,
): Promise<R> {
  const total = jsonSize(result.response);
  if (total <= limit.maxCharacters) return result;
  const name = await saveFullResult(result.response, limit);
  const truncation = { characters: total, ...omitUndefined({ artifact: name }) };
  const note = truncationNote(total, name, limit);
  const response = {
    ...cutToFit(result.response, limit.maxCharacters),
    truncation: { ...truncation, note },
  };
  return { ...result, response };
}

/** @throws InvalidInputError if the value is not a whole number of at least 500 */
export function checkMaxResultCharacters(value: number | undefined): void {
  if (value === undefined || (Number.isInteger(value) && value >= MIN_RESULT_CHARACTERS)) return;
  throw new InvalidInputError(
    'maxResultCharacters',
    `must be a whole number of at least ${MIN_RESULT_CHARACTERS}; it is ${value}.`,
  );
}

function truncationNote(
  total: number,
  name: string | undefined,
  { save, canLoad }: ResultLimit,
): string {
  const summary = `The result has ${total} characters. Only a part is shown.`;
  if (name === undefined) {
    const why = save === undefined ? 'is not kept' : 'could not be kept';
    return `${summary} The rest ${why}: ask for less, or for one part at a time.`;
  }
  const how = canLoad
    ? `: call load_artifacts with artifact_names ["${name}"] and an offset to read on.`
    : '.';
  return `${summary} All of it is kept as the artifact "${name}"${how}`;
}

async function saveFullResult(
  response: JsonObject,
  { callId, save }: ResultLimit,
): Promise<string | undefined> {
  if (save === undefined) return undefined;
  const { result, ...rest } = response;
  const isText = typeof result === 'string' && Object.keys(rest).length === 0;
  const name = `tool_result_${safeName(callId)}.${isText ? 'txt' : 'json'}`;
  try {
    await save(name, { text: isText ? result : JSON.stringify(response) });
    return name;
  } catch {
    // The call has succeeded; failing to store its full result must not make it fail.
    return undefined;
  }
}

function safeName(callId: string): string {
  return /^[A-Za-z0-9_-]{1,100}$/.test(callId) ? callId : sha256Hex(callId).slice(0, 32);
}

/** Shares of the limit that the longest text may take, tried in this order. */
const SHARES = [0.9, 0.5, 0.1, 0.02, 0.004] as const;
const MIN_TEXT = 100;
/** The longest marker of a cut text. */
const CUT_MARKER_LENGTH = 40;

function cutToFit(response: JsonObject, maxCharacters: number): JsonObject {
  const texts = SHARES.map((share) => Math.max(MIN_TEXT, Math.floor(maxCharacters * share)));
  const longest = texts.find(
    (length) => jsonSize(response, length + CUT_MARKER_LENGTH) <= maxCharacters,
  );
  const cut = longest === undefined ? undefined : truncateTexts(response, longest);
  if (isJsonObject(cut)) return cut;
  return { result: cutText(JSON.stringify(response), maxCharacters) };
}

function truncateTexts(value: Json, longest: number): Json {
  if (typeof value === 'string') return cutText(value, longest);
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((item) => truncateTexts(item, longest));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === 'inlineData' ? member : truncateTexts(member, longest),
    ]),
  );
}

function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  // Do not end in the middle of a surrogate pair.
  const shown = text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '');
  return `${shown}… [${text.length - shown.length} characters cut]`;
}

/**
 * The size of all texts and names in characters. Each text counts at most `longestText`; other
 * values count a small constant.
 */
export function jsonSize(value: Json, longestText: number = Infinity): number {
  if (typeof value === 'string') return Math.min(value.length, longestText);
  if (Array.isArray(value)) {
    return (value as readonly Json[]).reduce<number>(
      (sum, item) => sum + 1 + jsonSize(item, longestText),
      0,
    );
  }
  if (!isJsonObject(value)) return 4;
  return Object.entries(value).reduce(
    (sum, [key, member]) =>
      sum + key.length + 1 + jsonSize(key === 'inlineData' ? 0 : member, longestText),
    0,
  );
}
