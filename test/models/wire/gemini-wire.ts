import type { ScriptedError } from 'petrichor/models';
import {
  asBody,
  frame,
  toList,
  textPieces,
  unknownKeyword,
  type Body,
  type WireFormat,
} from './wire-format.ts';
import type { WireTurn } from './wire-turn.ts';

const FINISH = { stop: 'STOP', tool_calls: 'STOP', max_tokens: 'MAX_TOKENS', refusal: 'SAFETY' };

const STATUS_NAMES: Readonly<Record<string, readonly [number, string]>> = {
  rate_limit: [429, 'RESOURCE_EXHAUSTED'],
  overloaded: [503, 'UNAVAILABLE'],
  server: [500, 'INTERNAL'],
  auth: [401, 'UNAUTHENTICATED'],
  not_found: [404, 'NOT_FOUND'],
  bad_request: [400, 'INVALID_ARGUMENT'],
};

/** `models.streamGenerateContent` with `alt=sse`. */
export const geminiWire: WireFormat = {
  name: 'gemini',
  provider: 'gemini',
  keyVariable: 'GEMINI_API_KEY',
  ref: (baseUrl) => ({ provider: 'gemini', model: 'gemini-3-flash-preview', baseUrl }),
  accepts: (path) => /\/models\/[^/]+:streamGenerateContent\?alt=sse$/.test(path),
  getKey: (headers) => headers['x-goog-api-key'],
  stream: (turn) => ({
    head: [],
    deltas: [
      ...thoughts(turn).map((text) => chunk([{ text, thought: true }])),
      ...textPieces(turn).map((text) => chunk([{ text }])),
    ],
    calls: callChunks(turn),
    tail: [ending(turn)],
  }),
  failure: (error) => {
    const [status = 500] = STATUS_NAMES[error.kind] ?? [];
    return { status, body: { error: toWireError(error) } };
  },
  failureFrame: (error) => frame({ error: toWireError(error) }),
  complaint: geminiComplaint,
};

function thoughts({ thinking = '' }: WireTurn): readonly string[] {
  return thinking === '' ? [] : [thinking];
}

function chunk(parts: readonly object[], more: object = {}, about: object = {}): string {
  const candidates = [{ content: { role: 'model', parts }, index: 0, ...more }];
  return frame({ candidates, responseId: 'resp-1', modelVersion: 'gemini-test', ...about });
}

// The signature comes on the first call, or at the end on an empty part.
function callChunks(turn: WireTurn): readonly string[] {
  return (turn.toolCalls ?? []).map((call, i) => {
    const { name, args, id, malformedArgs } = call;
    const functionCall = {
      name,
      ...(malformedArgs === undefined ? args !== undefined && { args } : { args: malformedArgs }),
      ...(id !== undefined && turn.withoutIds !== true && { id }),
    };
    const { thoughtSignature } = turn;
    const signed = i === 0 && thoughtSignature !== undefined ? { thoughtSignature } : {};
    return chunk([{ functionCall, ...signed }]);
  });
}

function ending(turn: WireTurn): string {
  const { thoughtSignature, toolCalls = [], usage } = turn;
  const trailing =
    thoughtSignature !== undefined && toolCalls.length === 0
      ? [{ text: '', thoughtSignature }]
      : [];
  const reason = turn.finishReason ?? 'stop';
  const finishReason = reason === 'other' ? 'OTHER' : FINISH[reason];
  const counts = usage && {
    usageMetadata: {
      promptTokenCount: usage.inputTokens,
      candidatesTokenCount: usage.outputTokens - (usage.thinkingTokens ?? 0),
      thoughtsTokenCount: usage.thinkingTokens ?? 0,
      cachedContentTokenCount: usage.cacheReadTokens ?? 0,
      totalTokenCount: usage.totalTokens,
    },
  };
  return chunk(trailing, { finishReason }, counts);
}

function toWireError({
  kind,
  message = `the script says ${kind}`,
  retryAfterMs,
}: ScriptedError): object {
  const [code, status] = STATUS_NAMES[kind] ?? [500, 'INTERNAL'];
  const details = retryAfterMs !== undefined && {
    details: [
      { '@type': 'type.googleapis.com/google.rpc.Help' },
      {
        '@type': 'type.googleapis.com/google.rpc.RetryInfo',
        retryDelay: `${retryAfterMs / 1000}s`,
      },
    ],
  };
  return { code, message, status, ...details };
}

const KEYWORDS: ReadonlySet<string> = new Set(
  'type title description enum format items prefixItems minItems maxItems minimum maximum anyOf properties additionalProperties required propertyOrdering'.split(
    ' ',
  ),
);

function geminiComplaint(body: Body): string | undefined {
  const kept = ['systemInstruction', 'tools', 'toolConfig'].find((key) => body[key] !== undefined);
  if (body['cachedContent'] !== undefined && kept !== undefined) {
    return `CachedContent can not be used with GenerateContent request setting ${kept}.`;
  }
  const contents = toList(body['contents']);
  if (contents[0]?.['role'] !== 'user') return 'Please ensure that the first turn is a user turn.';
  let owed = 0;
  for (const { role, parts } of contents) {
    const all = toList(parts);
    if (all.length === 0) return 'contents.parts must not be empty.';
    const calls = all.filter((part) => 'functionCall' in part);
    const answers = all.filter((part) => 'functionResponse' in part);
    if (answers.length !== owed) {
      return 'The number of function response parts is not equal to the number of function call parts.';
    }
    if (answers.length > 0 && answers.length !== all.length)
      return 'Function responses stand alone.';
    if (all.some((part) => part['text'] === '' && part['thoughtSignature'] === undefined)) {
      return 'Unable to submit request because it has an empty text parameter.';
    }
    const [first] = calls;
    if (first !== undefined && first['thoughtSignature'] === undefined) {
      return 'Function call is missing a thought_signature.';
    }
    if (calls.length > 0 && role !== 'model') return 'Only a model calls.';
    owed = calls.length;
  }
  if (owed > 0) return 'A function call turn must be followed by a function response turn.';
  return toList(asBody(toList(body['tools'])[0])['functionDeclarations'])
    .map(({ name, parametersJsonSchema }) => {
      if (!/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/.test(String(name)))
        return `Invalid name ${String(name)}.`;
      const unknown = unknownKeyword(parametersJsonSchema, KEYWORDS);
      return unknown === undefined ? undefined : `Unknown name "${unknown}" in the schema.`;
    })
    .find((complaint) => complaint !== undefined);
}
