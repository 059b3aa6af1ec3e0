import * as v from 'valibot';
import { HttpError } from '../http/http-error.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { toOpenApi } from '../routing/openapi.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import {
  documentResponse,
  healthResponse,
  livenessResponse,
  readinessResponse,
} from '../wire/responses/operator-responses.ts';

/** Routes for operators of the server: health, metrics, and the OpenAPI document. */
export function healthRoutes(
  { store, draining, runtime }: Pick<ServerContext, 'store' | 'draining' | 'runtime'>,
  routes: readonly HttpRoute[],
  metrics: Metrics | undefined,
): readonly HttpRoute[] {
  let document: ReturnType<typeof toOpenApi> | undefined;
  const own: readonly HttpRoute[] = [
    defineRoute('GET /health: Whether the server and its store work', {
      response: healthResponse,
      open: true,
      run: async () => {
        // A read, so that an unreadable store is noticed.
        await store.document('health', 'none');
        return { status: 'ok' as const, durability: store.durability };
      },
    }),
    defineRoute('GET /health/live: Whether the process of the server answers', {
      response: livenessResponse,
      open: true,
      run: async () => ({ status: 'ok' as const }),
    }),
    defineRoute('GET /health/ready: Whether the server accepts requests of all kinds', {
      response: readinessResponse,
      open: true,
      run: async () => {
        if (draining.aborted)
          throw new HttpError(503, 'The server is about to stop. Use another one.', {
            retryAfterSeconds: 1,
          });
        await store.document('health', 'none');
        return { status: 'ready' as const };
      },
    }),
    ...(metrics === undefined
      ? []
      : [
          defineRoute('GET /metrics: Numbers of the whole server, as Prometheus reads them', {
            response: v.string(),
            scopes: ['metrics'],
            run: async () =>
              new Response(await metrics.text(store, async () => runtime.runtime.quotas()), {
                headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
              }),
          }),
        ]),
    defineRoute('GET /openapi.json: The routes of this server', {
      response: documentResponse,
      open: true,
      run: async () => (document ??= toOpenApi([...routes, ...own])),
    }),
  ];
  return own;
}
