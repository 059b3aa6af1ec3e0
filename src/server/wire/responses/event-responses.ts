import * as v from 'valibot';
import { component, field } from '../component.ts';
import type { Component, WireSchema } from '../component.ts';
import { textBlock } from './content-responses.ts';
import { count, jsonObject, page, time } from './response-parts.ts';
import {
  callEventId,
  confirmation,
  eventId,
  message,
  outcome,
  result,
} from './sent-event-responses.ts';
import type { Entries } from './sent-event-responses.ts';

const seq = field(
  'Number of the log entry. It never decreases; several events may show the same entry.',
  count,
);
const processedAt = field('Null while the event is accepted and not processed.', v.nullable(time));

type LoggedEntries<Type extends string, E extends Entries> = {
  readonly id: typeof eventId;
  readonly type: v.LiteralSchema<Type, undefined>;
  readonly seq: typeof seq;
  readonly processed_at: typeof processedAt;
} & E;

const call = {
  name: v.string(),
  input: jsonObject,
  session_thread_id: field(
    'The thread that the call waits in, if it is not the thread of the session.',
    v.exactOptional(v.string()),
  ),
};
const permission = {
  evaluated_permission: field(
    '`ask`: the call waits for a `user.tool_confirmation`.',
    v.exactOptional(v.picklist(['allow', 'ask', 'deny'])),
  ),
};

const modelUsage: WireSchema<'ModelUsage'> = component(
  'ModelUsage',
  'Tokens that a model request used.',
  v.object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  }),
);

const idleReason: WireSchema<'IdleReason'> = component(
  'IdleReason',
  'Why a session is idle.',
  v.variant('type', [
    v.object({
      type: v.picklist(['end_turn', 'retries_exhausted', 'budget_reached', 'refusal']),
    }),
    v.object({
      type: v.literal('requires_action'),
      event_ids: field('The calls that wait for an answer.', v.array(v.string())),
    }),
  ]),
);

const sessionError: WireSchema<'SessionError'> = component(
  'SessionError',
  'A failure in a session. The message has no text of a provider; the log of the server has it.',
  v.object({
    type: v.picklist([
      'model_overloaded_error',
      'model_rate_limited_error',
      'model_request_failed_error',
      'mcp_authentication_failed_error',
      'mcp_connection_failed_error',
      'billing_error',
      'unknown_error',
    ]),
    message: v.string(),
    retry_status: v.object({ type: v.picklist(['retrying', 'exhausted', 'terminal']) }),
  }),
);

const evaluation = { outcome_id: v.string(), iteration: field('From 1.', count) };

const netEvent = component(
  'NetEvent',
  'A journal record, without its tokens. Only requests with `include=net` get these events.',
  v.object({
    id: v.string(),
    type: v.picklist([
      'net.injected',
      'net.fired',
      'net.started',
      'net.ended',
      'net.retrying',
      'net.restarted',
      'net.faulted',
      'net.discarded',
      'net.upgraded',
      'net.owned',
      'net.loaded',
      'net.trimmed',
    ]),
    seq,
    record: field('Number of the record in the journal.', count),
    transition: v.exactOptional(v.string()),
    firing: field('The record that started the firing.', v.exactOptional(count)),
    outcome: v.exactOptional(v.string()),
    attempt: v.exactOptional(count),
    processed_at: time,
  }),
);

