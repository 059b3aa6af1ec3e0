import { allOf, net, pure, upTo } from '../../net/index.ts';
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
    take: { edge: voiceStarted, open: voiceOpen },
    give: allOf({ open: voiceOpen, play: playOut }),
    // The transcripts that follow name the newest edge.
    run: ({ edge }) => ({ open: edge, play: { kind: 'resume' as const } }),
  });

  const close = pure('vad.close', {
    take: { edge: voiceStopped, open: voiceOpen },
    give: allOf({ ended: upTo(1, utteranceEnded) }),
    run: ({ edge, open: utterance }) => ({ ended: edge.isLost === true ? [] : [utterance] }),
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
