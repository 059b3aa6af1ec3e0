import {
  calledAgentWaits,
  createEventActions,
  isJsonObject,
  isOpaquePart,
  toAdkEvent,
  toAdkSeconds,
} from '../../../core/index.ts';
import type {
  Content,
  Event,
  Json,
  JsonObject,
  LogEvent,
  OpaquePart,
  Part,
} from '../../../core/index.ts';
import { omitUndefined, toAdkParts } from '../../../core/internal.ts';
import { formatAdkEventId } from './adk-event-id.ts';

/** What the events of a session have in common. */
export interface AdkEventContext {
  readonly sessionId: string;
  readonly sessionUid: string;
  /** The author of events that no agent made. */
  readonly agentName: string;
}

/** A call as a client must answer it. */
export interface AskedCall {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonObject;
  readonly request?: Json | undefined;
}

const ID_PREFIX = 'adk-';

/** The call of ADK's own function that asks for an answer to a call. */
export function toAskId(callId: string): string {
  return `${ID_PREFIX}${callId}`;
}

/** The call that an answer is for. */
export function parseAskId(id: string): string {
  return id.startsWith(ID_PREFIX) ? id.slice(ID_PREFIX.length) : id;
}

/** Converts a log event to the events of ADK's HTTP API. */
export function toAdkWireEvents(
  event: LogEvent,
  { sessionId, sessionUid, agentName }: AdkEventContext,
): readonly JsonObject[] {
  const adk = toAdkEvent(event, sessionUid);
  if (adk === undefined) return [];
  const id = formatAdkEventId(sessionId, event.seq);
  const wire = toWireEvent({ ...adk, id }, agentName);
  if (event.type === 'tool.call') {
    if (event.needs === 'approval') return [toConfirmation(wire, event)];
    // The event of the call names it as long-running.
    return [];
  }
  if (event.type !== 'tool.pending') return [wire];
  const nested = calledAgentWaits(event.request);
  if (nested !== undefined)
    return nested.map(({ needs, callId, name, args, request }, index) => {
      const call = { callId, name, args: isJsonObject(args) ? args : {}, request };
      const own = index === 0 ? wire : { ...wire, id: `${id}-${index}` };
      return needs === 'approval' ? toConfirmation(own, call) : toQuestion(own, call);
    });
  return [toQuestion(wire, { ...event, args: {} })];
}

/** The event that asks a person to approve a call. */
export function toConfirmation(
  { content: _content, ...wire }: JsonObject,
  { callId, name, args }: AskedCall,
): JsonObject {
  const toolConfirmation = { hint: `Approve the call of ${name}?`, confirmed: false };
  const actions = isJsonObject(wire['actions']) ? wire['actions'] : {};
  return {
    ...wire,
    content: toFunctionCall(callId, 'adk_request_confirmation', {
      originalFunctionCall: { id: callId, name, args },
      toolConfirmation,
    }),
    longRunningToolIds: [toAskId(callId)],
    actions: { ...actions, requestedToolConfirmations: { [callId]: toolConfirmation } },
  };
}

/** The event of a call that ran and waits: with ADK's function for its question, if there is one. */
function toQuestion(
  { content: _content, ...wire }: JsonObject,
  { callId, name, args, request }: AskedCall,
): JsonObject {
  const asked = isJsonObject(request) ? request : {};
  const {
    adk_request_credential: auth,
    adk_request_confirmation: confirmation,
    adk_request_input: input,
  } = asked;
  if (isJsonObject(confirmation)) return toConfirmation(wire, { callId, name, args });
  const ask = (functionName: string, functionArgs: JsonObject): JsonObject => ({
    ...wire,
    content: toFunctionCall(callId, functionName, functionArgs),
    longRunningToolIds: [toAskId(callId)],
  });
  if (isJsonObject(auth))
    return ask('adk_request_credential', { functionCallId: callId, authConfig: auth });
  if (isJsonObject(input)) return ask('adk_request_input', input);
  const response = { status: 'pending', ...(request === undefined ? {} : { request }) };
  const functionResponse = { id: callId, name, response };
  return {
    ...wire,
    content: { role: 'user', parts: [{ functionResponse }] },
    longRunningToolIds: [callId],
  };
}

