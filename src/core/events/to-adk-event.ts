import { omitUndefined } from '../json/omit-undefined.ts';
import { calledAgentWaits } from './called-agent.ts';
import { isTextPart, type Content } from '../content/content.ts';
import type { Event, Transcription } from './event.ts';
import { INTERRUPTED_METADATA, AUDIBLE_METADATA } from './live-metadata.ts';
import { createEventActions, type EventActions } from './event-actions.ts';
import { deriveEventId, type SessionUid } from '../identity/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import type { LogEvent, LogEventByType } from './log-event.ts';
import { toAdkFinishReason, toGroundingFields, toUsageMetadata } from './model-metadata.ts';
import { toAdkSeconds } from './timestamp.ts';

/**
 * Converts a log event to an ADK event, or to undefined if ADK has no such event. It depends only on its arguments, so
 * every process returns the same events with the same ids. An event outside any turn has an empty invocation id.
 */
export function toAdkEvent(logEvent: LogEvent, sessionUid: SessionUid): Event | undefined {
  if (logEvent.type === 'event.appended') return logEvent.event;
  const fields = toEventFields(logEvent);
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
): EventFields | undefined {
  switch (logEvent.type) {
    case 'user.message':
      return logEvent.transcript === true
        ? { author: logEvent.author, inputTranscription: toTranscription(logEvent.content) }
        : { author: logEvent.author, content: logEvent.content };
    case 'agent.message':
      return fromAgentMessage(logEvent);
    case 'tool.call':
      if (logEvent.needs === 'approval') return fromApprovalRequest(logEvent);
      return logEvent.needs === 'result' ? fromResultRequest(logEvent) : undefined;
    case 'tool.pending':
      return {
        author: logEvent.author,
        ...eventLocation(logEvent),
        ...pendingFields(logEvent),
      };
    case 'tool.result':
      return fromToolResult(logEvent);
    case 'state.changed':
      return {
        author: logEvent.author ?? 'system',
        ...eventLocation(logEvent),
        actions: { stateDelta: toStateDelta(logEvent) },
      };
    case 'error':
      return { author: 'system', errorCode: logEvent.code, errorMessage: logEvent.message };
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

function fromApprovalRequest(call: LogEventByType<'tool.call'>): EventFields {
  const { author, callId } = call;
  return {
    author,
    ...eventLocation(call),
    longRunningToolIds: [callId],
    actions: { requestedToolConfirmations: { [callId]: toToolConfirmation(call) } },
  };
}

function toToolConfirmation({
  name,
  args,
  fingerprint,
}: {
  readonly name: string;
  readonly args: Json;
  readonly fingerprint?: string;
}): JsonObject {
  return { toolName: name, args, ...omitUndefined({ fingerprint }) };
}

/** Returns the pending calls: the call itself, or those of the agent that it called. */
function pendingFields(
  call: LogEventByType<'tool.pending'>,
): Pick<EventFields, 'longRunningToolIds' | 'actions'> {
  const waits = calledAgentWaits(call.request);
  if (waits === undefined) return { longRunningToolIds: [call.callId], ...requestFields(call) };
  const requested: readonly Partial<EventActions>[] = waits.map((wait) =>
    wait.needs === 'approval'
      ? { requestedToolConfirmations: { [wait.callId]: toToolConfirmation(wait) } }
      : (requestFields(wait).actions ?? {}),
  );
  const confirmations = requested.map((one) => one.requestedToolConfirmations ?? {});
  const credentials = requested.map((one) => one.requestedAuthConfigs ?? {});
  return {
    longRunningToolIds: waits.map(({ callId }) => callId),
    actions: {
      requestedToolConfirmations: Object.assign({}, ...confirmations),
      requestedAuthConfigs: Object.assign({}, ...credentials),
    },
  };
}

function fromResultRequest(call: LogEventByType<'tool.call'>): EventFields {
  const { author, callId } = call;
  return { author, ...eventLocation(call), longRunningToolIds: [callId] };
}

/** Returns the request of a pending call, if ADK has an action for it. */
function requestFields({
  callId,
  request,
}: Pick<LogEventByType<'tool.pending'>, 'callId' | 'request'>): Pick<EventFields, 'actions'> {
  if (!isJsonObject(request)) return {};
  const { adk_request_credential: auth, adk_request_confirmation: confirmation } = request;
  if (isJsonObject(auth) && isJsonObject(auth['authScheme']))
    return {
      actions: { requestedAuthConfigs: { [callId]: { ...auth, authScheme: auth['authScheme'] } } },
    };
  return isJsonObject(confirmation)
    ? { actions: { requestedToolConfirmations: { [callId]: confirmation } } }
    : {};
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
