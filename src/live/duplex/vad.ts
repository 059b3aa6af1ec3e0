import { all, allOf, each, net, pure } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { playOut } from '../vocabulary/play-outlet.ts';
import {
  modelActive,
  playQueued,
  playWindow,
  replyAwaited,
  utteranceEnded,
  voiceLost,
  voiceOpen,
  voiceStarted,
  voiceStopped,
} from '../vocabulary/reply-places.ts';

/** Speech comes before everything else of its moment. */
export const SPEECH_PRIORITY = 30;

/**
 * Makes utterances of the edges of a voice activity detector. Speech that interrupts a reply is that of `barge.in`. An
 * edge that repeats the last one begins no utterance; the client, which paused at the edge, plays on.
 */
export function vadNet(): Net {
  const open = pure('vad.open', {
    take: { edge: voiceStarted, queued: all(playQueued, { min: 0 }) },
    unless: [voiceOpen, modelActive, replyAwaited],
    priority: SPEECH_PRIORITY,
    // Audio from before a call of a tool may still be playing.
    give: allOf({ open: voiceOpen, windows: each('queued', playWindow), play: playOut }),
    run: ({ edge, queued }) => ({
      open: edge,
      windows: queued.map(() => null),
      play: { kind: queued.length === 0 ? ('resume' as const) : ('flush' as const) },
    }),
  });

  const ignored = pure('vad.ignored', {
    take: { edge: voiceStarted, open: voiceOpen },
    give: allOf({ open: voiceOpen, play: playOut }),
    // The transcripts that follow name the newest edge.
    run: ({ edge }) => ({ open: edge, play: { kind: 'resume' as const } }),
  });

  // The utterance waits for its turn, unless `speech.start` takes the edge.
  const close = pure('vad.close', {
    take: { edge: voiceStopped, open: voiceOpen },
    priority: -1,
    give: allOf({ ended: utteranceEnded }),
    run: ({ open: utterance }) => ({ ended: utterance }),
  });

  const lost = pure('vad.lost', {
    take: { lost: voiceLost, open: voiceOpen },
    give: allOf({}),
    run: () => ({}),
  });

  const again = [
    { name: 'vad.stopped-again', edge: voiceStopped },
    { name: 'vad.lost-again', edge: voiceLost },
  ].map(({ name, edge }) =>
    pure(name, {
      take: { edge },
      unless: [voiceOpen, voiceStarted],
      give: allOf({}),
      run: () => ({}),
    }),
  );

  return net('vad', {
    in: { voiceStarted, voiceStopped, voiceLost, modelActive, replyAwaited, playQueued },
    out: { voiceOpen, utteranceEnded, playWindow, playOut },
    transitions: [open, ignored, close, lost, ...again],
  });
}
