import { getBearer, openaiError, findStrictSchemaProblem } from './openai-chat-wire.ts';
import {
  argsPieces,
  frame,
  toList,
  STATUS,
  textPieces,
  type Body,
  type WireFormat,
  type WireStream,
} from './wire-format.ts';
import type { WireTurn } from './wire-turn.ts';

/** `responses` with `stream: true` and `store: false`. */
export const openaiResponsesWire: WireFormat = {
  name: 'openai responses',
  provider: 'openai',
  keyVariable: 'OPENAI_API_KEY',
  ref: (baseUrl) => ({ provider: 'openai', model: 'gpt-5-mini', baseUrl }),
  accepts: (path) => path.endsWith('/responses'),
  getKey: getBearer,
  stream: responsesStream,
  failure: (error) => ({
    status: error.kind === 'overloaded' ? 503 : STATUS[error.kind],
    body: { error: openaiError(error) },
  }),
  failureFrame: (error) => {
    const { code, message } = openaiError(error);
    return event('error', { code, message, param: null });
  },
  complaint: responsesComplaint,
};

function event(type: string, fields: object): string {
  return frame({ type, sequence_number: 1, ...fields }, type);
}

const response = { id: 'resp-1', object: 'response', created_at: 1, model: 'test', output: [] };

function responsesStream(turn: WireTurn): WireStream {
  const { toolCalls = [] } = turn;
  const thinking = thinkingEvents(turn);
  const text = textEvents(turn, thinking.length > 0 ? 1 : 0);
  const before = (thinking.length > 0 ? 1 : 0) + (text.length > 0 ? 1 : 0);
  return {
    head: [
      event('response.created', { response: { ...response, status: 'in_progress' } }),
      event('response.in_progress', { response: { ...response, status: 'in_progress' } }),
    ],
    deltas: [...thinking, ...text],
    calls: toolCalls.flatMap((_, index) => callEvents(turn, index, before + index)),
    tail: [ending(turn)],
  };
}

// Frames without content are sent together with the next frame that has some, so that one delta is
// one write.
function thinkingEvents(turn: WireTurn): readonly string[] {
  const { thinking = '', thoughtSignature } = turn;
  if (thinking === '' && thoughtSignature === undefined) return [];
  const place = { item_id: 'rs_1', output_index: 0, summary_index: 0 };
  const item = { id: 'rs_1', type: 'reasoning', summary: [] };
  const encrypted = { encrypted_content: thoughtSignature ?? null };
  const added = event('response.output_item.added', {
    output_index: 0,
    item: { ...item, encrypted_content: null },
  });
  const summary =
    thinking === ''
      ? ''
      : event('response.reasoning_summary_part.added', {
          ...place,
          part: { type: 'summary_text', text: '' },
        }) +
        event('response.reasoning_summary_text.delta', { ...place, delta: thinking }) +
        event('response.reasoning_summary_text.done', { ...place, text: thinking }) +
        event('response.reasoning_summary_part.done', {
          ...place,
          part: { type: 'summary_text', text: thinking },
        });
  const done = event('response.output_item.done', {
    output_index: 0,
    item: { ...item, ...encrypted },
  });
  return [added + summary + done];
}

function textEvents(turn: WireTurn, index: number): readonly string[] {
  const pieces = textPieces(turn);
  if (pieces.length === 0) return [];
  const place = { item_id: 'msg_1', output_index: index, content_index: 0 };
  const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };
  const added = event('response.output_item.added', { output_index: index, item });
  const part = { type: 'output_text', text: '', annotations: [] };
  const opened = event('response.content_part.added', { ...place, part });
  const text = pieces.join('');
  const done =
    event('response.output_text.done', { ...place, text }) +
    event('response.content_part.done', { ...place, part: { ...part, text } }) +
    event('response.output_item.done', { output_index: index, item });
  return pieces.map(
    (delta, i) =>
      (i === 0 ? added + opened : '') +
      event('response.output_text.delta', { ...place, delta, logprobs: [] }) +
      (i === pieces.length - 1 ? done : ''),
  );
}

