import { all, allOf, each, net, pure, running } from 'petrichor/net';
import type { Effect, Net } from 'petrichor/net';
import {
  bargeOut,
  chunkBudget,
  chunkReady,
  liveFresh,
  modelActive,
  replyDone,
  utteranceBegan,
  utteranceFresh,
  voiceOpen,
} from './places.ts';

/** Goes before everything else of its moment: after it there is nothing left to say. */
export const BARGE_IN_PRIORITY = 100;

/**
 * Who begins to speak while the model does cuts it off: what plays is stopped and its permits come back, what was to be
 * played is dropped, in one firing.
 */
export function bargeIn({ play }: { readonly play: Effect }): Net {
  const cutOff = pure('barge.in', {
    take: {
      began: utteranceBegan,
      reply: modelActive,
      playing: all(running(play), { min: 0 }),
    },
    read: { voiceOpen },
    reset: [liveFresh, chunkReady, replyDone],
    give: allOf({
      fresh: utteranceFresh,
      permits: each('playing', chunkBudget),
      cut: bargeOut,
    }),
    priority: BARGE_IN_PRIORITY,
    run: ({ reply, playing }) => ({ fresh: null, permits: playing.map(() => null), cut: reply }),
  });

  const nothingToCut = pure('barge.none', {
    take: { began: utteranceBegan },
    unless: [modelActive],
    give: allOf({ fresh: utteranceFresh }),
    priority: BARGE_IN_PRIORITY,
    run: () => ({ fresh: null }),
  });

  return net('barge-in', {
    in: { utteranceBegan, voiceOpen, modelActive, liveFresh, chunkReady, replyDone },
    out: { utteranceFresh, chunkBudget, bargeOut },
    transitions: [cutOff, nothingToCut],
  });
}
