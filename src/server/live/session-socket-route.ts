import { HttpError } from '../http/http-error.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { ClientSocket } from './client-socket.ts';
import { LIVE_PROTOCOL } from './live-messages.ts';
import { SocketCalls } from './socket-calls.ts';
import type { LiveServices, SocketRoute } from './socket-route.ts';

/** The WebSocket of a live session, `petrichor.live.v1`. Its key can be in its first message. */
export function sessionSocketRoute(
  context: ServerContext,
  { hub, slots, limits }: LiveServices,
): SocketRoute {
  const { clock, keys, keepAliveMs, readerTimeoutMs, onError } = context;
  const calls = new SocketCalls({ hub, slots, context, onError });
  context.closing.addEventListener('abort', () => calls.close(), { once: true });
  return {
    path: '/v1/sessions/{session_id}/live',
    messageBytes: limits.messageBytes,
    subprotocol: LIVE_PROTOCOL,
    check: async ({ url, params, authenticate }) => {
      const [parameter] = url.searchParams.keys();
      if (parameter !== undefined)
        throw new HttpError(
          400,
          `query.${parameter.slice(0, 64)}: is unknown. The URL has no parameters: send the key in the first message, because URLs are written to logs.`,
        );
      return (socket, events) =>
        new ClientSocket(socket, params('session_id'), {
          ...events,
          calls,
          clock,
          keepAliveMs,
          readerTimeoutMs,
          authenticate,
          isKeyValid: async (caller) => keys.isValid(caller),
        });
    },
  };
}
