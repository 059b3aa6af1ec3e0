import { omitUndefined } from '../json/omit-undefined.ts';
import { calledAgentWaits } from './called-agent.ts';
import { isTextPart, type Content, type Part } from '../content/content.ts';
import type { Event, Transcription } from './event.ts';
import { INTERRUPTED_METADATA, AUDIBLE_METADATA } from './live-metadata.ts';
import { createEventActions, mergeEventActions, type EventActions } from './event-actions.ts';
import { deriveEventId, type SessionUid } from '../identity/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import type { LogEvent, LogEventByType } from './log-event.ts';
import { toAdkFinishReason, toGroundingFields, toUsageMetadata } from './model-metadata.ts';
import { toAdkSeconds } from './timestamp.ts';
import { toUserInputCall, type UserInputCall, type CallToAnswer } from './user-input-call.ts';

/**
 * Converts a log event to an ADK event, or to undefined if ADK has no such event. It depends only on its arguments, so
 * every process returns the same events with the same ids. An event outside any turn has an empty invocation id.
 */
export function toAdkEvent(
  logEvent: LogEvent,
  sessionUid: SessionUid,
  /** The arguments of the call that the event is about, if the event does not have them. */
  args: JsonObject = {},
): Event | undefined {
  if (logEvent.type === 'event.appended') return logEvent.event;
  const fields = toEventFields(logEvent, args);
  if (fields === undefined) return undefined;
  return {
    id: deriveEventId(sessionUid, logEvent.seq),
    timestamp: toAdkSeconds(logEvent.at),
    invocationId: 'invocationId' in logEvent ? logEvent.invocationId : '',
    ...fields,
    actions: createEventActions(fields.actions),
  };
}

type EventFields = Omit<Event, 'id' | 'timestamp' | 'invocationId' | 'actions'> & {
  readonly actions?: Partial<EventActions>;
};

function toEventFields(
  logEvent: Exclude<LogEvent, { readonly type: 'event.appended' }>,
  args: JsonObject,
): EventFields | undefined {
  switch (logEvent.type) {
    case 'user.message':
      return logEvent.transcript === true
        ? { author: logEvent.author, inputTranscription: toTranscription(logEvent.content) }
        : { author: logEvent.author, content: logEvent.content };
    case 'agent.message':
      return fromAgentMessage(logEvent);
    case 'tool.call':
      return logEvent.needs === 'nothing'
        ? undefined
        : fromWaitingCalls(logEvent, [{ ...logEvent, needs: logEvent.needs }]);
    case 'tool.pending':
      return fromWaitingCalls(logEvent, toWaitingCalls(logEvent, args));
    case 'tool.result':
      return fromToolResult(logEvent);
    case 'state.changed':
      return {
        author: logEvent.author ?? 'system',
        ...eventLocation(logEvent),
        actions: { stateDelta: toStateDelta(logEvent) },
      };
    case 'error':
      return {
        author: logEvent.author ?? 'system',
        ...eventLocation(logEvent),
        errorCode: logEvent.code,
        errorMessage: logEvent.message,
      };
    case 'turn.ended':
      return logEvent.stopReason === 'budget_reached'
        ? { author: 'system', turnComplete: true, stopReason: logEvent.stopReason }
        : undefined;
    case 'session.rewound':
      return {
        author: 'user',
        actions: { rewindBeforeInvocationId: logEvent.beforeInvocationId },
      };
    case 'tool.attempt':
    case 'tool.answered':
    case 'turn.started':
    case 'turn.waiting':
    case 'turn.resumed':
    case 'agent.started':
    case 'agent.ended':
    case 'node.started':
    case 'node.ended':
    case 'turn.rescheduled':
    case 'session.paused':
    case 'session.resumed':
    case 'session.completed':
    case 'session.archived':
    case 'outcome.defined':
    case 'outcome.evaluated':
    case 'outcome.ended':
    case 'model.attempt':
    case 'session.upgraded':
    default:
      return undefined;
  }
}

