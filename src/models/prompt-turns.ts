import {
  isFunctionCallPart,
  isFunctionResponsePart,
  isTextPart,
  type Content,
  type FunctionCallPart,
  type FunctionResponse,
  type Part,
} from '../core/index.ts';

/** One message as every provider accepts it: never empty, and the answers of calls stand alone. */
export type PromptTurn =
  | { readonly kind: 'user'; readonly parts: readonly Part[] }
  | { readonly kind: 'model'; readonly parts: readonly Part[] }
  | { readonly kind: 'results'; readonly results: readonly CallResult[] };

/** A call and its one answer. */
export type CallResult = {
  readonly call: FunctionCallPart;
  readonly response: FunctionResponse;
};

/**
 * Puts a conversation in the one order that the strictest provider takes: it begins with a user, each call is answered
 * once, right after the message that made it and in its order, and what else was said comes after. What cannot be
 * sent is left out (empty text, answers to calls that are gone); a call without an answer gets one that says so.
 */
export function promptTurns(contents: readonly Content[]): readonly PromptTurn[] {
  const responses = responsesById(contents);
  const turns: PromptTurn[] = [];
  for (const { role, parts } of contents) {
    const said = parts.filter((part) => !isFunctionResponsePart(part) && !isEmpty(part));
    if (said.length === 0) continue;
    addParts(turns, role === 'model' ? 'model' : 'user', said);
    const calls = said.filter(isFunctionCallPart);
    if (role === 'model' && calls.length > 0) {
      turns.push({ kind: 'results', results: calls.map((call) => resultOf(call, responses)) });
    }
  }
  return turns[0] === undefined || turns[0].kind === 'user' ? turns : [opening, ...turns];
}

const opening: PromptTurn = {
  kind: 'user',
  parts: [{ text: '(What was said before is left out.)' }],
};

// The first answer to a call stands, as everywhere.
function responsesById(contents: readonly Content[]): ReadonlyMap<string, FunctionResponse> {
  const responses = new Map<string, FunctionResponse>();
  for (const { functionResponse } of contents.flatMap(({ parts }) =>
    parts.filter(isFunctionResponsePart),
  )) {
    if (!responses.has(functionResponse.id)) responses.set(functionResponse.id, functionResponse);
  }
  return responses;
}

function resultOf(
  call: FunctionCallPart,
  responses: ReadonlyMap<string, FunctionResponse>,
): CallResult {
  const { id, name } = call.functionCall;
  const error = { code: 'no_result', message: 'There is no result: the call was not finished.' };
  const missing: FunctionResponse = { id, name, response: { error }, isError: true };
  return { call, response: responses.get(id) ?? missing };
}

// A signature may stand on an empty text, and whose it is only the provider's own prompt knows.
function isEmpty(part: Part): boolean {
  return isTextPart(part) && part.text === '' && part.thoughtSignature === undefined;
}

function addParts(turns: PromptTurn[], kind: 'user' | 'model', parts: readonly Part[]): void {
  const last = turns.at(-1);
  if (last?.kind === kind) turns[turns.length - 1] = { kind, parts: [...last.parts, ...parts] };
  else turns.push({ kind, parts });
}
