import { allOf, net, pure } from 'petrichor/net';
import type { Net } from 'petrichor/net';
import { utteranceBegan, utteranceEnded, voiceOpen, voiceStarted, voiceStopped } from './places.ts';

/** Makes utterances of the edges that a voice detector reports; an edge that repeats the last one says nothing new. */
export function vad(): Net {
  const open = pure('vad.open', {
    take: { utterance: voiceStarted },
    unless: [voiceOpen],
    give: allOf({ open: voiceOpen, began: utteranceBegan }),
    run: ({ utterance }) => ({ open: utterance, began: null }),
  });

  const close = pure('vad.close', {
    take: { edge: voiceStopped, utterance: voiceOpen },
    give: allOf({ ended: utteranceEnded }),
    run: ({ utterance }) => ({ ended: utterance }),
  });

  const startedAgain = pure('vad.started-again', {
    take: { edge: voiceStarted },
    read: { voiceOpen },
    give: allOf({}),
    run: () => ({}),
  });

  const stoppedAgain = pure('vad.stopped-again', {
    take: { edge: voiceStopped },
    unless: [voiceOpen],
    give: allOf({}),
    run: () => ({}),
  });

  return net('vad', {
    in: { voiceStarted, voiceStopped },
    out: { voiceOpen, utteranceBegan, utteranceEnded },
    transitions: [open, close, startedAgain, stoppedAgain],
  });
}
