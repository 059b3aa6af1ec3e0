import { omitUndefined } from '../../core/internal.ts';
import type { LogEvent, StopReason, Usage } from '../../core/index.ts';
import { toContentBlocks } from './content-blocks.ts';
import type { SessionDeleted } from '../interface/managed-runtime.ts';
import type { IdleReason, SessionEvent, UsageReport } from '../interface/session-event.ts';

/**
 * Projects a log event to the event that clients see, if there is one. Depends on that event alone. A waiting turn
 * shows its waiting calls but no idle event; see `pending`.
 */
export function toSessionEvent(event: LogEvent | SessionDeleted): SessionEvent | undefined {
  const { seq } = event;
  switch (event.type) {
    case 'turn.started':
      return { seq, type: 'status.running' };
    case 'agent.message': {
      const content = toContentBlocks(event.content);
      return content.length === 0 ? undefined : { seq, type: 'agent.message', content };
    }
    case 'tool.call':
      return { seq, ...toolUse(event) };
    case 'turn.ended':
      return {
        seq,
        type: 'status.idle',
        stop_reason: toIdleReason(event.stopReason),
        ...omitUndefined({
          usage: event.usage === undefined ? undefined : toUsageReport(event.usage),
        }),
      };
    case 'error':
      return { seq, type: 'error', code: event.code, message: event.message };
    case 'session.archived':
      return { seq, type: 'status.archived' };
    case 'session.deleted':
      return { seq, type: 'status.deleted' };
    default:
      return undefined;
  }
}

/** Token usage as clients see it: never below 0; the total is computed if the provider gave none. */
export function toUsageReport(usage: Usage): UsageReport {
  const { thinkingTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const [input, output, total] = [usage.inputTokens, usage.outputTokens, usage.totalTokens].map(
    atLeastZero,
  );
  return {
    input_tokens: input ?? 0,
    output_tokens: output ?? 0,
    total_tokens: total !== undefined && total > 0 ? total : (input ?? 0) + (output ?? 0),
    ...omitUndefined({
      thinking_tokens: thinkingTokens === undefined ? undefined : atLeastZero(thinkingTokens),
      cache_read_tokens: cacheReadTokens === undefined ? undefined : atLeastZero(cacheReadTokens),
      cache_write_tokens:
        cacheWriteTokens === undefined ? undefined : atLeastZero(cacheWriteTokens),
    }),
  };
}

function toolUse({
  callId,
  name,
  args: input,
  origin,
}: Extract<LogEvent, { readonly type: 'tool.call' }>):
  | { type: 'agent.custom_tool_use'; custom_tool_use_id: string; name: string; input: typeof input }
  | {
      type: 'agent.tool_use' | 'agent.mcp_tool_use';
      tool_use_id: string;
      name: string;
      input: typeof input;
    } {
  if (origin?.kind === 'custom')
    return { type: 'agent.custom_tool_use', custom_tool_use_id: callId, name, input };
  const type = origin?.kind === 'mcp' ? 'agent.mcp_tool_use' : 'agent.tool_use';
  return { type, tool_use_id: callId, name, input };
}

/** Clients see an interrupted turn as ended normally. */
function toIdleReason(reason: StopReason): IdleReason {
  if (reason === 'interrupted') return { reason: 'end_turn' };
  return reason === 'requires_action' ? { reason, event_ids: [] } : { reason };
}

function atLeastZero(count: number): number {
  return Math.max(0, count);
}
