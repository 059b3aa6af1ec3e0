import { createEventActions, deriveEventId, newMessageId, toAdkSeconds } from '../../core/index.ts';
import type { Event, InvocationId, LogEventByType, Part, SessionUid } from '../../core/index.ts';
import { omitUndefined, toUsageMetadata } from '../../core/internal.ts';
import type { LiveMedia, LivePartial, OpenConnection } from '../../live/index.ts';
import type { LiveGoAwaySignal, LiveHandleSignal } from '../../live/index.ts';

/** Where an event of a live session belongs. */
export interface LiveEventContext {
  readonly invocationId: InvocationId;
  /** The agent that speaks. */
  readonly agentName: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The event of audio of the model. It is never stored. */
export function toAudioEvent(
  { data }: Pick<LiveMedia, 'data'>,
  { sampleRate }: OpenConnection['outputAudio'],
  context: LiveEventContext,
): Event {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
  const inlineData = { mimeType: `audio/pcm;rate=${sampleRate}`, data: bytes };
  return {
    ...toPartialEvent(context),
    author: context.agentName,
    content: { role: 'model', parts: [{ inlineData }] },
  };
}

/** The event of text or of a transcript in progress. It is never stored. */
export function toTextEvent(partial: LivePartial, context: LiveEventContext): Event {
  const event = toPartialEvent(context);
  const { text } = partial;
  const transcription = { text, finished: false };
  if (partial.kind === 'heard')
    return { ...event, author: 'user', inputTranscription: transcription };
  const author = context.agentName;
  if (partial.form === 'audio') return { ...event, author, outputTranscription: transcription };
  const part: Part = partial.form === 'thought' ? { text, thought: true } : { text };
  return { ...event, author, content: { role: 'model', parts: [part] } };
}

/** The event of a signal of the connection. It is never stored. */
export function toSignalEvent(
  signal: LiveGoAwaySignal | LiveHandleSignal,
  context: LiveEventContext,
): Event {
  const event = toPartialEvent(context);
  return signal.kind === 'handle'
    ? { ...event, liveSessionResumptionUpdate: { newHandle: signal.handle, resumable: true } }
    : { ...event, goAway: omitUndefined({ timeLeftMs: signal.timeLeftMs }) };
}

/** The last event of a turn. */
export function toTurnEndEvent(
  { seq, at, invocationId, stopReason, usage }: LogEventByType<'turn.ended'>,
  uid: SessionUid,
  agentName: string,
): Event {
  return {
    id: deriveEventId(uid, seq),
    timestamp: toAdkSeconds(at),
    invocationId: invocationId ?? '',
    author: agentName,
    actions: createEventActions(),
    turnComplete: true,
    ...omitUndefined({
      interrupted: stopReason === 'interrupted' ? true : undefined,
      stopReason: stopReason === 'budget_reached' ? stopReason : undefined,
      usageMetadata: usage && toUsageMetadata(usage),
    }),
  };
}

function toPartialEvent({ invocationId, agentName, now }: LiveEventContext): Event {
  return {
    id: newMessageId(),
    timestamp: toAdkSeconds(now),
    invocationId,
    author: agentName,
    actions: createEventActions(),
    partial: true,
  };
}
