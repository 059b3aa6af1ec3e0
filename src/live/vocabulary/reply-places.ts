import * as v from 'valibot';
import { STOP_REASONS } from '../../core/index.ts';
import type { FinishReason, StopReason, Usage } from '../../core/index.ts';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import type { LiveCall } from '../models/live-signal.ts';
import { count, id, signalSchema, smallJson, text } from './signal-schema.ts';

const environment = { environment: true, version: 1 } as const;

/** An edge of voice activity (VAD). */
export interface SpeechEdge {
  /** Names the utterance: an edge of start begins a new one, an edge of stop has that of its start. */
  readonly utterance: string;
  /** Of an edge of start: what was audible of the reply that is playing, as far as the client has reported it. */
  readonly playing?: PlaybackStop | undefined;
}
const edgeSchema = signalSchema<SpeechEdge>({
  utterance: id,
  playing: v.optional(v.strictObject({ reply: id, playedMs: count })),
});

/** The user begins to speak. */
export const voiceStarted: TokenPlace<SpeechEdge> = place('voice.started', edgeSchema, environment);
/** The user stops speaking. */
export const voiceStopped: TokenPlace<SpeechEdge> = place('voice.stopped', edgeSchema, environment);
/** Nobody knows when the user stops speaking, because the connection was lost. The utterance begins no turn. */
export const voiceLost: TokenPlace<SpeechEdge> = place('voice.lost', edgeSchema, environment);
/** Present while the user speaks. */
export const voiceOpen: TokenPlace<SpeechEdge> = place('voice.open', edgeSchema, { version: 1 });
/** An utterance that waits for its turn. */
export const utteranceEnded: TokenPlace<SpeechEdge> = place('utterance.ended', edgeSchema, {
  version: 1,
});

/** The transcript of an utterance, or of a part of it. */
export interface Transcript {
  /** The connection whose model has the speech. */
  readonly conn: string;
  readonly utterance: string;
  /** Distinguishes several transcripts of one utterance. */
  readonly part: number;
  readonly text: string;
}
/** The transcript of an utterance that is not in the conversation yet. */
export const utteranceTranscript: TokenPlace<Transcript> = place(
  'utterance.transcript',
  signalSchema<Transcript>({ conn: id, utterance: id, part: count, text }),
  environment,
);

/** A request for a reply over the live connection. */
export interface AwaitedReply {
  readonly conn: string;
  readonly invocationId: string;
  readonly round: number;
  /** The agent that replies. Absent in a session of one agent. */
  readonly agent?: string | undefined;
}
const awaitedFields = { conn: id, invocationId: id, round: count, agent: v.optional(id) };
const awaitedSchema = signalSchema<AwaitedReply>(awaitedFields);
/** The model was asked, and its reply has not begun. */
export const replyAwaited: TokenPlace<AwaitedReply> = place('reply.awaited', awaitedSchema, {
  version: 1,
});

/** A reply that is under way. */
export interface ActiveReply extends AwaitedReply {
  readonly reply: string;
}
const activeSchema = signalSchema<ActiveReply>({ ...awaitedFields, reply: id });
/** Present while the model speaks. */
export const modelActive: TokenPlace<ActiveReply> = place('model.active', activeSchema, {
  version: 1,
});

/** A reply that was cut. */
export interface CutReply extends ActiveReply {
  /** Audio that was certainly played, in milliseconds from the beginning of the reply. */
  readonly playedMs: number;
  /** How its turn ends. Default: interrupted. */
  readonly stopReason?: StopReason | undefined;
}
/** A reply that was cut, until it is known how much of it was heard. */
export const replyCut: TokenPlace<CutReply> = place(
  'reply.cut',
  signalSchema<CutReply>({
    ...awaitedFields,
    reply: id,
    playedMs: count,
    stopReason: v.optional(v.picklist(STOP_REASONS)),
  }),
  { version: 1 },
);

/** A reply, by its id, which is unique in the session: `<connection>/<the provider's id>`. */
export interface ReplyRef {
  readonly reply: string;
}

/** A part of a reply, from `fromMs` to `toMs` of its audio. */
export interface ReplyText extends ReplyRef {
  readonly fromMs: number;
  readonly toMs: number;
  readonly text: string;
}
/** The text of the reply that is under way, as far as its audio was released to the client. */
export const replyText: TokenPlace<ReplyText> = place(
  'reply.text',
  signalSchema<ReplyText>({ reply: id, fromMs: count, toMs: count, text }),
  { version: 1 },
);

/** A part of a reply's audio that the client may play. */
export interface PlayWindow {
  readonly reply: string;
  /** 0 for the first window of a reply. */
  readonly window: number;
  readonly fromMs: number;
  readonly toMs: number;
}
/** Permits for audio that is queued at the client. */
export const playWindow: TokenPlace<null> = place('play.window');
/** The windows of audio that are queued at the client or playing. */
export const playQueued: TokenPlace<PlayWindow> = place(
  'play.queued',
  signalSchema<PlayWindow>({ reply: id, window: count, fromMs: count, toMs: count }),
  { version: 1 },
);

