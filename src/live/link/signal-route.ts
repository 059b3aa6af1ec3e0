import { omitUndefined } from '../../core/internal.ts';
import { all, allOf, oneOf, pure, running, upTo } from '../../net/index.ts';
import type { Effect, Transition } from '../../net/index.ts';
import { liveSignal, MAX_CANCELED_CALLS } from '../vocabulary/connection-signal.ts';
import type { ConnectionSignal } from '../vocabulary/connection-signal.ts';
import {
  linkClosed,
  linkGoAway,
  linkHandleArrived,
  linkUp,
  liveStale,
} from '../vocabulary/link-places.ts';
import type { StaleSignal } from '../vocabulary/link-places.ts';
import { signaledPlaces } from '../vocabulary/reply-places.ts';

/** A signal that is not used: its kind, and the reply that it belongs to. */
export function toStaleSignal({ kind, reply }: ConnectionSignal): StaleSignal {
  return { kind, ...omitUndefined({ reply }) };
}

/**
 * The only transition that takes signals of connections that are open: it puts each in the place of its kind. A signal
 * of a connection that is over, or of a reply of the next connection, is stale.
 */
export function routeSignal(): Transition {
  return pure('signal.route', {
    take: { signal: liveSignal },
    read: { links: all(linkUp) },
    give: oneOf({
      begun: signaledPlaces.replyBegun,
      segment: signaledPlaces.replySegment,
      transcript: signaledPlaces.utteranceTranscript,
      call: signaledPlaces.replyCalls,
      canceled: allOf({ canceled: upTo(MAX_CANCELED_CALLS, signaledPlaces.callCanceled) }),
      interrupted: signaledPlaces.replyInterrupted,
      done: signaledPlaces.replyDone,
      goAway: linkGoAway,
      handle: linkHandleArrived,
      closed: linkClosed,
      stale: liveStale,
    }),
    run: ({ signal, links }) => {
      const { conn, reply, text = '' } = signal;
      const link = links.findIndex((one) => one.conn === conn);
      const stale = { stale: toStaleSignal(signal) };
      if (link === -1) return stale;
      switch (signal.kind) {
        case 'closed':
          return { closed: { conn } };
        case 'handle':
          return signal.handle === undefined
            ? stale
            : {
                handle: {
                  handle: signal.handle,
                  ...omitUndefined({ agent: links[link]?.agent }),
                },
              };
        case 'go-away':
          return link === 0 ? { goAway: { conn } } : stale;
        case 'transcript': {
          const { utterance, part = 0 } = signal;
          return utterance === undefined ? stale : { transcript: { conn, utterance, part, text } };
        }
        case 'call-canceled':
          return { canceled: { canceled: (signal.callIds ?? []).map((callId) => ({ callId })) } };
        default:
      }
      // Until the swap only the connection that was opened first has replies.
      if (link > 0 || reply === undefined) return stale;
      const { window = 0, fromMs = 0, toMs = 0, playFromMs = fromMs } = signal;
      switch (signal.kind) {
        case 'begun':
          return { begun: { conn, reply, toMs } };
        case 'segment':
          return { segment: { reply, window, fromMs, toMs, text, playFromMs } };
        case 'call':
          return { call: { reply, calls: signal.calls ?? [] } };
        case 'interrupted':
          return { interrupted: { reply } };
        case 'done': {
          const { finishReason = 'other', usage } = signal;
          return { done: { reply, finishReason, ...omitUndefined({ usage }) } };
        }
        default:
          return signal.kind satisfies never;
      }
    },
  });
}

/** Drops signals while no connection is open or opening. While one opens, its first signals wait. */
export function dropSignal(open: Effect): Transition {
  return pure('signal.drop', {
    take: { signal: liveSignal },
    unless: [linkUp, running(open)],
    give: allOf({ stale: liveStale }),
    run: ({ signal }) => ({ stale: toStaleSignal(signal) }),
  });
}
