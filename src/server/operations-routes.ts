import type { Metrics } from './metrics.ts';
import { toOpenApi } from './openapi.ts';
import { defineRoute } from './route.ts';
import type { Route } from './route.ts';
import type { ServerParts } from './server-parts.ts';

/** What those ask who run a server: whether it works, what it does, and what it can be asked. */
export function operationsRoutes(
  { store }: Pick<ServerParts, 'store'>,
  routes: readonly Route[],
  metrics: Metrics | undefined,
): readonly Route[] {
  const own: readonly Route[] = [
    defineRoute('GET /health: Whether the server and its store work', {
      open: true,
      run: async () => {
        // It is asked for something, so that a store that cannot be read is noticed.
        await store.document('health', 'none');
        return { status: 'ok', durability: store.durability };
      },
    }),
    ...(metrics === undefined
      ? []
      : [
          defineRoute('GET /metrics: Numbers of the whole server, as Prometheus reads them', {
            scopes: ['metrics'],
            run: async () =>
              new Response(await metrics.text(store), {
                headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
              }),
          }),
        ]),
    defineRoute('GET /openapi.json: What this server can be asked', {
      open: true,
      run: async () => toOpenApi([...routes, ...own]),
    }),
  ];
  return own;
}
