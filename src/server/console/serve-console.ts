import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkOptions, InvalidInputError, optionTable } from '../../core/index.ts';
import { packageFile } from '../../core/internal.ts';
import type { OptionTable } from '../../core/index.ts';
import { compressedFiles } from '../http/compressed-files.ts';
import { listStaticFiles, toContentType } from '../http/static-files.ts';
import { ConsoleFilesMissingError } from './console-files-missing-error.ts';

/** Where the console is mounted, and which server it talks to. */
export interface ConsoleOptions {
  /** The path of the console, such as `/tools/console`. Default: `/console`. */
  readonly basePath?: string;
  /** The URL of the server, absolute or relative to the console. Default: one level above the console. */
  readonly serverUrl?: string;
  /** Hides everything that changes something. The server must refuse it itself: see its option `readOnly`. Default: false. */
  readonly readOnly?: boolean;
  /** Shows the form that starts proofs: for a server with the option `proofs`. Default: false. */
  readonly proofs?: boolean;
  /** The folder of the built console. Default: the one of this package. */
  readonly files?: string;
}

/** The options of `consoleHandler`. */
export const CONSOLE_OPTIONS: OptionTable = optionTable<ConsoleOptions>('consoleHandler', {
  basePath: true,
  serverUrl: true,
  readOnly: true,
  proofs: true,
  files: true,
});

/** Answers requests below the path of the console. */
export type ConsoleHandler = (request: Request) => Promise<Response>;

/**
 * Serves the developer console as static files. The handler works in any framework with web-standard requests. A path
 * without an extension gets the page, so that every state of the console has a URL.
 * @throws InvalidInputError for an invalid `basePath` or `serverUrl`
 * @throws ConsoleFilesMissingError if the console is not built
 */
export function consoleHandler(options: ConsoleOptions = {}): ConsoleHandler {
  checkOptions(CONSOLE_OPTIONS, options);
  const { serverUrl = '../', readOnly = false, proofs = false, files = packagedFolder() } = options;
  const mount = parseMount(options.basePath ?? '/console');
  const headers = securityHeaders(serverUrl);
  if (!existsSync(join(files, 'index.html'))) throw new ConsoleFilesMissingError(files);
  const found = listStaticFiles(files);
  const readCompressed = compressedFiles();
  // The page has its configuration in itself: a request for it would delay the first screen.
  const config = escapeAttribute(
    JSON.stringify({ server: serverUrl, read_only: readOnly, proofs }),
  );
  const head = `<base href="${mount}/" /><meta name="petrichor-config" content="${config}"`;
  return async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return new Response(null, { status: 405, headers: { ...headers, allow: 'GET, HEAD' } });
    const { pathname, search } = new URL(request.url);
    if (pathname === mount)
      return new Response(null, {
        status: 308,
        headers: { ...headers, location: `${mount}/${search}` },
      });
    const path = pathname.startsWith(`${mount}/`) ? pathname.slice(mount.length + 1) : undefined;
    if (path === undefined) return new Response(null, { status: 404, headers });
    const reply = (
      body: string | Uint8Array<ArrayBuffer>,
      more: Readonly<Record<string, string>>,
    ): Response =>
      new Response(request.method === 'HEAD' ? null : body, { headers: { ...headers, ...more } });
    // Only listed files are read, so no path leaves the folder.
    const file = path === 'index.html' ? undefined : found.get(path);
    if (file !== undefined) {
      const isAsset = path.startsWith('assets/');
      const more = {
        'content-type': toContentType(file),
        'cache-control': isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
      };
      // The name of an asset has the hash of its content.
      const { body, encoding } = isAsset
        ? await readCompressed(file, request.headers.get('accept-encoding'))
        : { body: new Uint8Array(await readFile(file)), encoding: {} };
      return reply(body, { ...more, ...encoding });
    }
    const last = path.slice(path.lastIndexOf('/') + 1);
    if (path !== 'index.html' && last.includes('.'))
      return new Response(null, { status: 404, headers });
    const page = await readFile(join(files, 'index.html'), 'utf8');
    const html = page.replace(/<base href="[^"]*"/, () => head);
    return reply(html, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
  };
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/** Where the build of the console writes its files. */
function packagedFolder(): string {
  return fileURLToPath(packageFile('dist/console'));
}

/** @throws InvalidInputError */
function parseMount(basePath: string): string {
  if (/^(?:\/[\w.~-]+)+$/.test(basePath)) return basePath;
  throw new InvalidInputError(
    'basePath',
    `must be a path such as /console, of letters, digits, and . _ ~ -, without a slash at its end; it is ${JSON.stringify(basePath)}.`,
  );
}

/** @throws InvalidInputError */
function securityHeaders(serverUrl: string): Readonly<Record<string, string>> {
  const base = URL.parse(serverUrl, 'http://same-origin.invalid/console/');
  if (base === null || !/^https?:$/.test(base.protocol))
    throw new InvalidInputError(
      'serverUrl',
      `must be an http(s) URL, or one relative to the console; it is ${JSON.stringify(serverUrl)}.`,
    );
  const isOwn = base.hostname === 'same-origin.invalid';
  return {
    'content-security-policy': [
      "default-src 'self'",
      "script-src 'self' 'wasm-unsafe-eval'",
      "img-src 'self' data: blob:",
      `connect-src 'self'${isOwn ? '' : ` ${base.origin}`}`,
      "worker-src 'self' blob:",
      "object-src 'none'",
      "base-uri 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}
