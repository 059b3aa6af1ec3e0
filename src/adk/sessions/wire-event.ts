import { isOpaquePart } from '../../core/index.ts';
import type { Content, Event, Json, JsonObject, OpaquePart, Part } from '../../core/index.ts';
import { omitUndefined, toAdkParts } from '../../core/internal.ts';
import { toCamelKeys } from './wire-content.ts';

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
    const isCredential = name === 'adk_request_credential';
    return { functionCall: { id, name, args: isCredential ? toCamelKeys(args) : args } };
  }
  if ('functionResponse' in part) {
    const { id, name, response } = part.functionResponse;
    return { functionResponse: { id, name, response } };
  }
  return { ...part };
}
