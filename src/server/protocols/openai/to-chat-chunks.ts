import { isQuotaRefusal } from '../../../agents/internal.ts';
import type { JsonObject, StopReason, Usage } from '../../../core/index.ts';
import type { Frame, FrameMapping } from '../run-response.ts';
import type { OpenCall, RunEnded, SessionUpdate } from '../session-update.ts';
import { formatCallId } from './response-id.ts';

export interface CompletionFacts {
  readonly id: string;
  readonly model: string;
  readonly sessionId: string;
  /** Epoch seconds. */
  readonly created: number;
}

/** What a chat completion ends with. */
export interface ChatEnd {
  /** Text that the agent did not write. */
  readonly note: string;
  readonly toolCalls: readonly JsonObject[];
  readonly finishReason: string;
  readonly error: { readonly message: string; readonly code: string | null } | undefined;
}

/** Creates the mapping of a run to the chunks of a chat completion. */
export function toChatChunks(
  facts: CompletionFacts,
  { hasUsage }: { readonly hasUsage: boolean },
): FrameMapping {
  return (update) => toFrames(update, facts, hasUsage);
}

function toFrames(
  update: SessionUpdate,
  facts: CompletionFacts,
  hasUsage: boolean,
): readonly Frame[] {
  const chunk = (delta: JsonObject, finish_reason: string | null = null): Frame => ({
    data: {
      ...toHeader(facts, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, finish_reason, logprobs: null }],
    },
  });
  if (update.type === 'run.started') return [chunk({ role: 'assistant', content: '' })];
  if (update.type === 'text.delta')
    return update.kind === 'text' ? [chunk({ content: update.text })] : [];
  if (update.type !== 'run.ended') return [];
  const { note, toolCalls, finishReason, error } = toChatEnd(update, facts);
  if (error !== undefined) return [{ data: { error: toChatError(error) } }];
  const calls = toolCalls.map((call, index) => ({ index, ...call }));
  const usage = update.usage;
  return [
    ...(note === '' ? [] : [chunk({ content: note })]),
    ...(calls.length === 0 ? [] : [chunk({ tool_calls: calls })]),
    chunk({}, finishReason),
    ...(hasUsage && usage !== undefined
      ? [
          {
            data: {
              ...toHeader(facts, 'chat.completion.chunk'),
              choices: [],
              usage: toChatUsage(usage),
            },
          },
        ]
      : []),
    { data: '[DONE]' },
  ];
}

/** An error of the API. A quota that is used up has the type and the code that the API has for it. */
export function toChatError({ message, code }: NonNullable<ChatEnd['error']>): JsonObject {
  const quota = 'insufficient_quota';
  return isQuotaRefusal(code ?? '')
    ? { message, type: quota, code: quota, param: null }
    : { message, type: 'server_error', code, param: null };
}

/** The members of every chunk and of the whole. */
export function toHeader(
  { id, model, created, sessionId }: CompletionFacts,
  object: string,
): JsonObject {
  return { id, object, created, model, metadata: { session_id: sessionId } };
}

export function toChatEnd(
  { outcome, waits, error, stopReason = 'end_turn' }: RunEnded,
  { sessionId }: CompletionFacts,
): ChatEnd {
  const none = { note: '', toolCalls: [], finishReason: 'stop', error: undefined };
  if (outcome === 'failed' || outcome === 'closed') {
    const message =
      outcome === 'closed' ? 'The session was closed.' : (error?.message ?? 'The turn failed.');
    return { ...none, error: { message, code: error?.code ?? null } };
  }
  if (outcome !== 'waiting') return { ...none, finishReason: FINISH_REASONS[stopReason] };
  // The API has no approval: a call of the server must not look like one of the client.
  const approvals = waits.filter(({ needs }) => needs === 'approval');
  const calls = waits.filter(({ needs }) => needs === 'result');
  return {
    ...none,
    note: approvals.map(({ name }) => toApprovalNote(name, sessionId)).join('\n'),
    toolCalls: calls.map((call) => toToolCall(call, sessionId)),
    finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
  };
}

function toApprovalNote(name: string, sessionId: string): string {
  return `The call of ${name} waits for an approval. Chat completions have none: approve it in session ${sessionId} with another protocol.`;
}

function toToolCall({ callId, name, args, request }: OpenCall, sessionId: string): JsonObject {
  const text = JSON.stringify(request === undefined ? args : { ...args, request });
  return {
    id: formatCallId(sessionId, callId),
    type: 'function',
    function: { name, arguments: text },
  };
}

const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end_turn: 'stop',
  requires_action: 'tool_calls',
  max_tokens: 'length',
  interrupted: 'stop',
  retries_exhausted: 'stop',
  budget_reached: 'length',
  refusal: 'content_filter',
  error: 'stop',
};

export function toChatUsage({
  inputTokens,
  outputTokens,
  totalTokens,
  thinkingTokens = 0,
  cacheReadTokens = 0,
}: Usage): JsonObject {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens,
    prompt_tokens_details: { cached_tokens: cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: thinkingTokens },
  };
}
