import { InvalidInputError } from '../../../core/index.ts';
import { LiveRecorder } from '../../../adk/internal.ts';
import type { Caller } from '../../auth/api-keys.ts';
import { toSessionRef } from '../../events/session-log.ts';
import { HttpError } from '../../http/http-error.ts';
import type { LiveServices, SocketRoute } from '../../live/socket-route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { findApp } from './adk-app.ts';
import { findAdkSession, toEventContext } from './adk-session.ts';
import { parseRunLiveQuery } from './live-request.ts';
import { RunLiveSocket } from './run-live-socket.ts';
import type { OpenedLiveSession } from './run-live-socket.ts';

/** ADK's `/run_live`: a live session over a WebSocket, with requests and events in JSON. */
export function runLiveRoute(context: ServerContext, live: LiveServices): SocketRoute {
  const { clock, keys, keepAliveMs, readerTimeoutMs } = context;
  return {
    path: '/run_live',
    messageBytes: live.limits.bodyBytes,
    check: async ({ url, authenticate }) => {
      const caller = await authenticate();
      return (socket, events) =>
        new RunLiveSocket(socket, caller, {
          ...events,
          context,
          live,
          clock,
          keepAliveMs,
          readerTimeoutMs,
          isKeyValid: async (one) => keys.isValid(one),
          open: async () => open(context, live, caller, url.searchParams),
        });
    },
  };
}

/** @throws HttpError 403 for a recording that is not allowed, 404; InvalidInputError for a parameter */
async function open(
  context: ServerContext,
  { mayRecord }: LiveServices,
  caller: Caller,
  parameters: URLSearchParams,
): Promise<OpenedLiveSession> {
  const { app, user, session: id, config } = parseRunLiveQuery(parameters);
  await findApp(context, caller.workspace, app).catch((error: unknown) => {
    if (!(error instanceof HttpError) || error.status !== 404) throw error;
    throw new InvalidInputError('query.app_name', 'names no app. GET /list-apps lists the apps.');
  });
  const adk = await findAdkSession(context, caller, { app, user, session: id });
  const { runtime } = context.runtime;
  const found = await runtime.find(id, { user: toSessionRef(adk.session).userId });
  if (found === undefined) throw new HttpError(404, `There is no session "${id}".`);
  const { artifacts } = runtime;
  if (config.saveLiveBlob && artifacts === undefined)
    throw new InvalidInputError(
      'query.save_live_blob',
      'needs the option artifacts of the runtime.',
    );
  if (config.saveLiveBlob && !(await mayRecord(found.key)))
    throw new HttpError(
      403,
      'This live session may not be recorded: see liveRecordings of the server. Leave out save_live_blob.',
    );
  return {
    adk,
    session: found,
    config,
    eventContext: toEventContext(adk),
    recorder:
      config.saveLiveBlob && artifacts !== undefined
        ? new LiveRecorder({ artifacts, session: found.key, clock: context.clock })
        : undefined,
  };
}
