import {
  decodeJson,
  decodedSize,
  encodeJson,
  InlineDataTooLargeError,
  isJsonObject,
  isPetrichorError,
  MAX_INLINE_DATA_SIZE,
  type Json,
  type JsonObject,
} from '../../core/index.ts';

import { ToolFailedError } from './tool-failed-error.ts';

/** What the model gets as the answer to a call. */
export type ToolResponse = {
  readonly outcome: 'ok' | 'error';
  readonly response: JsonObject;
};

/**
 * Turns what a tool returned into the answer to its call. An object stays as it is, anything else becomes
 * `{ result: … }`, nothing becomes `{ result: null }`. It never throws: what JSON cannot hold, and inline data above
 * `MAX_INLINE_DATA_SIZE`, is answered as an error that says so.
 */
export function toToolResponse(returned: unknown): ToolResponse {
  try {
    const text = encodeJson(returned === undefined ? null : returned, 'result');
    const value = decodeJson(text, 'result');
    // Base64 is longer than its bytes, so a shorter text cannot hold too many of them.
    if (text.length > MAX_INLINE_DATA_SIZE) checkInlineData(value, 'result');
    return { outcome: 'ok', response: isJsonObject(value) ? value : { result: value } };
  } catch (error) {
    return failedToolResponse(error);
  }
}

/** The answer to a call whose tool threw. Only the message is told: no stack, no cause. */
export function failedToolResponse(error: unknown): ToolResponse {
  const code = isPetrichorError(error) ? error.code : 'tool_failed';
  const message = error instanceof Error ? error.message : thrownText(error);
  const details = error instanceof ToolFailedError ? toDetails(error) : {};
  return { outcome: 'error', response: { ...details, ...toolError(code, message) } };
}

/** What the failure tells beside its message, if an answer can hold it. */
function toDetails({ details }: ToolFailedError): JsonObject {
  try {
    const text = encodeJson(details, 'details');
    if (text.length > MAX_INLINE_DATA_SIZE) checkInlineData(details, 'details');
    return details;
  } catch {
    return {};
  }
}

/** How every answer that is not `ok` looks to the model: `{ error: { code, message } }`. */
export function toolError(code: string, message: string): JsonObject {
  return { error: { code, message } };
}

function thrownText(thrown: unknown): string {
  return typeof thrown === 'string' ? thrown : 'The tool threw something that is not an error.';
}

function checkInlineData(value: Json, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    value.forEach((item, i) => checkInlineData(item, `${path}[${i}]`));
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    const data = key === 'inlineData' && isJsonObject(member) ? member['data'] : undefined;
    if (typeof data === 'string') checkSize(data, `${path}.inlineData.data`);
    else checkInlineData(member, `${path}.${key}`);
  }
}

function checkSize(data: string, path: string): void {
  const sizeBytes = decodedSize(data);
  if (sizeBytes > MAX_INLINE_DATA_SIZE) throw new InlineDataTooLargeError(path, sizeBytes);
}
