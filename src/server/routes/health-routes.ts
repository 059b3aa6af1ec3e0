import * as v from 'valibot';
import type { Metrics } from '../metrics/metrics.ts';
import { toOpenApi } from '../routing/openapi.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { documentResponse, healthResponse } from '../wire/responses/operator-responses.ts';

/** Routes for operators of the server: health, metrics, and the OpenAPI document. */
export function healthRoutes(
  { store }: Pick<ServerContext, 'store'>,
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
    ...(metrics === undefined
      ? []
      : [
          defineRoute('GET /metrics: Numbers of the whole server, as Prometheus reads them', {
            response: v.string(),
            scopes: ['metrics'],
            run: async () =>
              new Response(await metrics.text(store), {
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
