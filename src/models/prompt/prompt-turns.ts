import {
  isFunctionCallPart,
  isFunctionResponsePart,
  isTextPart,
  type Content,
  type FunctionCallPart,
  type FunctionResponse,
  type Part,
} from '../../core/index.ts';

/** One message as every provider accepts it: never empty, and the answers of calls stand alone. */
export type PromptTurn =
  | { readonly kind: 'user'; readonly parts: readonly Part[] }
  | { readonly kind: 'model'; readonly parts: readonly Part[] }
  | { readonly kind: 'results'; readonly results: readonly AnsweredCall[] };

/** A call and its one answer. */
export type AnsweredCall = {
  readonly call: FunctionCallPart;
  readonly response: FunctionResponse;
};

/**
 * Puts a conversation in the one order that the strictest provider takes: it begins with a user, each call is answered
 * once, right after the message that made it and in its order, and what else was said comes after. What cannot be
 * sent is left out (blanks, answers to calls that are gone); a call without an answer gets one that says so.
 * @param isSent whether a part other than a call is sent at all, which may depend on who it is sent to.
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
  /** Which message made it. */
  readonly message: number;
  response?: FunctionResponse;
}

/**
 * The calls of the model in their order, each with its answer: the first one stands, as everywhere. Programs number their
 * calls anew in each message, so an answer is for the nearest message before it.
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

/** False when nobody has made such a call yet. */
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
  const error = { code: 'no_result', message: 'There is no result: the call was not finished.' };
  return { id, name, response: { error }, isError: true };
}

/** A user who says nothing is heard to: there is a message to answer. */
const EMPTY_MESSAGE: Part = { text: '(An empty message.)' };

/** Some refuse a text of mere blanks as they do an empty one, and with it every later request. */
export function isBlank(part: Part): boolean {
  return isTextPart(part) && part.text.trim() === '';
}

function addParts(turns: PromptTurn[], kind: 'user' | 'model', parts: readonly Part[]): void {
  const last = turns.at(-1);
  if (last?.kind === kind) turns[turns.length - 1] = { kind, parts: [...last.parts, ...parts] };
  else turns.push({ kind, parts });
}
