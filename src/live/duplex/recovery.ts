import { allOf, net, pure } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { commandReady } from '../vocabulary/command-places.ts';
import { linkChanged, linkUp, linkWanted, toAttempt } from '../vocabulary/link-places.ts';
import {
  modelActive,
  replyAwaited,
  replyBegun,
  silenceFirst,
  silenceSecond,
  voiceOpen,
} from '../vocabulary/reply-places.ts';

const NUDGE_AFTER_MS = 3_000;
const RECONNECT_AFTER_MS = 3_000;

/**
 * What to do about a model that was asked and stays silent: after three seconds it is nudged, three seconds later the
 * connection is made anew and the model asked again. Neither happens while somebody speaks.
 */
export function recoveryNet(): Net {
  const nudge = pure('recovery.nudge', {
    take: { silence: silenceFirst },
    read: { awaited: replyAwaited },
    after: NUDGE_AFTER_MS,
    unless: [modelActive, voiceOpen, replyBegun],
    give: allOf({ silence: silenceSecond, command: commandReady }),
    run: ({ awaited: { conn } }) => ({
      silence: null,
      command: { kind: 'nudge' as const, conn },
    }),
  });

  const reconnect = pure('recovery.reconnect', {
    take: { silence: silenceSecond, link: linkUp },
    after: RECONNECT_AFTER_MS,
    unless: [modelActive, voiceOpen, replyBegun, linkWanted],
    give: allOf({ wanted: linkWanted, command: commandReady, changed: linkChanged }),
    run: ({ link }) => ({
      wanted: { ...toAttempt(link), attempt: 1 },
      command: { kind: 'close' as const, conn: link.conn },
      changed: null,
    }),
  });

  return net('silence-recovery', {
    in: { silenceFirst, replyAwaited, replyBegun, modelActive, voiceOpen, linkUp },
    out: { silenceSecond, linkWanted, linkChanged, commandReady },
    transitions: [nudge, reconnect],
  });
}
