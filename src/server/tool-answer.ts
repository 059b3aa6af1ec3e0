import * as v from 'valibot';
import { decodeJson, isPetrichorError, parseJson } from '../core/index.ts';
import type { UserEvent } from '../managed/index.ts';
import { blocks, toBlocks } from './event-schemas.ts';

const answer = v.object({ content: blocks, is_error: v.nullish(v.boolean()) });

/**
 * The result of a call as a webhook answered it: `{ content, is_error }` as a client would send it, or anything else as
 * the text that it is.
 */
export function toolAnswer(callId: string, body: string): UserEvent {
  const read = answerIn(body);
  return {
    type: 'user.custom_tool_result',
    custom_tool_use_id: callId,
    content: read?.content.flatMap(toBlocks) ?? [{ type: 'text', text: body }],
    is_error: read?.is_error === true,
  };
}

function answerIn(body: string): v.InferOutput<typeof answer> | undefined {
  try {
    return parseJson(answer, decodeJson(body, 'answer'), 'answer');
  } catch (error) {
    if (isPetrichorError(error)) return undefined;
    throw error;
  }
}