/** The client has played a window to its end. */
export interface PlaybackMark {
  readonly reply: string;
  readonly window: number;
}
/** Playback marks: the client reports that it has played a window. */
export const playbackMark: TokenPlace<PlaybackMark> = place(
  'playback.mark',
  signalSchema<PlaybackMark>({ reply: id, window: count }),
  environment,
);

/** The client has played a whole reply that made no calls. */
export const playbackEnded: TokenPlace<ReplyRef> = place(
  'playback.ended',
  signalSchema<ReplyRef>({ reply: id }),
  environment,
);

/** The client has dropped a reply's audio. */
export interface PlaybackStop {
  readonly reply: string;
  /** Audio that was played, in milliseconds from the beginning of the reply. */
  readonly playedMs: number;
}
/** How much of a cut reply was played, with its text that is in no other signal. */
export interface CutPlayback extends PlaybackStop {
  /** Default: none. */
  readonly rest?: readonly Omit<ReplyText, 'reply'>[] | undefined;
}
/** The client reports how much of a cut reply it has played. */
export const playbackStopped: TokenPlace<CutPlayback> = place(
  'playback.stopped',
  signalSchema<CutPlayback>({
    reply: id,
    playedMs: count,
    rest: v.optional(
      v.pipe(
        v.array(v.strictObject({ fromMs: count, toMs: count, text })),
        v.maxLength(8),
        v.readonly(),
      ),
    ),
  }),
  environment,
);

/** A reply that has begun. */
export interface BegunReply extends ReplyRef {
  readonly conn: string;
  /** The length of its first window of audio, in milliseconds. */
  readonly toMs: number;
}
/** A reply has begun, and was not accepted yet. */
export const replyBegun: TokenPlace<BegunReply> = place(
  'reply.begun',
  signalSchema<BegunReply>({ conn: id, reply: id, toMs: count }),
  environment,
);

/** Text of a reply, and the next window of its audio. */
export interface ReplySegment extends ReplyText {
  readonly window: number;
  /** The beginning of the window, in milliseconds of the reply's audio. Default: `fromMs`. */
  readonly playFromMs?: number | undefined;
}
/** Text and audio that wait for a permit of `play.window`. */
export const replySegment: TokenPlace<ReplySegment> = place(
  'reply.segment',
  signalSchema<ReplySegment>({
    reply: id,
    fromMs: count,
    toMs: count,
    text,
    window: count,
    playFromMs: v.optional(count),
  }),
  environment,
);

/** Calls of a reply. */
export interface ReplyCalls extends ReplyRef {
  readonly calls: readonly LiveCall[];
}
/** Calls of a reply that is not done yet. */
export const replyCalls: TokenPlace<ReplyCalls> = place(
  'reply.calls',
  signalSchema<ReplyCalls>({
    reply: id,
    calls: v.pipe(v.array(smallJson<LiveCall>()), v.maxLength(1_000), v.readonly()),
  }),
  environment,
);

/** The server has cut a reply. */
export const replyInterrupted: TokenPlace<ReplyRef> = place(
  'reply.interrupted',
  signalSchema<ReplyRef>({ reply: id }),
  environment,
);

const finishReasons = ['stop', 'tool_calls', 'max_tokens', 'refusal', 'other'] as const;

/** The end of a reply. */
export interface DoneReply extends ReplyRef {
  readonly finishReason: FinishReason;
  readonly usage?: Usage | undefined;
  /** The last text of the reply, and the part of its audio that it belongs to. Default: no more text. */
  readonly rest?: Omit<ReplyText, 'reply'> | undefined;
  /** Where the audio begins that no window has: it is released with the end. Default: the windows have all of it. */
  readonly playFromMs?: number | undefined;
}
/** A reply has ended; its audio may still be playing. */
export const replyDone: TokenPlace<DoneReply> = place(
  'reply.done',
  signalSchema<DoneReply>({
    reply: id,
    finishReason: v.picklist(finishReasons),
    usage: v.optional(smallJson<Usage>()),
    rest: v.optional(v.strictObject({ fromMs: count, toMs: count, text })),
    playFromMs: v.optional(count),
  }),
  environment,
);

/** The clock of the first stage of silence recovery; its token is as old as the silence. */
export const silenceFirst: TokenPlace<null> = place('silence.first');
/** The clock of the second stage of silence recovery. */
export const silenceSecond: TokenPlace<null> = place('silence.second');

/** A call whose result the model no longer wants. */
export interface CanceledCall {
  readonly callId: string;
}
/** Calls whose results the model no longer wants. */
export const callCanceled: TokenPlace<CanceledCall> = place(
  'call.canceled',
  signalSchema<CanceledCall>({ callId: id }),
  environment,
);
/** Calls whose results the model no longer wants, by their ids in the session. */
export const callUnwanted: TokenPlace<CanceledCall> = place(
  'call.unwanted',
  signalSchema<CanceledCall>({ callId: id }),
  { version: 1 },
);
