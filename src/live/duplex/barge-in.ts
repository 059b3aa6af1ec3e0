import { conversation, eventOut, turnEnding } from '../../agents/index.ts';
import { agentMessageEvent } from '../../agents/internal.ts';
import type { ConversationItem } from '../../agents/index.ts';
import type { LogEntry } from '../../core/index.ts';
import { all, allOf, append, each, matching, net, pure, upTo } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { commandReady } from '../vocabulary/command-places.ts';
import { playOut } from '../vocabulary/play-outlet.ts';
import type { ActiveReply, ReplyText } from '../vocabulary/reply-places.ts';
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
import { audibleText } from './audible-text.ts';
import { SPEECH_PRIORITY } from './vad.ts';

/** How long a cut reply waits for the client's report of what it has played. */
const STOP_REPORT_MS = 300;

/** The conversation item and the event of a reply that was cut. Nothing if nobody heard a word of it. */
export function interruptedMessage(
  agentName: string,
  { invocationId }: Pick<ActiveReply, 'invocationId'>,
  text: string,
): { readonly said: readonly ConversationItem[]; readonly events: readonly LogEntry[] } {
  if (text === '') return { said: [], events: [] };
  const content = { role: 'model' as const, parts: [{ text }] };
  return {
    said: [{ invocationId, content }],
    events: [
      agentMessageEvent({ agentName }, invocationId, content, {
        finishReason: 'other',
        providerMetadata: { interrupted: 'true' },
      }),
    ],
  };
}

/**
 * Cuts a reply when the user begins to speak. The client has paused by itself at the edge of speech; here its audio is
 * dropped. The conversation keeps what was heard, not what was generated.
 */
export function bargeInNet({ agentName }: { readonly agentName: string }): Net {
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
      toTruncated(agentName, cut, texts, Math.max(cut.playedMs, stopped.playedMs)),
  });

  const truncateLate = pure('reply.truncate-late', {
    take: { cut: replyCut, texts: all(replyText, { min: 0 }) },
    after: STOP_REPORT_MS,
    give: truncated,
    run: ({ cut, texts }) => toTruncated(agentName, cut, texts, cut.playedMs),
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
    },
    out: { playWindow, replyCut, commandReady, playOut, turnEnding, conversation, eventOut },
    transitions: [
      bargeIn,
      interrupted,
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
  windows: readonly { readonly fromMs: number }[],
): {
  readonly windows: readonly null[];
  readonly cut: ActiveReply & { readonly playedMs: number };
  readonly command: { readonly kind: 'cut'; readonly reply: string; readonly conn: string };
  readonly play: { readonly kind: 'flush'; readonly reply: string };
} {
  const { reply, conn } = active;
  return {
    windows: windows.map(() => null),
    // Without a report of the client, the windows that it has not finished count as not played.
    cut: { ...active, playedMs: Math.min(...windows.map(({ fromMs }) => fromMs), MAX_PLAYED_MS) },
    command: { kind: 'cut', reply, conn },
    play: { kind: 'flush', reply },
  };
}

/** If no window is queued, everything was played. */
const MAX_PLAYED_MS = Number.MAX_SAFE_INTEGER;

function toTruncated(
  agentName: string,
  { conn, reply, invocationId }: ActiveReply,
  texts: readonly ReplyText[],
  playedMs: number,
): ReturnType<typeof interruptedMessage> & {
  readonly command: {
    readonly kind: 'truncate';
    readonly conn: string;
    readonly reply: string;
    readonly playedMs: number;
  };
  readonly ending: { readonly stopReason: 'interrupted' };
} {
  return {
    ...interruptedMessage(agentName, { invocationId }, audibleText(texts, playedMs)),
    command: { kind: 'truncate', conn, reply, playedMs },
    ending: { stopReason: 'interrupted' },
  };
}
