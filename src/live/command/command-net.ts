import { conversation } from '../../agents/index.ts';
import { all, allOf, effect, net } from '../../net/index.ts';
import type { Effect, Net } from '../../net/index.ts';
import { commandReady } from '../vocabulary/command-places.ts';
import { linkUp } from '../vocabulary/link-places.ts';
import { getLiveHost } from '../vocabulary/live-host.ts';

const SEND_TIMEOUT_MS = 5_000;

/** The subnet that sends commands, and its effect. */
export interface CommandNet {
  readonly net: Net;
  readonly send: Effect;
}

/**
 * Sends commands to the connection and the client, one after the other. A command that was not sent is not sent again:
 * its connection is over, and what the connection was asked is asked again on the next one (`reply.requeue`).
 */
export function commandNet(): CommandNet {
  const send = effect('command.send', {
    take: { command: commandReady },
    read: { links: all(linkUp, { min: 0 }), conversation },
    concurrency: 1,
    timeoutMs: SEND_TIMEOUT_MS,
    onCrash: 'unknown',
    give: allOf({}),
    failed: () => ({}),
    run: async ({ command, links, conversation: items }, { host }) => {
      await getLiveHost(host).sendCommand({ command, links, conversation: items });
      return {};
    },
  });
  return {
    send,
    net: net('command', {
      in: { commandReady, linkUp, conversation },
      transitions: [send],
    }),
  };
}
