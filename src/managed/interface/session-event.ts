import type { JsonObject, Seq } from '../../core/index.ts';
import type { ContentBlock } from './user-event.ts';

/** Token usage, as clients see it. */
export interface UsageReport {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly thinking_tokens?: number;
  readonly cache_read_tokens?: number;
  readonly cache_write_tokens?: number;
}

/** Why a session became idle. */
export type IdleReason =
  | { readonly reason: 'requires_action'; readonly event_ids: readonly string[] }
  | {
      readonly reason:
        | 'end_turn'
        | 'max_tokens'
        | 'retries_exhausted'
        | 'budget_reached'
        | 'refusal'
        | 'error';
    };

/** An event of a session as clients see it: a projection of its log, with the same numbers. */
export type SessionEvent = { readonly seq: Seq } & (
  | { readonly type: 'agent.message'; readonly content: readonly ContentBlock[] }
  | {
      readonly type: 'agent.tool_use' | 'agent.mcp_tool_use';
      readonly tool_use_id: string;
      readonly name: string;
      readonly input: JsonObject;
    }
  | {
      readonly type: 'agent.custom_tool_use';
      readonly custom_tool_use_id: string;
      readonly name: string;
      readonly input: JsonObject;
    }
  | { readonly type: 'status.running' }
  | {
      readonly type: 'status.idle';
      readonly stop_reason: IdleReason | null;
      readonly usage?: UsageReport;
    }
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  /** The last event of an archived session. */
  | { readonly type: 'status.archived' }
  /** The last event of a deleted session. It is not in the log; its `seq` is that of the last log event. */
  | { readonly type: 'status.deleted' }
);
