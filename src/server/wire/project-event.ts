import { omitUndefined } from '../../core/internal.ts';
import { calledAgentWaits, isJsonObject, isTextPart } from '../../core/index.ts';
import type {
  CalledAgentWait,
  LogEvent,
  LogEventByType,
  LoggedError,
  Seq,
  Usage,
} from '../../core/index.ts';
import { toContentBlocks } from '../../managed/internal.ts';
import {
  callKey,
  confirmationKey,
  interruptKey,
  messageKey,
  outcomeKey,
  resultKey,
  turnMessageKey,
} from './event-keys.ts';
import { failureReference, toClientMessage } from './client-error-message.ts';
import type { Wire } from './component.ts';
import { isCustomCall } from './custom-call.ts';
import { toThreadId, toWireContent, toWireResult } from './wire-event.ts';
import { toRetryStatus, toSessionErrorType, type RetryStatus } from './session-error.ts';
import type { WireEvent } from './wire-event.ts';

/** Facts about a log that the events of later entries depend on. */
export interface LogIndex {
  readonly sessionId: string;
  /** Derives the id of an event from its key. */
  readonly eventId: (key: string) => string;
  /** Calls by call id. */
  readonly calls: ReadonlyMap<string, LogEventByType<'tool.call'>>;
  /** Calls of tools of called agents, with the number of the entry that showed each first. */
  readonly calledAgentCalls: ReadonlyMap<string, Seq>;
  /** By log entry: how many messages of the same turn precede it. */
  readonly messageIndexes: ReadonlyMap<Seq, number>;
  /** By invocation: the first entry that records its interruption. */
  readonly interrupts: ReadonlyMap<string, Seq>;
}

/** An event of the HTTP API without the fields that all events have. */
export type ProjectedEvent = Projected<
  Exclude<WireEvent, Wire<'NetEvent' | 'SessionDeletedEvent'>>
>;

type Projected<Event extends WireEvent> = Event extends WireEvent
  ? {
      /** Key that the event id is derived from. Default: the number of the log entry. */
      readonly key?: string;
      readonly type: Event['type'];
    } & EventFields<Omit<Event, 'id' | 'type' | 'seq' | 'processed_at'>>
  : never;

type EventFields<Fields> = keyof Fields extends never
  ? { readonly fields?: undefined }
  : { readonly fields: Fields };

/** The events that show a log entry: none, one, or several in order. */
export function projectEvent(event: LogEvent, index: LogIndex): readonly ProjectedEvent[] {
  switch (event.type) {
    case 'user.message':
      return [
        {
          key: messageKey(event.messageId),
          type: 'user.message',
          fields: { content: toWireContent(toContentBlocks(event.content)) },
        },
      ];
    case 'turn.started':
    case 'turn.resumed':
      return [{ type: 'session.status_running' }];
    case 'agent.message':
      return projectMessage(event, index);
    case 'tool.call':
      return [projectCall(event)];
    case 'tool.pending':
      return (calledAgentWaits(event.request) ?? [])
        .filter(({ callId }) => index.calledAgentCalls.get(callId) === event.seq)
        .map(projectCalledAgentCall);
    case 'tool.answered':
      return projectConfirmation(event, index);
    case 'tool.result':
      return [projectResult(event, index)];
    case 'turn.waiting': {
      const ids = event.callIds.map((callId) => index.eventId(callKey(callId)));
      return [idleEvent({ type: 'requires_action', event_ids: ids })];
    }
    case 'turn.ended':
      return projectTurnEnd(event, index);
    case 'turn.rescheduled':
      return [
        {
          type: 'session.error',
          fields: { error: toErrorFields(index, event.error, event.seq, 'retrying') },
        },
        { type: 'session.status_rescheduled' },
      ];
    case 'model.attempt':
      return [{ type: 'session.status_running' }];
    case 'error':
      return [
        {
          type: 'session.error',
          fields: { error: toErrorFields(index, event, event.seq, toRetryStatus(event)) },
        },
      ];
    case 'outcome.defined':
      return [projectOutcome(event)];
    case 'outcome.evaluated':
      return projectEvaluation(event, index);
    case 'session.archived':
    case 'session.completed':
      return [{ type: 'session.status_terminated' }];
    default:
      return [];
  }
}

function projectMessage(
  event: LogEventByType<'agent.message'>,
  index: LogIndex,
): readonly ProjectedEvent[] {
  const { invocationId, usage, content } = event;
  const texts = toWireContent(toContentBlocks(content));
  const isThinking = content.parts.some((part) => isTextPart(part) && part.thought === true);
  const start = `seq:${event.seq}`;
  const messageIndex = index.messageIndexes.get(event.seq);
  return [
    { key: start, type: 'span.model_request_start' },
    ...(isThinking
      ? [
          {
            key: turnMessageKey('agent.thinking', invocationId, messageIndex),
            type: 'agent.thinking' as const,
          },
        ]
      : []),
    ...(texts.length > 0
      ? [
          {
            key: turnMessageKey('agent.message', invocationId, messageIndex),
            type: 'agent.message' as const,
            fields: { content: texts },
          },
        ]
      : []),
    {
      type: 'span.model_request_end',
      fields: {
        model_request_start_id: index.eventId(start),
        is_error: false,
        model_usage: toModelUsage(usage),
      },
    },
  ];
}

