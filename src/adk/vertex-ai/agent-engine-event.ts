import { omitUndefined } from '../../core/internal.ts';
import {
  createEventActions,
  isJsonObject,
  parseContent,
  validateStateDelta,
} from '../../core/index.ts';
import type { Event, EventActions, Json, JsonObject } from '../../core/index.ts';
import { fromAdkContent, toStoredRole } from '../sessions/wire-content.ts';
import { toWireEvent } from '../sessions/wire-event.ts';
import { readId } from './agent-engine-sessions.ts';
import type { AgentEngineEvent } from './agent-engine-sessions.ts';

/** Marks an event with its id here, because Agent Engine gives it another one. */
const ID_KEY = '_petrichor_event_id';
/** Under these names ADK keeps what the API has no member for. */
const USAGE_KEY = '_usage_metadata';
const COMPACTION_KEY = '_compaction';
const INTERNAL_KEYS: ReadonlySet<string> = new Set([ID_KEY, USAGE_KEY, COMPACTION_KEY]);

/** Returns the id under which an event of Agent Engine is known here: its id here, or that of Agent Engine. */
export function readEventId(remote: JsonObject): string {
  const id = readObject(readObject(remote['eventMetadata'])['customMetadata'])[ID_KEY];
  return typeof id === 'string' ? id : readId(remote['name']);
}

/** Converts an event to the form in which Agent Engine appends it. */
export function toAgentEngineEvent(event: Event): AgentEngineEvent {
  // The API has members of their own for the time and the id.
  const { timestamp: _timestamp, ...rawEvent } = toWireEvent(event, event.author);
  const { actions, usageMetadata, customMetadata, branch, turnComplete, interrupted } = event;
  const { longRunningToolIds, groundingMetadata, errorCode, errorMessage } = event;
  const { inputTranscription, outputTranscription } = event;
  const { skipSummarization, stateDelta, artifactDelta, transferToAgent, escalate } = actions;
  const { requestedAuthConfigs, compaction } = actions;
  return {
    author: event.author,
    invocationId: event.invocationId === '' ? event.id : event.invocationId,
    timestamp: new Date(Math.round(event.timestamp * 1000)).toISOString(),
    config: omitUndefined({
      content: rawEvent['content'],
      errorCode,
      errorMessage,
      actions: omitUndefined({
        stateDelta,
        artifactDelta,
        requestedAuthConfigs: { ...requestedAuthConfigs },
        skipSummarization,
        escalate,
        transferAgent: transferToAgent,
      }),
      eventMetadata: omitUndefined({
        branch,
        turnComplete,
        interrupted,
        longRunningToolIds: longRunningToolIds && [...longRunningToolIds],
        groundingMetadata,
        inputTranscription: inputTranscription && { ...inputTranscription },
        outputTranscription: outputTranscription && { ...outputTranscription },
        customMetadata: omitUndefined({
          ...customMetadata,
          [ID_KEY]: event.id,
          [USAGE_KEY]: usageMetadata && { ...usageMetadata },
          [COMPACTION_KEY]: compaction && { ...compaction },
        }),
      }),
      rawEvent,
    }),
  };
}

/**
 * Converts an event that Agent Engine stores. Members that are unknown here are dropped.
 * @throws InvalidInputError, InvalidStateKeyError if its content or its state keys are invalid
 */
export function fromAgentEngineEvent(remote: JsonObject): Event {
  const metadata = readObject(remote['eventMetadata']);
  const customMetadata = readObject(metadata['customMetadata']);
  const raw = readObject(remote['rawEvent']);
  // The whole event where there is one, else the members that the API knows.
  const source: JsonObject =
    Object.keys(raw).length > 0
      ? raw
      : { ...metadata, ...remote, usageMetadata: customMetadata[USAGE_KEY] ?? null };
  const own = Object.entries(customMetadata).filter(([key]) => !INTERNAL_KEYS.has(key));
  const compaction = customMetadata[COMPACTION_KEY];
  const id = readEventId(remote);
  const at = Date.parse(readText(remote['timestamp']) ?? '');
  const content = source['content'];
  const known: JsonObject = omitUndefined({
    branch: readText(source['branch']),
    errorCode: readText(source['errorCode']),
    errorMessage: readText(source['errorMessage']),
    finishReason: readText(source['finishReason']),
    turnComplete: readFlag(source['turnComplete']),
    interrupted: readFlag(source['interrupted']),
    longRunningToolIds: Array.isArray(source['longRunningToolIds'])
      ? source['longRunningToolIds']
      : undefined,
    usageMetadata: readMember(source['usageMetadata']),
    groundingMetadata: readMember(source['groundingMetadata']),
    citationMetadata: readMember(source['citationMetadata']),
    inputTranscription: readMember(source['inputTranscription']),
    outputTranscription: readMember(source['outputTranscription']),
    nodeInfo: readMember(source['nodeInfo']),
    output: source['output'],
    customMetadata: own.length === 0 ? undefined : Object.fromEntries(own),
  });
  const event = {
    ...known,
    id,
    timestamp: (Number.isNaN(at) ? 0 : at) / 1000,
    invocationId: readText(remote['invocationId']) ?? '',
    author: readText(remote['author']) ?? 'user',
    ...(isJsonObject(content) &&
      hasParts(content) && {
        content: parseContent(toStoredRole(completeCalls(fromAdkContent(content, 'content'), id)), {
          unknownParts: 'keep',
        }),
      }),
    actions: fromActions(readObject(source['actions']), compaction),
  };
  return event;
}

/** True for a piece of a response that was still streaming. Sessions have none. */
export function isPartialEvent({ eventMetadata, rawEvent }: JsonObject): boolean {
  return [eventMetadata, rawEvent].some((one) => readObject(one)['partial'] === true);
}

function fromActions(actions: JsonObject, compaction: Json | undefined): EventActions {
  const { skipSummarization, escalate, endOfAgent } = actions;
  const some: JsonObject = omitUndefined({
    artifactDelta: readMember(actions['artifactDelta']),
    requestedAuthConfigs: readMember(actions['requestedAuthConfigs']),
    requestedToolConfirmations: readMember(actions['requestedToolConfirmations']),
    skipSummarization: readFlag(skipSummarization),
    escalate: readFlag(escalate),
    endOfAgent: readFlag(endOfAgent),
    // Stock ADK stored its own name of it earlier.
    transferToAgent: readText(actions['transferToAgent'] ?? actions['transferAgent']),
    rewindBeforeInvocationId: readText(actions['rewindBeforeInvocationId']),
    compaction: readMember(actions['compaction'] ?? compaction),
  });
  return createEventActions({
    ...some,
    stateDelta: validateStateDelta(readObject(actions['stateDelta'])),
  });
}

/** JSON of the API leaves out empty members, and clients may leave out the ids of calls. */
function completeCalls(content: JsonObject, eventId: string): JsonObject {
  const { parts } = content;
  if (!Array.isArray(parts)) return content;
  const complete = parts.map((part, index) => {
    if (!isJsonObject(part)) return part;
    const { functionCall: call, functionResponse: response } = part;
    const id = `${eventId}-${index}`;
    if (isJsonObject(call)) return { ...part, functionCall: { id, args: {}, ...call } };
    if (isJsonObject(response))
      return { ...part, functionResponse: { id, response: {}, ...response } };
    return part;
  });
  return { ...content, parts: complete };
}

function hasParts({ parts }: JsonObject): boolean {
  return Array.isArray(parts) && parts.length > 0;
}

function readObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function readMember(value: Json | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

function readText(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function readFlag(value: Json | undefined): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}
