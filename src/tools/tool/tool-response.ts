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

/** The response to a call, as the model receives it. */
export type ToolResponse = {
  readonly outcome: 'ok' | 'error';
  readonly response: JsonObject;
};

/**
 * Turns the return value of a tool into the response to its call. An object is used as it is,
 * another value becomes `{ result: … }`, `undefined` becomes `{ result: null }`. It never throws: a
 * value that is not JSON, or inline data above `MAX_INLINE_DATA_SIZE`, becomes an error response.
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

/** The response to a call whose tool threw. It contains only the message: no stack, no cause. */
export function failedToolResponse(error: unknown): ToolResponse {
  const code = isPetrichorError(error) ? error.code : 'tool_failed';
  const message = error instanceof Error ? error.message : thrownText(error);
  const details = error instanceof ToolFailedError ? toDetails(error) : {};
  return { outcome: 'error', response: { ...details, ...toolError(code, message) } };
}

/** The details of the failure, if a response can hold them. */
function toDetails({ details }: ToolFailedError): JsonObject {
  try {
    const text = encodeJson(details, 'details');
    if (text.length > MAX_INLINE_DATA_SIZE) checkInlineData(details, 'details');
    return details;
  } catch {
    return {};
  }
}

/** The form of every response that is not `ok`: `{ error: { code, message } }`. */
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
