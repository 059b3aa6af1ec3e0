import {
  isFunctionCallPart,
  isFunctionResponsePart,
  isTextPart,
  type Content,
  type FunctionCallPart,
  type FunctionResponse,
  type Part,
} from '../../core/index.ts';

/**
 * One message in a form that every provider accepts: never empty, and results of calls are
 * separate.
 */
export type PromptTurn =
  | { readonly kind: 'user'; readonly parts: readonly Part[] }
  | { readonly kind: 'model'; readonly parts: readonly Part[] }
  | { readonly kind: 'results'; readonly results: readonly AnsweredCall[] };

/** A call and its only result. */
export type AnsweredCall = {
  readonly call: FunctionCallPart;
  readonly response: FunctionResponse;
};

/**
 * Puts a conversation in the order that the strictest provider requires: it begins with a user
 * message; the results of calls follow the message that made the calls, once and in order; other
 * content comes after. Parts that cannot be sent are dropped (blank texts, results of unknown
 * calls). A call without a result gets one that says so.
 * @param isSent whether a part other than a call is sent. It may depend on the provider.
 */
export function toPromptTurns(
  contents: readonly Content[],
  isSent: (role: Content['role'], part: Part) => boolean = (_role, part) => !isBlank(part),
): readonly PromptTurn[] {
  const results = callResults(contents);
  let consumed = 0;
  const turns: PromptTurn[] = [];
  for (const { role, parts } of contents) {
    const sent = parts.filter((part) => {
      if (isFunctionCallPart(part)) return role === 'model';
      return !isFunctionResponsePart(part) && isSent(role, part);
    });
    if (sent.length === 0 && role === 'user' && parts.every(isTextPart)) sent.push(EMPTY_MESSAGE);
    if (sent.length === 0) continue;
    addParts(turns, role === 'model' ? 'model' : 'user', sent);
    const calls = sent.filter(isFunctionCallPart);
    if (calls.length === 0) continue;
    turns.push({ kind: 'results', results: results.slice(consumed, consumed + calls.length) });
    consumed += calls.length;
  }
  return turns[0] === undefined || turns[0].kind === 'user' ? turns : [opening, ...turns];
}

const opening: PromptTurn = {
  kind: 'user',
  parts: [{ text: '(What was said before is left out.)' }],
};

interface OpenCall {
  readonly call: FunctionCallPart;
  /** The index of the message that made it. */
  readonly message: number;
  response?: FunctionResponse;
}

/**
 * The calls of the model in order, each with its first result. Some programs number their calls
 * from the beginning in each message, so a result belongs to the nearest earlier message with its
 * id.
 */
function callResults(contents: readonly Content[]): readonly AnsweredCall[] {
  const calls: OpenCall[] = [];
  const byId = new Map<string, OpenCall[]>();
  const unmatched: FunctionResponse[] = [];
  for (const [message, { role, parts }] of contents.entries()) {
    for (const part of parts) {
      if (role === 'model' && isFunctionCallPart(part)) {
        const { id } = part.functionCall;
        const call: OpenCall = { call: part, message };
        const same = byId.get(id);
        if (same?.at(-1)?.message === message) same.push(call);
        else byId.set(id, [call]);
        calls.push(call);
      } else if (isFunctionResponsePart(part) && !assignResponse(byId, part.functionResponse)) {
        unmatched.push(part.functionResponse);
      }
    }
  }
  for (const response of unmatched) assignResponse(byId, response);
  return calls.map(({ call, response }) => ({ call, response: response ?? noResult(call) }));
}

/** False if no such call was made so far. */
function assignResponse(
  calls: ReadonlyMap<string, readonly OpenCall[]>,
  response: FunctionResponse,
): boolean {
  const candidates = calls.get(response.id);
  const open = candidates?.find((call) => call.response === undefined);
  if (open !== undefined) open.response = response;
  return candidates !== undefined;
}

function noResult({ functionCall: { id, name } }: FunctionCallPart): FunctionResponse {
  const error = {
    /**
     * A call in the conversation has no result, because it was not finished. The model reads this in place of the
     * result.
     * @remedy None: the model may call the tool again.
     */
    code: 'no_result',
    message: 'There is no result: the call was not finished.',
  };
  return { id, name, response: { error }, isError: true };
}

/** Replaces an empty user message, because there must be a message to respond to. */
const EMPTY_MESSAGE: Part = { text: '(An empty message.)' };

/** Some providers reject a blank text like an empty one, and with it every later request. */
export function isBlank(part: Part): boolean {
  return isTextPart(part) && part.text.trim() === '';
}

function addParts(turns: PromptTurn[], kind: 'user' | 'model', parts: readonly Part[]): void {
  const last = turns.at(-1);
  if (last?.kind === kind) turns[turns.length - 1] = { kind, parts: [...last.parts, ...parts] };
  else turns.push({ kind, parts });
}
