import { isJsonObject } from '../../../core/index.ts';
import type { JsonObject, LogEventByType, StateDelta, StopReason } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import type { Frame, FrameMapping } from '../run-response.ts';
import type { OpenCall, RunEnded, SessionUpdate } from '../session-update.ts';

/**
 * Creates the mapping of a run to the chunks of a UI message stream. The message of the assistant has the id of its
 * turn, so a run that continues a turn continues its message.
 * @param answered the calls whose results the request has: the client shows them already
 */
export function toUiMessageChunks(answered: ReadonlySet<string>): FrameMapping {
  return (update) => {
    const frames = toChunks(update, answered).map((data): Frame => ({ data }));
    return update.type === 'run.ended' ? [...frames, { data: '[DONE]' }] : frames;
  };
}

function toChunks(update: SessionUpdate, answered: ReadonlySet<string>): readonly JsonObject[] {
  switch (update.type) {
    case 'run.started':
      return [{ type: 'start', messageId: update.invocationId }];
    case 'text.start':
      return [{ type: toTextType(update, 'start'), id: toTextId(update) }];
    case 'text.delta':
      return [{ type: toTextType(update, 'delta'), id: toTextId(update), delta: update.text }];
    case 'text.end':
    case 'text.dropped':
      return [{ type: toTextType(update, 'end'), id: toTextId(update) }];
    case 'agent.message':
      return toStateChunks(update.actions?.stateDelta ?? {}, []);
    case 'tool.call': {
      const { callId: toolCallId, name: toolName, args: input } = update;
      return [{ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true }];
    }
    case 'tool.result':
      return [
        ...toStateChunks(update.actions?.stateDelta ?? {}, []),
        ...(answered.has(update.callId) ? [] : [toOutput(update)]),
      ];
    case 'state.changed':
      return toStateChunks(update.delta, update.removed ?? []);
    case 'tool.progress': {
      const data = { toolCallId: update.callId, text: update.text };
      return [{ type: 'data-tool-progress', data, transient: true }];
    }
    case 'agent.started':
    case 'agent.ended':
    case 'node.started':
    case 'node.ended':
      return [toAgentChunk(update)];
    case 'run.ended':
      return toEnd(update);
    default:
      return [];
  }
}

/** The part of a sub-agent, a called agent or a node. It keeps its id, so its end updates the part. */
function toAgentChunk(
  update: LogEventByType<'agent.started' | 'agent.ended' | 'node.started' | 'node.ended'>,
): JsonObject {
  const { type, author: name, branch, parent, callId: toolCallId, invocationId } = update;
  const [kind = '', change] = type.split('.');
  return {
    type: 'data-agent',
    id: [
      invocationId,
      kind,
      branch ?? name,
      ...(toolCallId === undefined ? [] : [toolCallId]),
    ].join(':'),
    data: {
      kind,
      name,
      status: change === 'started' ? 'running' : 'done',
      ...omitUndefined({ branch, parent, toolCallId }),
    },
  };
}

type TextUpdate = Extract<SessionUpdate, { readonly kind: string; readonly messageId: string }>;

function toTextType({ kind }: TextUpdate, step: 'start' | 'delta' | 'end'): string {
  return `${kind === 'text' ? 'text' : 'reasoning'}-${step}`;
}

function toTextId({ kind, messageId }: TextUpdate): string {
  return kind === 'text' ? messageId : `${messageId}-thinking`;
}

function toOutput({
  callId: toolCallId,
  outcome,
  response,
}: LogEventByType<'tool.result'>): JsonObject {
  if (outcome === 'ok')
    return { type: 'tool-output-available', toolCallId, output: response, dynamic: true };
  if (outcome === 'denied') return { type: 'tool-output-denied', toolCallId };
  const error = isJsonObject(response) ? response['error'] : undefined;
  const message = isJsonObject(error) ? error['message'] : undefined;
  const errorText = typeof message === 'string' ? message : JSON.stringify(response);
  return { type: 'tool-output-error', toolCallId, errorText, dynamic: true };
}

function toStateChunks(delta: StateDelta, removed: readonly string[]): readonly JsonObject[] {
  const isShown = (key: string): boolean => !key.startsWith('temp:');
  const set = Object.fromEntries(Object.entries(delta).filter(([key]) => isShown(key)));
  const removedKeys = removed.filter(isShown);
  if (Object.keys(set).length === 0 && removedKeys.length === 0) return [];
  return [{ type: 'data-state', data: { set, removed: removedKeys } }];
}

function toEnd({ outcome, waits, error, usage, stopReason }: RunEnded): readonly JsonObject[] {
  const metadata = { outcome, ...omitUndefined({ usage: usage && { ...usage } }) };
  const finish = (finishReason: string): JsonObject => ({
    type: 'finish',
    finishReason,
    messageMetadata: metadata,
  });
  switch (outcome) {
    case 'completed':
      return [finish(stopReason === undefined ? 'stop' : FINISH_REASONS[stopReason])];
    case 'waiting':
      return [...waits.flatMap(toWaitChunks), finish('tool-calls')];
    case 'interrupted':
      return [{ type: 'abort', reason: 'interrupted' }];
    case 'failed':
      return [
        {
          type: 'error',
          errorText: error?.message ?? 'The turn failed. See the log of the server.',
        },
      ];
    case 'closed':
      return [{ type: 'error', errorText: 'The session was closed.' }];
    default:
      return outcome satisfies never;
  }
}

const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end_turn: 'stop',
  requires_action: 'tool-calls',
  max_tokens: 'length',
  interrupted: 'other',
  retries_exhausted: 'error',
  budget_reached: 'other',
  refusal: 'content-filter',
  error: 'error',
};

/** A call of a called agent has no part of its own before it waits. */
function toWaitChunks({
  callId: toolCallId,
  name: toolName,
  args: input,
  needs,
  path,
  request,
}: OpenCall): readonly JsonObject[] {
  return [
    ...(path.length === 0
      ? []
      : [{ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true }]),
    ...(request === undefined
      ? []
      : [{ type: 'data-tool-request', id: toolCallId, data: { toolCallId, request } }]),
    ...(needs === 'approval'
      ? [{ type: 'tool-approval-request', approvalId: toolCallId, toolCallId }]
      : []),
  ];
}
