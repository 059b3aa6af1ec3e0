import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFile } from '../../core/internal.ts';
import { toContentType } from '../http/static-files.ts';
import { LivePageFilesMissingError } from './live-page-files-missing-error.ts';

/** The page runs its own scripts, calls its own server, and uses the microphone. Nothing else. */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'permissions-policy': 'microphone=(self), camera=(), geolocation=()',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * Serves the page of live sessions below a path.
 * @throws LivePageFilesMissingError if the page is not built
 */
export function livePageHandler(
  mount: string,
  folder: string = fileURLToPath(packageFile('dist/live-page')),
): (request: Request) => Promise<Response> {
  const assets = join(folder, 'assets');
  if (!existsSync(join(folder, 'index.html')) || !existsSync(assets))
    throw new LivePageFilesMissingError(folder);
  // Only listed files are read, so no path leaves the folder.
  const files = new Map([
    ['', join(folder, 'index.html')],
    ...readdirSync(assets).map((name) => [`assets/${name}`, join(assets, name)] as const),
  ]);
  return async ({ url, method }) => {
    if (method !== 'GET' && method !== 'HEAD')
      return new Response(null, { status: 405, headers: { ...HEADERS, allow: 'GET, HEAD' } });
    const { pathname } = new URL(url);
    if (pathname === mount)
      return new Response(null, { status: 308, headers: { ...HEADERS, location: `${mount}/` } });
    const file = files.get(pathname.slice(mount.length + 1));
    if (file === undefined) return new Response(null, { status: 404, headers: HEADERS });
    const body = method === 'HEAD' ? null : new Uint8Array(await readFile(file));
    return new Response(body, {
      headers: { ...HEADERS, 'content-type': toContentType(file), 'cache-control': 'no-cache' },
    });
  };
}
