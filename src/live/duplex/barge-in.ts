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
import type { ActiveReply, CutReply, PlayWindow, ReplyText } from '../vocabulary/reply-places.ts';
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
  utteranceBegan,
} from '../vocabulary/reply-places.ts';
import type { Speaker } from '../vocabulary/speaker.ts';
import { audibleText, isAudible } from './audible-text.ts';
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
  const queued = { queued: all(playQueued, { min: 0 }) } as const;
  const cutReply = {
    reset: [silenceFirst, silenceSecond, replyDone, replyCalls, replySegment, replyInterrupted],
    give: allOf({
      windows: each('queued', playWindow),
      cut: replyCut,
      command: commandReady,
      play: playOut,
    }),
  } as const;

  const bargeIn = pure('barge.in', {
    ...cutReply,
    take: { began: utteranceBegan, active: modelActive, ...queued },
    priority: SPEECH_PRIORITY,
    run: ({ active, queued: windows }) => toCut(active, windows),
  });

  // The server noticed the user's speech first.
  const interrupted = pure('barge.interrupted', {
    ...cutReply,
    take: { interrupted: replyInterrupted, active: modelActive, ...queued },
    run: ({ active, queued: windows }) => toCut(active, windows),
  });

  // An interrupt and an archive end the reply as speech does: the turn ends when it is known what was heard.
  const interrupt = pure('reply.interrupt', {
    ...cutReply,
    take: {
      interrupt: matching(interruptIn, ({ invocationId }) => invocationId),
      active: matching(modelActive, ({ invocationId }) => invocationId),
      ...queued,
    },
    priority: STOP_PRIORITY,
    run: ({ active, queued: windows }) => toCut(active, windows),
  });

  const stop = pure('reply.stop', {
    ...cutReply,
    take: {
      stopping: turnStopping,
      active: modelActive,
      ...queued,
    },
    priority: STOP_PRIORITY,
    run: ({ stopping, active, queued: windows }) => toCut(active, windows, stopping.stopReason),
  });

  const interruptedLate = pure('barge.interrupted-late', {
    take: { interrupted: replyInterrupted },
    unless: [modelActive],
    give: allOf({}),
    run: () => ({}),
  });

  const early = pure('barge.early', {
    take: { began: utteranceBegan, awaited: replyAwaited },
    reset: [silenceFirst, silenceSecond],
    priority: SPEECH_PRIORITY,
    give: allOf({ command: commandReady, ending: turnEnding }),
    run: ({ awaited: { conn } }) => ({
      command: { kind: 'cut' as const, conn },
      ending: { stopReason: 'interrupted' as const },
    }),
  });

  const none = pure('barge.none', {
    take: { began: utteranceBegan, ...queued },
    unless: [modelActive, replyAwaited],
    priority: SPEECH_PRIORITY,
    // Audio from before a call of a tool may still be playing.
    give: allOf({ windows: each('queued', playWindow), play: playOut }),
    run: ({ queued: windows }) => ({
      windows: windows.map(() => null),
      play: { kind: windows.length === 0 ? ('resume' as const) : ('flush' as const) },
    }),
  });

  const truncated = allOf({
    said: append(conversation),
    events: upTo(1, eventOut),
    command: commandReady,
    ending: turnEnding,
  });
  const truncate = pure('reply.truncate', {
    take: {
      cut: matching(replyCut, ({ reply }) => reply),
      stopped: matching(playbackStopped, ({ reply }) => reply),
      texts: all(replyText, { min: 0 }),
    },
    give: truncated,
    run: ({ cut, stopped, texts }) =>
      toTruncated(speakers, cut, texts, Math.max(cut.playedMs, stopped.playedMs)),
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
      utteranceBegan,
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
    out: { playWindow, replyCut, commandReady, playOut, turnEnding, conversation, eventOut },
    transitions: [
      bargeIn,
      interrupted,
      interrupt,
      stop,
      interruptedLate,
      early,
      none,
      truncate,
      truncateLate,
      stray,
    ],
  });
}

function toCut(
  active: ActiveReply,
  windows: readonly PlayWindow[],
  stopReason?: StopReason,
): {
  readonly windows: readonly null[];
  readonly cut: CutReply;
  readonly command: { readonly kind: 'cut'; readonly reply: string; readonly conn: string };
  readonly play: { readonly kind: 'flush'; readonly reply: string };
} {
  const { reply, conn } = active;
  return {
    windows: windows.map(() => null),
    // Without a report of the client, the windows that it has not finished count as not played.
    cut: { ...active, playedMs: certainlyPlayedMs(windows), ...omitUndefined({ stopReason }) },
    command: { kind: 'cut', reply, conn },
    play: { kind: 'flush', reply },
  };
}

/** The audio of a reply that was certainly played, in milliseconds. If no window is queued, everything was. */
export function certainlyPlayedMs(windows: readonly PlayWindow[]): number {
  return Math.min(...windows.map(({ fromMs }) => fromMs), Number.MAX_SAFE_INTEGER);
}

function toTruncated(
  speakers: readonly Speaker[],
  active: CutReply,
  texts: readonly ReplyText[],
  playedMs: number,
): ReturnType<typeof interruptedMessage> & {
  readonly command: {
    readonly kind: 'truncate';
    readonly conn: string;
    readonly reply: string;
    readonly playedMs: number;
  };
  readonly ending: { readonly stopReason: StopReason };
} {
  const { conn, reply, stopReason = 'interrupted' } = active;
  const audible = audibleText(texts, playedMs);
  return {
    ...interruptedMessage(speakers, active, audible, isAudible(texts)),
    command: { kind: 'truncate', conn, reply, playedMs },
    ending: { stopReason },
  };
}
