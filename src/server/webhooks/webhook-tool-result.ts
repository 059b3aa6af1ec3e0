import * as v from 'valibot';
import { decodeJson, isPetrichorError } from '../../core/index.ts';
import { parseJsonWithSchema } from '../../core/validation/parse-with-schema.ts';
import type { UserEvent } from '../../managed/index.ts';
import { contentBlocks, toContentBlocks } from '../wire/event-schemas.ts';

const toolResultBody = v.object({ content: contentBlocks, is_error: v.nullish(v.boolean()) });

/**
 * Converts the response of a webhook to the result of a call: `{ content, is_error }` as a client would send it, or any
 * other response as text.
 */
export function toToolResultEvent(callId: string, body: string): UserEvent {
  const result = parseToolResult(body);
  return {
    type: 'user.custom_tool_result',
    custom_tool_use_id: callId,
    content: result?.content.flatMap(toContentBlocks) ?? [{ type: 'text', text: body }],
    is_error: result?.is_error === true,
  };
}

function parseToolResult(body: string): v.InferOutput<typeof toolResultBody> | undefined {
  try {
    return parseJsonWithSchema(toolResultBody, decodeJson(body, 'answer'), 'answer');
  } catch (error) {
    if (isPetrichorError(error)) return undefined;
    throw error;
  }
}