/** An event of a session. */
const sessionEvent: WireSchema<'SessionEvent'> = component(
  'SessionEvent',
  'An event of a session. Later versions of the server may send more types; ignore those.',
  v.variant('type', [
    logged('UserMessageEvent', 'A message of a user.', 'user.message', message),
    logged('UserDefineOutcomeEvent', 'An outcome to reach.', 'user.define_outcome', outcome),
    logged('UserInterruptEvent', 'A turn was stopped.', 'user.interrupt', {}),
    logged(
      'UserToolConfirmationEvent',
      'A person allowed or denied a call.',
      'user.tool_confirmation',
      confirmation,
    ),
    logged('UserToolResultEvent', 'A worker answered a call.', 'user.tool_result', {
      tool_use_id: callEventId,
      ...result,
    }),
    logged(
      'UserCustomToolResultEvent',
      'The client answered a call of a custom tool.',
      'user.custom_tool_result',
      { custom_tool_use_id: callEventId, ...result },
    ),
    logged('AgentMessageEvent', 'A message of the agent.', 'agent.message', message),
    logged('AgentThinkingEvent', 'The model thought. The text is not shown.', 'agent.thinking', {}),
    logged(
      'AgentToolUseEvent',
      'A call of a tool that the server or a worker runs.',
      'agent.tool_use',
      {
        ...call,
        ...permission,
      },
    ),
    logged('AgentMcpToolUseEvent', 'A call of a tool of an MCP server.', 'agent.mcp_tool_use', {
      ...call,
      ...permission,
      mcp_server_name: v.string(),
    }),
    logged(
      'AgentCustomToolUseEvent',
      'A call of a tool whose calls the client answers.',
      'agent.custom_tool_use',
      call,
    ),
    logged('AgentToolResultEvent', 'The result of a call.', 'agent.tool_result', {
      tool_use_id: callEventId,
      ...result,
    }),
    logged(
      'AgentMcpToolResultEvent',
      'The result of a call of a tool of an MCP server.',
      'agent.mcp_tool_result',
      { mcp_tool_use_id: callEventId, ...result },
    ),
    logged('SessionStatusRunningEvent', 'A turn runs.', 'session.status_running', {}),
    logged('SessionStatusIdleEvent', 'No turn runs.', 'session.status_idle', {
      stop_reason: idleReason,
      stop_details: v.nullable(
        v.object({ type: v.literal('refusal'), category: v.null(), explanation: v.null() }),
      ),
    }),
    logged(
      'SessionStatusRescheduledEvent',
      'A failed model call is retried.',
      'session.status_rescheduled',
      {},
    ),
    logged(
      'SessionStatusTerminatedEvent',
      'The session is closed. No event follows.',
      'session.status_terminated',
      {},
    ),
    logged('SessionErrorEvent', 'A failure.', 'session.error', { error: sessionError }),
    logged('ModelRequestStartEvent', 'A model request started.', 'span.model_request_start', {}),
    logged('ModelRequestEndEvent', 'A model request ended.', 'span.model_request_end', {
      model_request_start_id: v.string(),
      is_error: v.boolean(),
      model_usage: modelUsage,
    }),
    logged(
      'OutcomeEvaluationStartEvent',
      'An evaluation of an outcome started.',
      'span.outcome_evaluation_start',
      evaluation,
    ),
    logged(
      'OutcomeEvaluationEndEvent',
      'An evaluation of an outcome ended.',
      'span.outcome_evaluation_end',
      {
        ...evaluation,
        result: v.picklist(['satisfied', 'needs_revision', 'failed']),
        explanation: v.string(),
        outcome_evaluation_start_id: v.string(),
        usage: modelUsage,
      },
    ),
    component(
      'SessionDeletedEvent',
      'The session was deleted. No event follows. It is not stored.',
      v.object({ id: eventId, type: v.literal('session.deleted'), seq }),
    ),
    netEvent,
  ]),
);

/** A page of events. */
export const sessionEventPage: WireSchema<'SessionEventPage'> = page(
  'SessionEventPage',
  sessionEvent,
);

const preview: WireSchema<'Preview'> = component(
  'Preview',
  'Part of an event that is still being generated. Previews are not stored; the complete event follows.',
  v.variant('type', [
    v.object({
      type: v.literal('event_start'),
      event: v.object({
        type: v.picklist(['agent.message', 'agent.thinking']),
        id: field('The id that the complete event will have.', v.string()),
      }),
    }),
    v.object({
      type: v.literal('event_delta'),
      event_id: v.string(),
      delta: v.object({ type: v.literal('content_delta'), index: count, content: textBlock }),
    }),
  ]),
);

/** What one `data` line of an event stream holds. */
export const streamedEvent: WireSchema<'StreamedEvent'> = component(
  'StreamedEvent',
  'An event of the session, or a preview. Only events of the session have a `seq`.',
  v.union([sessionEvent, preview]),
);

function logged<Type extends string, E extends Entries>(
  name: string,
  description: string,
  type: Type,
  fields: E,
): Component<v.ObjectSchema<LoggedEntries<Type, E>, undefined>> {
  return component(
    name,
    description,
    v.object({ id: eventId, type: v.literal(type), seq, processed_at: processedAt, ...fields }),
  );
}
