import type { ContentBlock } from './content-block.ts';

/** Fields that every event of a session has. */
interface EventBase {
  /** Cursor: pass it as `after` to continue after this event. */
  readonly id: string;
  /** Number of the log entry. It never decreases; several events may show the same entry. */
  readonly seq: number;
  readonly processed_at?: string | null;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Why a session is idle. */
export type IdleReason =
  | { readonly type: 'end_turn' | 'retries_exhausted' | 'budget_reached' | 'refusal' }
  | { readonly type: 'requires_action'; readonly event_ids: readonly string[] };

type EventBody =
  | {
      readonly type: 'user.message' | 'agent.message';
      readonly content: readonly ContentBlock[];
    }
  | { readonly type: 'agent.thinking' | 'user.interrupt' }
  | {
      readonly type: 'agent.tool_use' | 'agent.mcp_tool_use' | 'agent.custom_tool_use';
      readonly name: string;
      readonly input: JsonObject;
      readonly evaluated_permission?: 'allow' | 'ask' | 'deny';
    }
  | {
      readonly type: 'agent.tool_result' | 'user.tool_result';
      readonly tool_use_id: string;
      readonly content: readonly ContentBlock[];
      readonly is_error: boolean;
    }
  | {
      readonly type: 'user.custom_tool_result';
      readonly custom_tool_use_id: string;
      readonly content: readonly ContentBlock[];
      readonly is_error: boolean;
    }
  | {
      readonly type: 'agent.mcp_tool_result';
      readonly mcp_tool_use_id: string;
      readonly content: readonly ContentBlock[];
      readonly is_error: boolean;
    }
  | {
      readonly type: 'user.tool_confirmation';
      readonly tool_use_id: string;
      readonly result: 'allow' | 'deny';
      readonly deny_message?: string;
    }
  | { readonly type: 'session.status_idle'; readonly stop_reason: IdleReason }
  | {
      readonly type:
        | 'session.status_running'
        | 'session.status_rescheduled'
        | 'session.status_terminated'
        | 'session.deleted'
        | 'span.model_request_start';
    }
  | {
      readonly type: 'session.error';
      readonly error: { readonly type: string; readonly message: string };
    }
  | {
      readonly type: 'span.model_request_end';
      readonly model_usage: Readonly<Record<string, number>>;
    };

/** An event of a session's log. The server may send types that are not listed here; ignore those. */
export type SessionEvent = EventBase & EventBody;

/** Part of an event that is still being generated. Previews are not stored, and the complete event follows. */
export type Preview =
  | { readonly type: 'event_start'; readonly event: { readonly type: string; readonly id: string } }
  | {
      readonly type: 'event_delta';
      readonly event_id: string;
      readonly delta: { readonly content: { readonly type: 'text'; readonly text: string } };
    };

/** What a stream yields: events of the log, and previews if you requested them. Only log events have a `seq`. */
export type StreamedEvent = SessionEvent | Preview;
