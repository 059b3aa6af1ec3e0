import {
  conversation,
  eventOut,
  interruptIn,
  turnEnding,
  turnStopping,
} from '../../agents/index.ts';
import type { StopReason } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import { all, allOf, append, each, matching, net, pure, upTo } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { commandReady } from '../vocabulary/command-places.ts';
import { playOut } from '../vocabulary/play-outlet.ts';
import type {
  ActiveReply,
  CutReply,
  DoneReply,
  PlaybackStop,
  PlayWindow,
  ReplyText,
} from '../vocabulary/reply-places.ts';
import {
  modelActive,
  playbackStopped,
  playQueued,
  playWindow,
  replyAwaited,
  replyCalls,
  replyCut,
  replyDone,
  replyInterrupted,
  replySegment,
  replyText,
  silenceFirst,
  silenceSecond,
  voiceOpen,
  voiceStarted,
} from '../vocabulary/reply-places.ts';
import type { Speaker } from '../vocabulary/speaker.ts';
import { audibleText, isAudible, toRest } from './audible-text.ts';
import { interruptedMessage } from './interrupted-message.ts';
import { SPEECH_PRIORITY } from './vad.ts';

/** How long a cut reply waits for the client's report of what it has played. */
const STOP_REPORT_MS = 300;
/** A reply is cut before its turn is stopped, so that its turn ends with what was heard. */
const STOP_PRIORITY = 101;

/**
 * Cuts a reply when the user begins to speak. The client has paused by itself at the edge of speech; here its audio is
 * dropped. The conversation keeps what was heard, not what was generated.
 */
export function bargeInNet({ speakers }: { readonly speakers: readonly Speaker[] }): Net {
  const cut = {
    active: modelActive,
    queued: all(playQueued, { min: 0 }),
    done: all(replyDone, { min: 0 }),
  } as const;
  const cutOutputs = {
    windows: each('queued', playWindow),
    rest: each('done', replyText),
    cut: replyCut,
    play: playOut,
  } as const;
  const cutReply = {
    reset: [silenceFirst, silenceSecond, replyCalls, replySegment, replyInterrupted],
    give: allOf(cutOutputs),
  } as const;

  const bargeIn = pure('barge.in', {
    ...cutReply,
    take: { edge: voiceStarted, ...cut },
    unless: [voiceOpen],
    priority: SPEECH_PRIORITY,
    give: allOf({ ...cutOutputs, open: voiceOpen }),
    run: ({ edge: { utterance, playing }, ...reply }) => ({
      ...toCut(reply, { playing }),
      open: { utterance },
    }),
  });

  // The server noticed the user's speech first.
  const interrupted = pure('barge.interrupted', {
    ...cutReply,
    take: { interrupted: replyInterrupted, ...cut },
    run: (reply) => toCut(reply),
  });

  // An interrupt and an archive end the reply as speech does: the turn ends when it is known what was heard.
  const interrupt = pure('reply.interrupt', {
    ...cutReply,
    take: {
      ...cut,
      interrupt: matching(interruptIn, ({ invocationId }) => invocationId),
      active: matching(modelActive, ({ invocationId }) => invocationId),
    },
    priority: STOP_PRIORITY,
    run: (reply) => toCut(reply),
  });

  const stop = pure('reply.stop', {
    ...cutReply,
    take: { stopping: turnStopping, ...cut },
    priority: STOP_PRIORITY,
    run: ({ stopping, ...reply }) => toCut(reply, { stopReason: stopping.stopReason }),
  });

  // It comes before the next reply begins, which it would cut.
  const interruptedLate = pure('barge.interrupted-late', {
    take: { interrupted: replyInterrupted },
    unless: [modelActive],
    priority: SPEECH_PRIORITY,
    give: allOf({}),
    run: () => ({}),
  });

  const early = pure('barge.early', {
    take: { edge: voiceStarted, awaited: replyAwaited },
    unless: [voiceOpen],
    reset: [silenceFirst, silenceSecond],
    priority: SPEECH_PRIORITY,
    give: allOf({ open: voiceOpen, command: commandReady, ending: turnEnding }),
    run: ({ edge, awaited: { conn } }) => ({
      open: edge,
      command: { kind: 'cut' as const, conn },
      ending: { stopReason: 'interrupted' as const },
    }),
  });

  const truncated = allOf({
    said: append(conversation),
    events: upTo(1, eventOut),
    play: playOut,
    ending: turnEnding,
  });
  const truncate = pure('reply.truncate', {
    take: {
      cut: matching(replyCut, ({ reply }) => reply),
      stopped: matching(playbackStopped, ({ reply }) => reply),
      texts: all(replyText, { min: 0 }),
    },
    give: truncated,
    run: ({ cut, stopped: { playedMs, rest = [] }, texts }) => {
      const { reply } = cut;
      const all = [...texts, ...rest.map((one) => ({ ...one, reply }))];
      return toTruncated(speakers, cut, all, Math.max(cut.playedMs, playedMs));
    },
  });

  const truncateLate = pure('reply.truncate-late', {
    take: { cut: replyCut, texts: all(replyText, { min: 0 }) },
    after: STOP_REPORT_MS,
    give: truncated,
    run: ({ cut, texts }) => toTruncated(speakers, cut, texts, cut.playedMs),
  });

  const stray = pure('playback.stopped-late', {
    take: { stopped: playbackStopped },
    unless: [replyCut],
    give: allOf({}),
    run: () => ({}),
  });

  return net('barge-in', {
    in: {
      voiceStarted,
      modelActive,
      replyAwaited,
      playQueued,
      replyText,
      replyDone,
      replyCalls,
      replySegment,
      replyInterrupted,
      silenceFirst,
      silenceSecond,
      playbackStopped,
      interruptIn,
      turnStopping,
    },
    out: {
      voiceOpen,
      playWindow,
      replyCut,
      replyText,
      commandReady,
      playOut,
      turnEnding,
      conversation,
      eventOut,
    },
    transitions: [
      bargeIn,
      interrupted,
      interrupt,
      stop,
      interruptedLate,
      early,
      truncate,
      truncateLate,
      stray,
    ],
  });
}

