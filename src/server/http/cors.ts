import type { OriginGuard } from './origin-guard.ts';

// Not hono's cors(): it sends its headers to every origin, answers a preflight of another origin with 204 instead of
// 403, and has no `*` for a preflight without `access-control-request-headers`.

/** The response to a preflight request: 204 for a configured origin, 403 for any other. */
export function preflightResponse({ headers }: Request, guard: OriginGuard): Response {
  const origin = headers.get('origin') ?? '';
  if (!guard.allowsOrigin(origin)) return new Response(null, { status: 403 });
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
      'access-control-allow-headers': headers.get('access-control-request-headers') ?? '*',
      'access-control-max-age': '600',
      vary: 'origin',
    },
  });
}

/** Adds the headers that let a page of a configured origin read the response. */
export function addCorsHeaders({ headers }: Request, response: Response, guard: OriginGuard): void {
  const origin = headers.get('origin');
  if (origin === null || !guard.allowsOrigin(origin)) return;
  response.headers.set('access-control-allow-origin', origin);
  response.headers.set('access-control-expose-headers', 'request-id, retry-after');
  response.headers.append('vary', 'origin');
}
