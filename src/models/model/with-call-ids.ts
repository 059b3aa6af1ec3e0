import { omitUndefined } from '../../core/internal.ts';
import {
  deriveCallId,
  isFunctionCallPart,
  type Content,
  type FunctionCall,
  type InvocationId,
} from '../../core/index.ts';

/**
 * Gives each call of a response its id in the log, and keeps the provider's id beside it. The ids
 * depend only on the position of the call, so a response that is repeated after a crash has the
 * same ids.
 * @param round the number of earlier responses in this invocation
 */
export function withCallIds(content: Content, invocationId: InvocationId, round: number): Content {
  let index = 0;
  const parts = content.parts.map((part) =>
    isFunctionCallPart(part)
      ? {
          ...part,
          functionCall: renameCall(part.functionCall, deriveCallId(invocationId, round, index++)),
        }
      : part,
  );
  return { ...content, parts };
}

function renameCall(call: FunctionCall, id: string): FunctionCall {
  const providerId = call.providerId ?? call.id;
  return {
    ...call,
    id,
    ...omitUndefined({ providerId: providerId !== '' ? providerId : undefined }),
  };
}
