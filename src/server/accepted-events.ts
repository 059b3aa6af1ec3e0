import { answerIn, interruptIn, userIn } from '../agents/places.ts';
import { isJsonObject } from '../core/index.ts';
import type { JsonObject, Seq } from '../core/index.ts';
import { blocksOfContent } from '../managed/content-blocks.ts';
import { outcomeIn } from '../managed/nets/session-places.ts';
import type { ManagedSession } from '../managed/index.ts';
import { acceptedInputs, lastSeqBefore } from '../runtime/accepted-inputs.ts';
import type { AcceptedInput } from '../runtime/accepted-inputs.ts';
import { parseContent } from '../core/index.ts';
import type { ServerParts } from './server-parts.ts';
import { faceOf, keyOf } from './session-log.ts';
import { toWireContent, toWireResult, wireEventId } from './wire-event.ts';
import type { WireEvent } from './wire-event.ts';
import {
  aboutCall,
  aboutConfirmation,
  aboutInterrupt,
  aboutMessage,
  aboutOutcome,
  aboutResult,
} from './wire-face.ts';
import type { WireFace } from './wire-face.ts';

/**
 * The events of a session that were accepted and are not processed, in the order they were accepted in. Read before the
 * log: one that is processed meanwhile is in the log then, under the same id.
 */
export async function acceptedEvents(
  parts: ServerParts,
  session: ManagedSession,
): Promise<readonly WireEvent[]> {
  const { face, uid } = await faceOf(parts, session);
  const events = new Map<string, WireEvent>();
  for (const input of await waitingInputs(parts, session)) {
    const shown = await shownInput(face, uid, input);
    if (shown !== undefined && !events.has(shown.id)) events.set(shown.id, shown);
  }
  return [...events.values()];
}

/** Where a reader goes on who has seen an event that is not processed: after what the log said when it was accepted. */
export async function acceptedSince(
  parts: ServerParts,
  session: ManagedSession,
  id: string,
): Promise<Seq | undefined> {
  const { face, uid } = await faceOf(parts, session);
  for (const input of await waitingInputs(parts, session)) {
    if ((await shownInput(face, uid, input))?.id !== id) continue;
    return input.record === undefined
      ? ((await parts.store.find(keyOf(session)))?.lastSeq ?? 0)
      : lastSeqBefore(parts.store, keyOf(session), input.record);
  }
  return undefined;
}

async function waitingInputs(
  { store }: ServerParts,
  session: ManagedSession,
): Promise<readonly AcceptedInput[]> {
  return acceptedInputs(store, { key: keyOf(session) }, [outcomeIn.name]);
}

/** An input as the event that a client sent; undefined for what no client sends. */
async function shownInput(
  face: WireFace,
  uid: string,
  { place, value }: AcceptedInput,
): Promise<WireEvent | undefined> {
  const shown = isJsonObject(value) ? await eventIn(face, uid, place, value) : undefined;
  if (shown === undefined) return undefined;
  const { about, type, fields = {} } = shown;
  return { id: wireEventId(uid, about), type, seq: 0, ...fields, processed_at: null };
}

interface SentEvent {
  readonly about: string;
  readonly type: string;
  readonly fields?: JsonObject;
}

async function eventIn(
  face: WireFace,
  uid: string,
  place: string,
  value: JsonObject,
): Promise<SentEvent | undefined> {
  const { messageId, invocationId, content, outcomeId } = value;
  switch (place) {
    case userIn.name:
      // The message that an outcome begins with is the server's own.
      return typeof messageId !== 'string' || messageId.startsWith('outcome:')
        ? undefined
        : {
            about: aboutMessage(messageId),
            type: 'user.message',
            fields: { content: toWireContent(blocksOfContent(parseContent(content))) },
          };
    case interruptIn.name:
      return typeof invocationId !== 'string'
        ? undefined
        : { about: aboutInterrupt(invocationId), type: 'user.interrupt' };
    case outcomeIn.name: {
      const {
        description = '',
        rubric = description,
        maxIterations: max_iterations = null,
      } = value;
      return typeof outcomeId !== 'string'
        ? undefined
        : {
            about: aboutOutcome(outcomeId),
            type: 'user.define_outcome',
            fields: {
              outcome_id: outcomeId,
              description,
              rubric: { type: 'text', content: rubric },
              max_iterations,
            },
          };
    }
    case answerIn.name:
      return answerEvent(face, uid, value);
    default:
      return undefined;
  }
}

async function answerEvent(
  face: WireFace,
  uid: string,
  value: JsonObject,
): Promise<SentEvent | undefined> {
  const { callId, decision, message, response = null, isError = false } = value;
  if (typeof callId !== 'string' || value['isUpdate'] === true) return undefined;
  const id = wireEventId(uid, aboutCall(callId));
  if (decision !== 'answered')
    return {
      about: aboutConfirmation(callId),
      type: 'user.tool_confirmation',
      fields: {
        tool_use_id: id,
        result: decision === 'approved' ? 'allow' : 'deny',
        ...(message !== undefined && { deny_message: message }),
      },
    };
  const isCustom = (await face.call(callId))?.origin?.kind === 'custom';
  return {
    about: aboutResult(callId),
    type: isCustom ? 'user.custom_tool_result' : 'user.tool_result',
    fields: {
      [isCustom ? 'custom_tool_use_id' : 'tool_use_id']: id,
      content: toWireResult(response),
      is_error: isError,
    },
  };
}
