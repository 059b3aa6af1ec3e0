import { compose, initialToken } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { commandNet } from '../command/command-net.ts';
import { bargeInNet } from '../duplex/barge-in.ts';
import { callCancelNet } from '../duplex/call-cancel.ts';
import { recoveryNet } from '../duplex/recovery.ts';
import { PLAY_WINDOWS, replyNet } from '../duplex/reply.ts';
import { speechTurnNet } from '../duplex/speech-turn.ts';
import { vadNet } from '../duplex/vad.ts';
import { LINK_BUDGET } from '../link/link-net.ts';
import { playWindow } from '../vocabulary/reply-places.ts';
import type { Speaker } from '../vocabulary/speaker.ts';

/** Options of the nets of a live session. */
export interface LiveNetOptions {
  /** The agents that speak. */
  readonly speakers: readonly Speaker[];
  /** The subnet of the connection. */
  readonly link: Net;
  /** How often the model may be called again after tools, in one turn. For a session of one agent. */
  readonly reaskBudget: number;
  /** The most transfers of one turn. Default: the agents cannot transfer. */
  readonly maxTransfers?: number | undefined;
}

/** The nets of a live session beside those of every agent. */
export function liveNet({ speakers, link, reaskBudget, maxTransfers }: LiveNetOptions): Net {
  const nets = [
    link,
    vadNet(),
    bargeInNet({ speakers }),
    replyNet({ speakers, linkBudget: LINK_BUDGET }),
    recoveryNet(),
    speechTurnNet({ speakers, reaskBudget, maxTransfers }),
    callCancelNet({ speakers }),
    commandNet().net,
  ];
  return compose('live', {
    in: Object.assign({}, ...nets.map((net) => net.in)),
    out: Object.assign({}, ...nets.map((net) => net.out)),
    nets,
    initial: [initialToken(playWindow, null, PLAY_WINDOWS)],
  });
}
