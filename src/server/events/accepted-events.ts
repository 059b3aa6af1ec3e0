import { omitUndefined } from '../../core/internal.ts';
import { interruptIn, answerIn, userIn } from '../../agents/index.ts';
import { isJsonObject } from '../../core/index.ts';
import { parseContent } from '../../core/index.ts';
import type { JsonObject, Seq } from '../../core/index.ts';
import type { ManagedSession } from '../../managed/index.ts';
import { outcomeIn, outcomeNext, outcomeWaiting } from '../../agents/internal.ts';
import { toContentBlocks } from '../../managed/internal.ts';
import { listAcceptedInputs, lastSeqBefore, type AcceptedInput } from '../../runtime/internal.ts';
import type { ServerContext } from '../routing/server-context.ts';
import {
  callKey,
  confirmationKey,
  interruptKey,
  messageKey,
  outcomeKey,
  resultKey,
} from '../wire/event-keys.ts';
import { isCustomCall } from '../wire/custom-call.ts';
import type { EventProjection } from '../wire/event-projection.ts';
import { toWireContent, toWireResult, wireEventId } from '../wire/wire-event.ts';
import type { ProjectedEvent } from '../wire/project-event.ts';
import type { WireEvent } from '../wire/wire-event.ts';
import { openProjection, toSessionKey } from './session-log.ts';

/**
 * The accepted, unprocessed events of a session, in the order of acceptance. Read them before the log: an event that is
 * processed meanwhile is then in the log, under the same id.
 */
export async function listAcceptedEvents(
  context: ServerContext,
  session: ManagedSession,
): Promise<readonly WireEvent[]> {
  const { projection, uid } = openProjection(context, session);
  const events = new Map<string, WireEvent>();
  for (const input of await listPendingInputs(context, session)) {
    const acceptedEvent = await toAcceptedEvent(projection, uid, input);
    if (acceptedEvent !== undefined && !events.has(acceptedEvent.id))
      events.set(acceptedEvent.id, acceptedEvent);
  }
  return [...events.values()];
}

/**
 * Where to resume after an accepted, unprocessed event: after the last log entry before it was accepted. Returns
 * undefined for an unknown id.
 */
export async function findResumeSeq(
  context: ServerContext,
  session: ManagedSession,
  id: string,
): Promise<Seq | undefined> {
  const { projection, uid } = openProjection(context, session);
  for (const input of await listPendingInputs(context, session)) {
    if ((await toAcceptedEvent(projection, uid, input))?.id !== id) continue;
    return input.record === undefined
      ? ((await context.store.find(toSessionKey(session)))?.lastSeq ?? 0)
      : lastSeqBefore(context.store, toSessionKey(session), input.record);
  }
  return undefined;
}

async function listPendingInputs(
  { store }: ServerContext,
  session: ManagedSession,
): Promise<readonly AcceptedInput[]> {
  return listAcceptedInputs(store, { key: toSessionKey(session) }, [
    outcomeIn,
    outcomeWaiting,
    outcomeNext,
  ]);
}

/** Converts an input to the event that a client sent. Returns undefined for inputs that clients do not send. */
async function toAcceptedEvent(
  projection: EventProjection,
  uid: string,
  { place, value }: AcceptedInput,
): Promise<WireEvent | undefined> {
  const acceptedEvent = isJsonObject(value)
    ? await toSentEvent(projection, uid, place, value)
    : undefined;
  if (acceptedEvent === undefined) return undefined;
  const { key, type, fields } = acceptedEvent;
  const id = wireEventId(uid, key);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- SentEvent pairs each type with its fields
  return { id, type, seq: 0, ...fields, processed_at: null } as WireEvent;
}

type SentEvent = ProjectedEvent & { readonly key: string };

async function toSentEvent(
  projection: EventProjection,
  uid: string,
  place: string,
  value: JsonObject,
): Promise<SentEvent | undefined> {
  const { messageId, invocationId, content, outcomeId } = value;
  switch (place) {
    case userIn.name:
      // The server itself adds the first message of an outcome.
      return typeof messageId !== 'string' || messageId.startsWith('outcome:')
        ? undefined
        : {
            key: messageKey(messageId),
            type: 'user.message',
            fields: { content: toWireContent(toContentBlocks(parseContent(content))) },
          };
    case interruptIn.name:
      return typeof invocationId !== 'string'
        ? undefined
        : { key: interruptKey(invocationId), type: 'user.interrupt' };
    // An outcome waits behind messages in places of its own.
    case outcomeIn.name:
    case outcomeWaiting.name:
    case outcomeNext.name: {
      const { description = '', rubric = description, maxIterations } = value;
      const isOutcome =
        typeof outcomeId === 'string' &&
        typeof description === 'string' &&
        typeof rubric === 'string' &&
        typeof maxIterations === 'number';
      if (!isOutcome) return undefined;
      return {
        key: outcomeKey(outcomeId),
        type: 'user.define_outcome',
        fields: {
          outcome_id: outcomeId,
          description,
          rubric: { type: 'text', content: rubric },
          max_iterations: maxIterations,
        },
      };
    }
    case answerIn.name:
      return toAnswerEvent(projection, uid, value);
    default:
      return undefined;
  }
}

async function toAnswerEvent(
  projection: EventProjection,
  uid: string,
  value: JsonObject,
): Promise<SentEvent | undefined> {
  const { callId, decision, message, response = null, isError } = value;
  if (typeof callId !== 'string' || value['isUpdate'] === true) return undefined;
  const id = wireEventId(uid, callKey(callId));
  if (decision !== 'answered')
    return {
      key: confirmationKey(callId),
      type: 'user.tool_confirmation',
      fields: {
        tool_use_id: id,
        result: decision === 'approved' ? 'allow' : 'deny',
        ...omitUndefined({ deny_message: typeof message === 'string' ? message : undefined }),
      },
    };
  const call = await projection.findCall(callId);
  const isCustom = call !== undefined && isCustomCall(call);
  const key = resultKey(callId);
  const result = { content: toWireResult(response), is_error: isError === true };
  return isCustom
    ? { key, type: 'user.custom_tool_result', fields: { custom_tool_use_id: id, ...result } }
    : { key, type: 'user.tool_result', fields: { tool_use_id: id, ...result } };
}
