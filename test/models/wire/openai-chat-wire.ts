import type { ScriptedError } from 'petrichor/models';
import {
  argsPieces,
  asBody,
  frame,
  toList,
  STATUS,
  textPieces,
  schemasIn,
  unknownKeyword,
  type Body,
  type WireFormat,
} from './wire-format.ts';
import type { WireTurn } from './wire-turn.ts';

const FINISH = {
  stop: 'stop',
  tool_calls: 'tool_calls',
  max_tokens: 'length',
  refusal: 'content_filter',
  other: 'function_call',
};

/** `chat/completions` with `stream: true`. It never shows thinking. */
export const openaiChatWire: WireFormat = {
  name: 'openai chat',
  provider: 'openai',
  keyVariable: 'OPENAI_API_KEY',
  ref: (baseUrl) => ({ provider: 'openai', model: 'gpt-4.1', baseUrl, api: 'chat' }),
  accepts: (path) => path.endsWith('/chat/completions'),
  getKey: getBearer,
  stream: (turn) => chatStream(turn, () => ({})),
  failure: (error) => ({
    status: error.kind === 'overloaded' ? 503 : STATUS[error.kind],
    body: { error: openaiError(error) },
  }),
  failureFrame: (error) => frame({ error: openaiError(error) }),
  complaint: (body) => chatComplaint(body) ?? strictComplaint(body),
};

/** A compatible server that shows thinking in an additional field. */
export function compatibleWire(
  more: Pick<WireFormat, 'name' | 'provider' | 'keyVariable' | 'ref'>,
  thinkingField: 'reasoning' | 'reasoning_content',
): WireFormat {
  return {
    ...openaiChatWire,
    ...more,
    stream: (turn) => chatStream(turn, (thinking) => ({ [thinkingField]: thinking })),
    complaint: chatComplaint,
  };
}

export function getBearer(
  headers: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return headers['authorization']?.replace(/^Bearer /, '');
}

export function openaiError({
  kind,
  message = `the script says ${kind}`,
}: ScriptedError): Readonly<Record<string, unknown>> {
  const types: Readonly<Record<string, string>> = {
    rate_limit: 'rate_limit_exceeded',
    overloaded: 'overloaded_error',
    server: 'server_error',
    auth: 'authentication_error',
    not_found: 'model_not_found',
    bad_request: 'invalid_request_error',
  };
  const type = types[kind] ?? kind;
  return { message, type, param: null, code: type };
}

function chatStream(turn: WireTurn, thinkingDelta: (thinking: string) => object) {
  const { thinking = '', usage, toolCalls = [] } = turn;
  const shown = thinkingDelta(thinking);
  const hasThinking = thinking !== '' && Object.keys(shown).length > 0;
  const reason = turn.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
  return {
    head: [chunk({ role: 'assistant', content: '' })],
    deltas: [
      ...(hasThinking ? [chunk(shown)] : []),
      ...textPieces(turn).map((content) => chunk({ content })),
    ],
    calls: toolCalls.flatMap((call, index) => callChunks(turn, call, index)),
    tail: [
      chunk({}, FINISH[reason]),
      ...(usage === undefined ? [] : [frame({ ...common, choices: [], usage: counted(usage) })]),
      frame('[DONE]'),
    ],
  };
}

const common = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'test' };

function chunk(delta: object, finish: string | null = null): string {
  return frame({ ...common, choices: [{ index: 0, delta, finish_reason: finish }] });
}

function callChunks(
  turn: WireTurn,
  call: NonNullable<WireTurn['toolCalls']>[number],
  index: number,
): readonly string[] {
  const id = turn.withoutIds === true ? '' : (call.id ?? `call_${index}`);
  const start = { index, id, type: 'function', function: { name: call.name, arguments: '' } };
  return [
    chunk({ tool_calls: [start] }),
    ...argsPieces(call).map((piece) =>
      chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
    ),
  ];
}

function counted(usage: NonNullable<WireTurn['usage']>): object {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage.thinkingTokens ?? 0 },
  };
}

function chatComplaint(body: Body): string | undefined {
  let owed: string[] = [];
  if (toList(body['messages']).every(({ role }) => role === 'system')) {
    return 'Invalid messages: only system messages.';
  }
  for (const message of toList(body['messages'])) {
    const { role, content } = message;
    if (role === 'tool') {
      const index = owed.indexOf(String(message['tool_call_id']));
      if (index === -1)
        return "messages with role 'tool' must answer a preceding tool_calls message.";
      owed.splice(index, 1);
      continue;
    }
    if (owed.length > 0) return `tool_call_ids did not have response messages: ${owed.join(', ')}`;
    if (content === '' || (Array.isArray(content) && content.length === 0)) {
      return `Invalid message: ${String(role)} says nothing.`;
    }
    owed = toList(message['tool_calls']).map(({ id }) => String(id));
    if (owed.includes('') || new Set(owed).size < owed.length) return 'Tool call ids must differ.';
  }
  if (owed.length > 0) return `tool_call_ids did not have response messages: ${owed.join(', ')}`;
  return toList(body['tools'])
    .map((tool) => String(asBody(tool['function'])['name']))
    .filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))
    .map((name) => `Invalid 'tools.function.name': ${name}`)[0];
}

function strictComplaint(body: Body): string | undefined {
  return toList(body['tools'])
    .map((tool) => asBody(tool['function']))
    .filter(({ strict }) => strict === true)
    .map(({ parameters }) => findStrictSchemaProblem(parameters))
    .find((complaint) => complaint !== undefined);
}

const STRICT_KEYWORDS: ReadonlySet<string> = new Set(
  '$ref $defs definitions type title description enum const anyOf items properties required additionalProperties pattern format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems'.split(
    ' ',
  ),
);

/** Why strict mode would reject a schema. */
export function findStrictSchemaProblem(schema: unknown): string | undefined {
  const unknown = unknownKeyword(schema, STRICT_KEYWORDS);
  if (unknown !== undefined) return `Invalid schema: '${unknown}' is not permitted.`;
  const visit = (one: unknown): string | undefined => {
    if (typeof one !== 'object' || one === null) return undefined;
    const { properties, required, additionalProperties } = asBody(one);
    if (properties !== undefined) {
      const names = Object.keys(asBody(properties));
      const listed = Array.isArray(required) ? required : [];
      if (additionalProperties !== false) return "'additionalProperties' must be false.";
      if (names.some((name) => !listed.includes(name))) return "'required' must name every key.";
    }
    return schemasIn(one)
      .map(visit)
      .find((complaint) => complaint !== undefined);
  };
  return visit(schema);
}