function projectCall(call: LogEventByType<'tool.call'>): ProjectedEvent {
  const { callId, name, args, origin, permission, needs } = call;
  const key = callKey(callId);
  if (isCustomCall(call))
    return { key, type: 'agent.custom_tool_use', fields: { name, input: args } };
  // An agent from code has no permission policy: its tools decide.
  const decided = origin === undefined ? (needs === 'approval' ? 'ask' : 'allow') : undefined;
  const evaluated = omitUndefined({ evaluated_permission: permission ?? decided });
  const fields = { name, input: args, ...evaluated };
  return origin?.kind === 'mcp'
    ? {
        key,
        type: 'agent.mcp_tool_use',
        fields: { ...fields, mcp_server_name: origin.server },
      }
    : { key, type: 'agent.tool_use', fields };
}

/** A `tool.answered` entry with an answer shows nothing: the result shows it. */
function projectConfirmation(
  { callId, decision, message }: LogEventByType<'tool.answered'>,
  index: LogIndex,
): readonly ProjectedEvent[] {
  if (decision === 'answered') return [];
  const fields = {
    tool_use_id: index.eventId(callKey(callId)),
    result: decision === 'approved' ? 'allow' : 'deny',
    ...omitUndefined({ deny_message: message }),
  } as const;
  return [{ key: confirmationKey(callId), type: 'user.tool_confirmation', fields }];
}

function projectResult(
  { callId, outcome, response }: LogEventByType<'tool.result'>,
  index: LogIndex,
): ProjectedEvent {
  const key = resultKey(callId);
  const id = index.eventId(callKey(callId));
  const output = { content: toWireResult(response), is_error: outcome !== 'ok' };
  const call = index.calls.get(callId);
  if (call !== undefined && isCustomCall(call))
    return { key, type: 'user.custom_tool_result', fields: { custom_tool_use_id: id, ...output } };
  if (call?.origin?.kind === 'mcp')
    return { key, type: 'agent.mcp_tool_result', fields: { mcp_tool_use_id: id, ...output } };
  const type = call?.needs === 'result' ? 'user.tool_result' : 'agent.tool_result';
  return { key, type, fields: { tool_use_id: id, ...output } };
}

function projectTurnEnd(
  { stopReason, invocationId, seq }: LogEventByType<'turn.ended'>,
  index: LogIndex,
): readonly ProjectedEvent[] {
  switch (stopReason) {
    case 'interrupted': {
      const isFirst = index.interrupts.get(invocationId) === seq;
      const key = isFirst ? { key: interruptKey(invocationId) } : {};
      return [{ ...key, type: 'user.interrupt' }, idleEvent({ type: 'end_turn' })];
    }
    case 'error':
    case 'retries_exhausted':
      return [idleEvent({ type: 'retries_exhausted' })];
    case 'budget_reached':
      return [idleEvent({ type: 'budget_reached' })];
    case 'refusal': {
      const details = { type: 'refusal', category: null, explanation: null } as const;
      return [idleEvent({ type: 'refusal' }, details)];
    }
    default:
      return [idleEvent({ type: 'end_turn' })];
  }
}

function projectEvaluation(
  event: LogEventByType<'outcome.evaluated'>,
  index: LogIndex,
): readonly ProjectedEvent[] {
  const { outcomeId: outcome_id, iteration, result, explanation, usage } = event;
  const start = `seq:${event.seq}`;
  return [
    { key: start, type: 'span.outcome_evaluation_start', fields: { outcome_id, iteration } },
    {
      type: 'span.outcome_evaluation_end',
      fields: {
        outcome_id,
        iteration,
        result,
        explanation,
        outcome_evaluation_start_id: index.eventId(start),
        usage: toModelUsage(usage),
      },
    },
  ];
}

function toErrorFields(
  index: LogIndex,
  error: LoggedError,
  seq: Seq,
  retry: RetryStatus,
): Wire<'SessionError'> {
  const message = toClientMessage(error, failureReference(index.sessionId, seq));
  return { type: toSessionErrorType(error.code), message, retry_status: { type: retry } };
}

/** A call that waits in a thread, shown in the session so that its clients can answer it. */
function projectCalledAgentCall({
  callId,
  name,
  args,
  needs,
  session,
}: CalledAgentWait): ProjectedEvent {
  const key = callKey(callId);
  const input = isJsonObject(args) ? args : {};
  const fields = { name, input, session_thread_id: toThreadId(session) };
  return needs === 'approval'
    ? { key, type: 'agent.tool_use', fields: { ...fields, evaluated_permission: 'ask' } }
    : { key, type: 'agent.custom_tool_use', fields };
}

function idleEvent(
  stop_reason: Wire<'IdleReason'>,
  stop_details: Wire<'SessionStatusIdleEvent'>['stop_details'] = null,
): ProjectedEvent {
  return { type: 'session.status_idle', fields: { stop_reason, stop_details } };
}

function projectOutcome(event: LogEventByType<'outcome.defined'>): ProjectedEvent {
  const { outcomeId: outcome_id, description, rubric, maxIterations } = event;
  return {
    key: outcomeKey(outcome_id),
    type: 'user.define_outcome',
    fields: {
      outcome_id,
      description,
      rubric: { type: 'text', content: rubric ?? description },
      max_iterations: maxIterations,
    },
  };
}

/** Converts token usage to the format of the HTTP API. */
function toModelUsage(usage: Usage | undefined): Wire<'ModelUsage'> {
  return {
    input_tokens: Math.max(0, usage?.inputTokens ?? 0),
    output_tokens: Math.max(0, usage?.outputTokens ?? 0),
    cache_read_input_tokens: Math.max(0, usage?.cacheReadTokens ?? 0),
    cache_creation_input_tokens: Math.max(0, usage?.cacheWriteTokens ?? 0),
  };
}
