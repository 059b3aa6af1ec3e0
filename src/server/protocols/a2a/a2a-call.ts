import type { JsonObject } from '../../../core/index.ts';
import { frameStream } from '../../events/frame-stream.ts';
import type { RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { A2aService } from './a2a-service.ts';

/** The version of A2A that a request without a version speaks. */
export const LEGACY_VERSION = '0.3';
/** The version of A2A that the server speaks. */
export const VERSION = '1.0';

/** A request to an agent, and the service that answers it. */
export interface A2aCall {
  readonly service: A2aService;
  readonly version: string;
  readonly lastEventId: string | null;
  /** Ends what the call waits for. It stops no task. */
  readonly stop: () => void;
}

/** Opens the service for a request. */
export function openCall(
  context: ServerContext,
  { caller, params, request }: RouteCall<unknown, unknown>,
): A2aCall {
  const stopped = new AbortController();
  const agentId = params('agent_id');
  const named = request.headers.get('a2a-version') ?? '';
  const version = named === '' ? LEGACY_VERSION : named;
  const signal = AbortSignal.any([request.signal, context.closing, stopped.signal]);
  const url = `${findBaseUrl(context, request)}/a2a/${encodeURIComponent(agentId)}`;
  return {
    service: new A2aService(context, { caller, agentId, signal, version }, url),
    version,
    lastEventId: request.headers.get('last-event-id'),
    stop: () => stopped.abort(),
  };
}

/** The address of the server with its base path: as configured, or as the request has it. */
export function findBaseUrl({ publicUrl }: ServerContext, request: Request): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '');
  const { origin, pathname } = new URL(request.url);
  return origin + pathname.replace(/\/(?:a2a|\.well-known)\/.*$/, '');
}

/** One event of a stream. */
export interface StreamEvent {
  readonly id: string;
  readonly data: JsonObject;
}

/** Streams events, of which the first is known. Disconnecting stops no task. */
export function eventResponse(
  context: ServerContext,
  { request, isKeyValid, destroyConnection }: RouteCall<unknown, unknown>,
  {
    events,
    stop,
  }: { readonly events: AsyncGenerator<StreamEvent, void, undefined>; readonly stop: () => void },
): Response {
  const { clock, closing, keepAliveMs, readerTimeoutMs } = context;
  return frameStream({
    frames: (signal) => toFrames(events, signal, stop),
    signals: [request.signal, closing],
    isAllowed: isKeyValid,
    clock,
    keepAliveMs,
    readerTimeoutMs,
    destroyConnection,
  });
}

async function* toFrames(
  events: AsyncGenerator<StreamEvent, void, undefined>,
  signal: AbortSignal,
  stop: () => void,
): AsyncGenerator<string, void, undefined> {
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const { id, data } of events) yield `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
  } finally {
    stop();
  }
}
