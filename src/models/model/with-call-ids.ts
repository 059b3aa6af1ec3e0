import {
  deriveCallId,
  isFunctionCallPart,
  type Content,
  type FunctionCall,
  type InvocationId,
} from '../../core/index.ts';

/**
 * Gives each call of an answer the id it has in our log, and keeps the provider's beside it.
 * The ids depend on the place of the call only, so the same answer given again after a crash has the same ids.
 * @param round how many answers of this invocation came before.
 */
export function withCallIds(content: Content, invocationId: InvocationId, round: number): Content {
  let index = 0;
  const parts = content.parts.map((part) =>
    isFunctionCallPart(part)
      ? {
          ...part,
          functionCall: renamed(part.functionCall, deriveCallId(invocationId, round, index++)),
        }
      : part,
  );
  return { ...content, parts };
}

function renamed(call: FunctionCall, id: string): FunctionCall {
  const providerId = call.providerId ?? call.id;
  return { ...call, id, ...(providerId !== '' && { providerId }) };
}
