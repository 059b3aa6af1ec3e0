import type { JsonObject } from '../../core/index.ts';
import type { HttpError } from '../http/http-error.ts';
import type { LiveServices, SocketRoute } from '../live/socket-route.ts';
import type { HttpRoute } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { PushFormat } from '../webhooks/push-format.ts';

/**
 * A protocol of clients: routes that map requests to session verbs, and logs to responses. It keeps no conversation,
 * runs no agent, and imports no other protocol. The server does authentication, limits, bodies and idempotency.
 */
export interface Protocol {
  readonly name: string;
  readonly routes: (context: ServerContext) => readonly HttpRoute[];
  /** Its WebSockets, in a server with live sessions. Default: none. */
  readonly sockets?: (context: ServerContext, live: LiveServices) => readonly SocketRoute[];
  /** The body of an error response. Default: that of the Managed Agents protocol. */
  readonly toErrorBody?: (error: HttpError, requestId: string) => JsonObject;
  /** How it pushes progress to addresses that clients name. Default: it does not. */
  readonly pushFormat?: PushFormat;
}
