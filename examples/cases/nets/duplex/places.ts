import { outlet, place } from 'petrichor/net';
import type { Outlet, TokenPlace } from 'petrichor/net';
import { z } from 'zod';

/** What the user said, by name; the reply to it is called the same. */
export type UtteranceId = string;

/** One message of the live connection. */
export interface LiveMessage {
  readonly reply: UtteranceId;
  readonly kind: 'chunk' | 'tool' | 'done';
  /** Audio of a chunk, or the call of a tool. */
  readonly data: string;
}

export interface Recovery {
  readonly stage: 'nudge' | 'reconnect';
  readonly reply: UtteranceId;
}

const utterance = z.string();
const message = z.object({
  reply: z.string(),
  kind: z.enum(['chunk', 'tool', 'done']),
  data: z.string(),
});
const environment = { environment: true };

// Edges of the voice detector.
export const voiceStarted: TokenPlace<string> = place('voice.started', utterance, environment);
export const voiceStopped: TokenPlace<null> = place('voice.stopped', environment);
/** There while the user speaks. (Seed name: VOICE_ACTIVITY_OPEN.) */
export const voiceOpen: TokenPlace<string> = place('voice.open', utterance);

export const utteranceBegan: TokenPlace<null> = place('utterance.began');
/** The model was cut off, if it spoke: what else is of the utterance before must go. */
export const utteranceFresh: TokenPlace<null> = place('utterance.fresh');
export const utteranceEnded: TokenPlace<string> = place('utterance.ended', utterance);

/** Everything the live connection sends, late or not. */
export const liveIn: TokenPlace<LiveMessage> = place('live.in', message, environment);
/** The model was asked and has said nothing yet. */
export const replyAwaited: TokenPlace<string> = place('reply.awaited', utterance);
/** There while the model speaks. (Seed name: MODEL_ACTIVE.) */
export const modelActive: TokenPlace<string> = place('model.active', utterance);
/** A message of the reply that is under way. */
export const liveFresh: TokenPlace<LiveMessage> = place('live.fresh', message);
export const chunkReady: TokenPlace<string> = place('chunk.ready', z.string());
/** How many chunks may play at once. (Seed name: CHUNK_BUDGET.) */
export const chunkBudget: TokenPlace<null> = place('chunk.budget');
export const toolAsked: TokenPlace<string> = place('tool.requested', z.string());
export const replyDone: TokenPlace<null> = place('reply.done');

/** The clock of the first stage of recovery; its token is as old as the silence. */
export const silenceFirst: TokenPlace<string> = place('silence.first', utterance);
export const silenceSecond: TokenPlace<string> = place('silence.second', utterance);

export const speechOut: Outlet<string> = outlet('speech.out', z.string());
export const toolOut: Outlet<string> = outlet('tool.out', z.string());
export const staleOut: Outlet<LiveMessage> = outlet('live.stale', message);
/** The user cut the reply off: the connection is told to stop it. */
export const bargeOut: Outlet<string> = outlet('barge.out', utterance);
/** What the connection is to do about a silent model. */
export const recoveryOut: Outlet<Recovery> = outlet(
  'recovery.out',
  z.object({ stage: z.enum(['nudge', 'reconnect']), reply: z.string() }),
);