function callEvents(turn: WireTurn, index: number, outputIndex: number): readonly string[] {
  const call = turn.toolCalls?.[index];
  if (call === undefined) return [];
  const callId = call.id ?? `call_${index}`;
  const item = { id: `fc_${index}`, type: 'function_call', call_id: callId, name: call.name };
  const text = argsPieces(call).join('');
  return [
    event('response.output_item.added', {
      output_index: outputIndex,
      item: { ...item, arguments: '', status: 'in_progress' },
    }),
    ...argsPieces(call).map((delta) =>
      event('response.function_call_arguments.delta', {
        item_id: item.id,
        output_index: outputIndex,
        delta,
      }),
    ),
    event('response.function_call_arguments.done', {
      item_id: item.id,
      output_index: outputIndex,
      arguments: text,
    }) +
      event('response.output_item.done', {
        output_index: outputIndex,
        item: { ...item, arguments: text, status: 'completed' },
      }),
  ];
}

function ending({ finishReason = 'stop', usage }: WireTurn): string {
  const why = { max_tokens: 'max_output_tokens', refusal: 'content_filter', other: 'unknown' };
  const reason = finishReason in why ? why[finishReason as keyof typeof why] : undefined;
  const counted = {
    input_tokens: usage?.inputTokens ?? 0,
    input_tokens_details: { cached_tokens: usage?.cacheReadTokens ?? 0 },
    output_tokens: usage?.outputTokens ?? 0,
    output_tokens_details: { reasoning_tokens: usage?.thinkingTokens ?? 0 },
    total_tokens: usage?.totalTokens ?? 0,
  };
  const status = reason === undefined ? 'completed' : 'incomplete';
  return event(`response.${status}`, {
    response: {
      ...response,
      status,
      incomplete_details: reason === undefined ? null : { reason },
      usage: counted,
    },
  });
}

function responsesComplaint(body: Body): string | undefined {
  if (body['store'] !== false) return 'This server keeps nothing: store must be false.';
  const owed = new Set<string>();
  const used = new Set<string>();
  const isSystem = ({ role }: Body): boolean => role === 'system' || role === 'developer';
  if (toList(body['input']).every(isSystem)) return 'Invalid input: only system messages.';
  for (const [i, item] of toList(body['input']).entries()) {
    const { type } = item;
    const next = toList(body['input'])[i + 1];
    if (type === 'reasoning' && (next === undefined || next['role'] === 'user')) {
      return `Item '${String(item['id'])}' of type 'reasoning' was provided without its required following item.`;
    }
    if (type === 'item_reference') return `Item '${String(item['id'])}' not found.`;
    if (type === 'reasoning' && item['encrypted_content'] === undefined) {
      return `Item '${String(item['id'])}' of type 'reasoning' has no encrypted content.`;
    }
    if (type === 'function_call') {
      const id = String(item['call_id']);
      if (used.has(id)) return `Duplicate item: call_id '${id}' is used twice.`;
      used.add(id);
      owed.add(id);
    } else if (type === 'function_call_output') {
      if (!owed.delete(String(item['call_id'])))
        return 'No tool call found for function call output.';
    } else if (type !== 'reasoning') {
      if (owed.size > 0 && item['role'] !== 'assistant')
        return `No tool output found for function call ${[...owed].join(', ')}.`;
      if (item['content'] === '') return 'Invalid input: a message says nothing.';
    }
  }
  if (owed.size > 0) return `No tool output found for function call ${[...owed].join(', ')}.`;
  return toList(body['tools'])
    .map(({ name, strict, parameters }) => {
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(String(name))) return `Invalid name: ${String(name)}`;
      return strict === true ? findStrictSchemaProblem(parameters) : undefined;
    })
    .find((complaint) => complaint !== undefined);
}