function toFunctionCall(callId: string, name: string, args: JsonObject): JsonObject {
  return { role: 'model', parts: [{ functionCall: { id: toAskId(callId), name, args } }] };
}

/** The event with which a call waits that may have run: its process died. */
export function toCrashQuestion(
  call: AskedCall,
  { invocationId, at }: { readonly invocationId: string; readonly at: number },
  { agentName }: AdkEventContext,
): JsonObject {
  const event: Event = {
    id: `${call.callId}-crash`,
    timestamp: toAdkSeconds(at),
    invocationId,
    author: agentName,
    actions: createEventActions(),
  };
  return toConfirmation(toWireEvent(event, agentName), call);
}

/** A piece of text that is being generated. */
export function toPartialEvent(
  {
    messageId,
    invocationId,
    author,
    branch,
    text,
    kind,
  }: {
    readonly messageId: string;
    readonly invocationId: string;
    readonly author: string;
    readonly branch?: string | undefined;
    readonly text: string;
    readonly kind: 'text' | 'thinking';
  },
  at: number,
): JsonObject {
  const part = kind === 'thinking' ? { text, thought: true } : { text };
  return {
    id: `${messageId}-partial`,
    timestamp: toAdkSeconds(at),
    invocationId,
    author,
    ...omitUndefined({ branch }),
    partial: true,
    content: { role: 'model', parts: [part] },
    actions: { ...createEventActions() },
  };
}

/** Converts an event to one of ADK's HTTP API. */
export function toWireEvent(event: Event, agentName: string): JsonObject {
  const { partial, inputTranscription, outputTranscription } = event;
  const { goAway, liveSessionResumptionUpdate: resumption } = event;
  const { content, usageMetadata, finishReason, actions, author, nodeInfo, longRunningToolIds } =
    event;
  const { branch, output, errorCode, errorMessage, turnComplete, interrupted } = event;
  return {
    id: event.id,
    timestamp: event.timestamp,
    invocationId: event.invocationId,
    author: author === 'system' ? agentName : author,
    actions: { ...actions },
    ...omitUndefined({
      branch,
      content: content === undefined ? undefined : toWireContent(content),
      longRunningToolIds: longRunningToolIds === undefined ? undefined : [...longRunningToolIds],
      usageMetadata: usageMetadata && { ...usageMetadata },
      finishReason,
      groundingMetadata: event.groundingMetadata,
      citationMetadata: event.citationMetadata,
      errorCode,
      errorMessage,
      partial,
      turnComplete,
      interrupted,
      inputTranscription: inputTranscription && { ...inputTranscription },
      outputTranscription: outputTranscription && { ...outputTranscription },
      liveSessionResumptionUpdate: resumption && { ...resumption },
      goAway: goAway && { ...goAway },
      output,
      nodeInfo: nodeInfo === undefined ? undefined : { ...nodeInfo },
      customMetadata: event.customMetadata,
    }),
  };
}

function toWireContent({ role, parts }: Content): JsonObject {
  return {
    role: role === 'model' ? 'model' : 'user',
    parts: parts.flatMap((part) => (isOpaquePart(part) ? toAdkParts(part) : [toWirePart(part)])),
  };
}

function toWirePart(part: Exclude<Part, OpaquePart>): Json {
  if ('functionCall' in part) {
    const { id, name, args } = part.functionCall;
    return { functionCall: { id, name, args } };
  }
  if ('functionResponse' in part) {
    const { id, name, response } = part.functionResponse;
    return { functionResponse: { id, name, response } };
  }
  return { ...part };
}
