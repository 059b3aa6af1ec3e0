import * as v from 'valibot';
import type { UserEvent } from '../managed/index.ts';
import { blocks, toBlock } from './event-schemas.ts';

const answer = v.object({ content: blocks, is_error: v.nullish(v.boolean()) });

/**
 * The result of a call as a webhook answered it: `{ content, is_error }` as a client would send it, or anything else as
 * the text that it is.
 */
export function toolAnswer(callId: string, body: string): UserEvent {
  const read = v.safeParse(answer, jsonIn(body));
  const content = read.success
    ? read.output.content.map(toBlock)
    : [{ type: 'text' as const, text: body }];
  const isError = read.success && read.output.is_error === true;
  return {
    type: 'user.custom_tool_result',
    custom_tool_use_id: callId,
    content,
    is_error: isError,
  };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
