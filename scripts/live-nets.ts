import { bargeInNet } from '../src/live/duplex/barge-in.ts';
import { recoveryNet } from '../src/live/duplex/recovery.ts';
import { replyNet } from '../src/live/duplex/reply.ts';
import { vadNet } from '../src/live/duplex/vad.ts';
import { linkNet } from '../src/live/link/link-net.ts';
import { ScriptedLive } from '../src/live/models/scripted/scripted-live.ts';
import { soleSpeaker } from '../src/live/vocabulary/speaker.ts';
import { compile, compose } from '../src/net/index.ts';
import { diagram } from './shipped-nets.ts';
import type { Diagram } from './shipped-nets.ts';

/** The pictures of the subnets of a live session. Outlets and the conversation are left out. */
export function liveDiagrams(): readonly Diagram[] {
  const speakers = [soleSpeaker('assistant')];
  const link = compile(
    linkNet({
      findTarget: async () => ({ model: new ScriptedLive({ turns: [] }), request: {} }),
      backoffMs: () => 0,
    }).net,
  );
  const duplex = compile(
    compose('duplex', {
      nets: [
        vadNet(),
        bargeInNet({ speakers }),
        replyNet({ speakers, linkBudget: 1 }),
        recoveryNet(),
      ],
    }),
  );
  const without = (place: string): boolean =>
    ['event.out', 'conversation', 'state', 'live.stale', 'play.out'].includes(place);
  const isLate = (t: string): boolean => /late|again|stray|settled/.test(t);
  return [
    diagram('live-link', link, {
      only: (t) => t.startsWith('link.') && !isLate(t) && !/link\.(end|stop|keep|forget)/.test(t),
      without,
    }),
    diagram('live-reply', duplex, {
      only: (t) => /^(reply|playback)\./.test(t) && !isLate(t) && !/abandon|truncate/.test(t),
      without: (place) => without(place) || place === 'command.ready',
    }),
    diagram('live-barge-in', duplex, {
      only: (t) => /^(vad|barge|recovery)\.|truncate/.test(t) && !isLate(t),
      without: (place) => without(place) || place === 'command.ready',
    }),
  ];
}
