import { allOf, net, pure } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { playOut } from '../vocabulary/play-outlet.ts';
import {
  utteranceBegan,
  utteranceEnded,
  voiceOpen,
  voiceStarted,
  voiceStopped,
} from '../vocabulary/reply-places.ts';

/** Speech comes before everything else of its moment. */
export const SPEECH_PRIORITY = 30;

/**
 * Makes utterances of the edges of a voice activity detector. An edge that repeats the last one begins no utterance; the
 * client, which paused at the edge, plays on.
 */
export function vadNet(): Net {
  const open = pure('vad.open', {
    take: { edge: voiceStarted },
    unless: [voiceOpen],
    priority: SPEECH_PRIORITY,
    give: allOf({ open: voiceOpen, began: utteranceBegan }),
    run: ({ edge }) => ({ open: edge, began: null }),
  });

  const ignored = pure('vad.ignored', {
    take: { edge: voiceStarted },
    read: { open: voiceOpen },
    give: allOf({ play: playOut }),
    run: () => ({ play: { kind: 'resume' as const } }),
  });

  const close = pure('vad.close', {
    take: { edge: voiceStopped, open: voiceOpen },
    give: allOf({ ended: utteranceEnded }),
    run: ({ open: utterance }) => ({ ended: utterance }),
  });

  const stoppedAgain = pure('vad.stopped-again', {
    take: { edge: voiceStopped },
    unless: [voiceOpen, voiceStarted],
    give: allOf({}),
    run: () => ({}),
  });

  return net('vad', {
    in: { voiceStarted, voiceStopped },
    out: { voiceOpen, utteranceBegan, utteranceEnded, playOut },
    transitions: [open, ignored, close, stoppedAgain],
  });
}