function toCut(
  {
    active,
    queued,
    done,
  }: {
    readonly active: ActiveReply;
    readonly queued: readonly PlayWindow[];
    readonly done: readonly DoneReply[];
  },
  {
    stopReason,
    playing,
  }: {
    readonly stopReason?: StopReason;
    readonly playing?: PlaybackStop | undefined;
  } = {},
): {
  readonly windows: readonly null[];
  readonly rest: readonly ReplyText[];
  readonly cut: CutReply;
  readonly play: { readonly kind: 'flush'; readonly reply: string };
} {
  const { reply } = active;
  return {
    windows: queued.map(() => null),
    rest: toRest(active, done),
    // Without a report of the client, the windows that it has not finished count as not played.
    cut: {
      ...active,
      playedMs: Math.max(
        certainlyPlayedMs(queued, done),
        playing?.reply === reply ? playing.playedMs : 0,
      ),
      ...omitUndefined({ stopReason }),
    },
    play: { kind: 'flush', reply },
  };
}

/**
 * The audio of a reply that was certainly played, in milliseconds. If no window is queued, and its end has released no
 * audio, everything was.
 */
export function certainlyPlayedMs(
  windows: readonly PlayWindow[],
  done: readonly DoneReply[],
): number {
  return Math.min(
    ...windows.map(({ fromMs }) => fromMs),
    ...done.map(({ playFromMs }) => playFromMs ?? Number.MAX_SAFE_INTEGER),
    Number.MAX_SAFE_INTEGER,
  );
}

function toTruncated(
  speakers: readonly Speaker[],
  active: CutReply,
  texts: readonly ReplyText[],
  playedMs: number,
): ReturnType<typeof interruptedMessage> & {
  readonly play: {
    readonly kind: 'truncate';
    readonly reply: string;
    readonly playedMs: number;
  };
  readonly ending: { readonly stopReason: StopReason };
} {
  const { reply, stopReason = 'interrupted' } = active;
  const audible = audibleText(texts, playedMs);
  return {
    ...interruptedMessage(speakers, active, audible, isAudible(texts)),
    play: { kind: 'truncate', reply, playedMs },
    ending: { stopReason },
  };
}
