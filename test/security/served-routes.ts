import assert from 'node:assert/strict';
import { request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { fetchDocument } from '../server/openapi-document.ts';
import type { DocumentOperation } from '../server/openapi-document.ts';

/** One route of a server, from its OpenAPI document. */
export interface ServedRoute {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentOperation;
}

export interface RawReply {
  readonly status: number;
  readonly text: string;
}

/** All routes of a server, from its OpenAPI document, so that new routes are included. */
export async function servedRoutes(url: string): Promise<readonly ServedRoute[]> {
  const document = await fetchDocument(url);
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([word, operation]) => {
      const method = word.toUpperCase();
      return { name: `${method} ${path}`, method, path, operation };
    }),
  );
  assert.ok(routes.length > 35, `${routes.length} routes`);
  return routes;
}

/** Replaces the parameters of a path by ids. */
export function pathWith(path: string, ids: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(ids[name] ?? `${name}_none`),
  );
}

/** Sends exactly these headers. `fetch` would set `host`, `origin` and others itself. */
export async function rawRequest(
  url: string,
  method: string,
  {
    path,
    headers = {},
    body = '',
  }: {
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  },
): Promise<RawReply> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<RawReply>();
  const outgoing = request({ hostname, port, path, method, headers }, (reply) => {
    const { statusCode: status = 0 } = reply;
    // An event stream does not end, so its headers are enough.
    if (reply.headers['content-type']?.startsWith('text/event-stream') === true) {
      reply.destroy();
      resolve({ status, text: '' });
    } else textOf(reply).then((text) => resolve({ status, text }), reject);
  });
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}