function fromAgentMessage(message: LogEventByType<'agent.message'>): EventFields {
  const {
    seq: _seq,
    at: _at,
    type: _type,
    invocationId: _invocationId,
    content,
    finishReason,
    usage,
    ...rest
  } = message;
  const fields = {
    ...rest,
    ...omitUndefined({
      finishReason: finishReason && toAdkFinishReason(finishReason),
      usageMetadata: usage && toUsageMetadata(usage),
    }),
    ...toGroundingFields(content, message.providerMetadata),
  };
  const { providerMetadata = {} } = fields;
  const interrupted = INTERRUPTED_METADATA in providerMetadata ? true : undefined;
  if (AUDIBLE_METADATA in providerMetadata) {
    const others = content.parts.filter((part) => !isTextPart(part));
    return {
      ...fields,
      outputTranscription: toTranscription(content),
      ...(others.length > 0 && { content: { ...content, parts: others } }),
      ...omitUndefined({ interrupted }),
    };
  }
  if (interrupted) return { ...fields, content, interrupted };
  // An empty message of a model is a response. Any other empty message has only actions, so omit its content.
  return content.parts.length === 0 && finishReason === undefined ? fields : { ...fields, content };
}

function toTranscription({ parts }: Content): Transcription {
  const text = parts.map((part) => (isTextPart(part) ? part.text : '')).join('');
  return { text, finished: true };
}

/** The calls that wait: the call itself, or those of the agent that it called. */
function toWaitingCalls(
  { callId, name, request }: LogEventByType<'tool.pending'>,
  args: JsonObject,
): readonly CallToAnswer[] {
  const waits = calledAgentWaits(request);
  return waits === undefined
    ? [{ callId, name, args, needs: 'result', request }]
    : waits.map((wait) => ({ ...wait, args: isJsonObject(wait.args) ? wait.args : {} }));
}

/** The event that asks a client about a call that waits. */
function fromWaitingCalls(
  location: Pick<Event, 'author' | 'branch' | 'nodeInfo'>,
  calls: readonly CallToAnswer[],
): EventFields {
  const asked = calls.map((call) => ({ ...call, asked: toUserInputCall(call) }));
  const parts = asked.flatMap((call) => toWaitingParts(call));
  return {
    author: location.author,
    ...eventLocation(location),
    ...(parts.length > 0 && { content: { role: 'user' as const, parts } }),
    longRunningToolIds: asked.map(({ callId, asked: { functionCall } = {} }) =>
      functionCall === undefined ? callId : functionCall.id,
    ),
    actions: mergeEventActions(asked.flatMap(({ asked: { actions } = {} }) => actions ?? [])),
  };
}

function toWaitingParts({
  callId,
  name,
  request,
  asked,
}: CallToAnswer & { readonly asked: UserInputCall | undefined }): readonly Part[] {
  if (asked !== undefined) return [{ functionCall: asked.functionCall }];
  // A call that its client runs has no result yet.
  if (request === undefined) return [];
  return [{ functionResponse: { id: callId, name, response: { status: 'pending', request } } }];
}

function fromToolResult(result: LogEventByType<'tool.result'>): EventFields {
  const { author, callId, name, outcome, response, actions } = result;
  const functionResponse = {
    id: callId,
    name,
    response: toObject(response),
    ...omitUndefined({ isError: outcome !== 'ok' ? (true as const) : undefined }),
  };
  return {
    author,
    ...eventLocation(result),
    content: { role: 'tool', parts: [{ functionResponse }] },
    ...omitUndefined({ actions }),
  };
}

function eventLocation({
  branch,
  nodeInfo,
}: Pick<Event, 'branch' | 'nodeInfo'>): Pick<Event, 'branch' | 'nodeInfo'> {
  return omitUndefined({ branch, nodeInfo });
}

function toObject(response: Json): JsonObject {
  return isJsonObject(response) ? response : { result: response };
}

// ADK has no removal of keys, so a removed key becomes null.
function toStateDelta(changed: LogEventByType<'state.changed'>): JsonObject {
  const removed = (changed.removed ?? []).map((key) => [key, null] as const);
  return { ...changed.delta, ...Object.fromEntries(removed) };
}
