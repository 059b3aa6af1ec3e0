import type { JsonObject, Seq } from '../../core/index.ts';
import type { ContentBlock } from './user-event.ts';

/** Tokens, as clients read them. */
export interface UsageReport {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly thinking_tokens?: number;
  readonly cache_read_tokens?: number;
  readonly cache_write_tokens?: number;
}

/** Why a session went idle. */
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

/** What a client sees of a session: a projection of its log, with the log's numbers. */
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
  /** The last event of a session that was archived. */
  | { readonly type: 'status.archived' }
  /** The last event of a session that was deleted: it is in no log, and repeats the last number there was. */
  | { readonly type: 'status.deleted' }
);
