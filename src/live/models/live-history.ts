import {
  getFunctionCalls,
  getFunctionResponses,
  isFunctionCallPart,
  isFunctionResponsePart,
  isTextPart,
  type Content,
  type Part,
} from '../../core/index.ts';

/**
 * The history that a model can be given: text without thinking, calls, and their results. Audio is
 * left out. Calls have the ids of the provider, where the history has them.
 */
export function toLiveHistory(history: readonly Content[]): readonly Content[] {
  const providerIds = new Map(
    history.flatMap(getFunctionCalls).map(({ id, providerId = id }) => [id, providerId]),
  );
  const toWirePart = (part: Part): readonly Part[] => {
    if (isTextPart(part)) return part.thought === true || part.text === '' ? [] : [part];
    if (isFunctionCallPart(part)) {
      const { id, providerId = id, name, args } = part.functionCall;
      return [{ functionCall: { id: providerId, name, args } }];
    }
    if (!isFunctionResponsePart(part)) return [];
    const { functionResponse } = part;
    const id = providerIds.get(functionResponse.id);
    return id === undefined ? [] : [{ functionResponse: { ...functionResponse, id } }];
  };
  return history
    .map(({ role, parts }) => ({ role, parts: parts.flatMap(toWirePart) }))
    .filter(({ parts }) => parts.length > 0);
}

/** The ids of calls that have no result in the history, as the provider knows them. */
export function listUnansweredCalls(history: readonly Content[]): readonly string[] {
  const answered = new Set(history.flatMap(getFunctionResponses).map(({ id }) => id));
  return history
    .flatMap(getFunctionCalls)
    .filter(({ id }) => !answered.has(id))
    .map(({ id, providerId = id }) => providerId);
}
