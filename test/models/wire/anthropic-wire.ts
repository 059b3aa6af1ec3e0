import type { ScriptedError } from 'petrichor/models';
import {
  argsPieces,
  asBody,
  frame,
  toList,
  STATUS,
  textPieces,
  type Body,
  type WireFormat,
  type WireStream,
} from './wire-format.ts';
import type { WireTurn } from './wire-turn.ts';

const FINISH = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  max_tokens: 'max_tokens',
  refusal: 'refusal',
  other: 'pause_turn',
};

/** `messages` with `stream: true`. */
export const anthropicWire: WireFormat = {
  name: 'anthropic',
  provider: 'anthropic',
  keyVariable: 'ANTHROPIC_API_KEY',
  ref: (baseUrl) => ({ provider: 'anthropic', model: 'claude-sonnet-4-5', baseUrl }),
  accepts: (path) => path.endsWith('/messages'),
  getKey: (headers) => headers['x-api-key'],
  stream: anthropicStream,
  failure: (error) => ({
    status: STATUS[error.kind],
    body: { type: 'error', ...toWireError(error) },
  }),
  failureFrame: (error) => event('error', toWireError(error)),
  complaint: anthropicComplaint,
};

function event(type: string, fields: object = {}): string {
  return frame({ type, ...fields }, type);
}

function toWireError({ kind, message = `the script says ${kind}` }: ScriptedError): object {
  const types: Readonly<Record<string, string>> = {
    rate_limit: 'rate_limit_error',
    overloaded: 'overloaded_error',
    server: 'api_error',
    auth: 'authentication_error',
    not_found: 'not_found_error',
    bad_request: 'invalid_request_error',
  };
  return { error: { type: types[kind] ?? kind, message } };
}

function anthropicStream(turn: WireTurn): WireStream {
  const { usage, toolCalls = [], thinking = '', thoughtSignature } = turn;
  const pieces = textPieces(turn);
  const thinks = thinking !== '' || thoughtSignature !== undefined;
  const textIndex = thinks ? 1 : 0;
  const firstCall = textIndex + (pieces.length > 0 ? 1 : 0);
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'test',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    // Cached tokens are not included in the input tokens.
    usage: {
      input_tokens:
        (usage?.inputTokens ?? 0) - (usage?.cacheReadTokens ?? 0) - (usage?.cacheWriteTokens ?? 0),
      cache_read_input_tokens: usage?.cacheReadTokens ?? 0,
      cache_creation_input_tokens: usage?.cacheWriteTokens ?? 0,
      output_tokens: 1,
    },
  };
  return {
    head: [event('message_start', { message }), event('ping')],
    deltas: [
      ...(thinks ? [thinkingBlock(thinking, thoughtSignature)] : []),
      ...pieces.map(
        (text, i) =>
          (i === 0 ? start(textIndex, { type: 'text', text: '' }) : '') +
          delta(textIndex, { type: 'text_delta', text }) +
          (i === pieces.length - 1 ? stop(textIndex) : ''),
      ),
    ],
    calls: toolCalls.flatMap((call, i) => [
      start(firstCall + i, {
        type: 'tool_use',
        id: call.id ?? `toolu_${i}`,
        name: call.name,
        input: {},
      }) + delta(firstCall + i, { type: 'input_json_delta', partial_json: '' }),
      ...argsPieces(call).map((piece) =>
        delta(firstCall + i, { type: 'input_json_delta', partial_json: piece }),
      ),
      stop(firstCall + i),
    ]),
    tail: [
      event('message_delta', {
        delta: {
          stop_reason: FINISH[turn.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop')],
          stop_sequence: null,
        },
        usage: {
          output_tokens: usage?.outputTokens ?? 0,
          ...(usage?.thinkingTokens !== undefined && {
            output_tokens_details: { thinking_tokens: usage.thinkingTokens },
          }),
        },
      }),
      event('message_stop'),
    ],
  };
}

function thinkingBlock(thinking: string, signature: string | undefined): string {
  return (
    start(0, { type: 'thinking', thinking: '', signature: '' }) +
    (thinking === '' ? '' : delta(0, { type: 'thinking_delta', thinking })) +
    (signature === undefined ? '' : delta(0, { type: 'signature_delta', signature })) +
    stop(0)
  );
}

function start(index: number, block: object): string {
  return event('content_block_start', { index, content_block: block });
}

function delta(index: number, change: object): string {
  return event('content_block_delta', { index, delta: change });
}

function stop(index: number): string {
  return event('content_block_stop', { index });
}

function anthropicComplaint(body: Body): string | undefined {
  let owed: readonly string[] = [];
  const used = new Set<string>();
  if (toList(body['messages']).length === 0) return 'messages: at least one message is required.';
  for (const [i, { role, content }] of toList(body['messages']).entries()) {
    if (role !== (i % 2 === 0 ? 'user' : 'assistant')) return 'messages: roles must alternate.';
    const blocks =
      typeof content === 'string' ? [{ type: 'text', text: content }] : toList(content);
    if (blocks.length === 0) return `messages.${i}: content must not be empty.`;
    if (blocks.some(({ type, text }) => type === 'text' && String(text).trim() === '')) {
      return 'messages: text content blocks must contain non-whitespace text.';
    }
    const unsigned = blocks.some((block) => block['type'] === 'thinking' && !block['signature']);
    if (unsigned) return 'messages: thinking blocks must have a signature.';
    if (role === 'assistant' && blocks.at(-1)?.['type'] === 'thinking') {
      return 'messages: the final block in an assistant message cannot be thinking.';
    }
    const answered = blocks.map(({ type }) => type === 'tool_result').lastIndexOf(true) + 1;
    const ids = blocks.slice(0, answered).map((block) => String(block['tool_use_id']));
    if (ids.toSorted().join() !== owed.toSorted().join()) {
      return 'messages: tool_use ids were found without tool_result blocks immediately after.';
    }
    owed = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id));
    for (const id of owed) {
      if (used.has(id)) return 'messages: `tool_use` ids must be unique.';
      used.add(id);
    }
  }
  if (owed.length > 0) return 'messages: tool_use ids were found without tool_result blocks.';
  return toList(body['tools'])
    .map((tool) => {
      const { name, input_schema: schema } = tool;
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(String(name))) return `tools: invalid name ${String(name)}`;
      const { type, properties } = asBody(schema);
      if (type !== 'object') return 'tools.input_schema.type: must be object.';
      const top = ['anyOf', 'oneOf', 'allOf'].find((keyword) => keyword in asBody(schema));
      if (top !== undefined) return `input_schema does not support ${top} at the top level.`;
      const key = Object.keys(asBody(properties)).find(
        (one) => !/^[A-Za-z0-9_.-]{1,64}$/.test(one),
      );
      return key === undefined ? undefined : `tools: invalid property key ${key}`;
    })
    .find((complaint) => complaint !== undefined);
}
