import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PetrichorError } from '../../../core/index.ts';
import { listStaticFiles, toContentType } from '../../http/static-files.ts';

/**
 * The files of ADK's web interface are not in the folder.
 * @remedy Run `npm install @google/adk-devtools`, with the overrides of docs/protocols/adk.md, and pass the folder
 *   `dist/browser` of that package.
 */
export class AdkWebFilesMissingError extends PetrichorError {
  override readonly code = 'adk_web_files_missing' as const;

  constructor(folder: string) {
    super(
      `ADK's web interface is not in ${folder}: it has no index.html. Run npm install @google/adk-devtools.`,
    );
  }
}

const MOUNT = '/dev-ui';

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "frame-ancestors 'none'; object-src 'none'",
  'cache-control': 'no-cache',
};

/**
 * Serves ADK's web interface below `/dev-ui/`, from the user's installation of `@google/adk-devtools`. It calls the
 * server that it comes from.
 * @param folder its `dist/browser`
 * @throws AdkWebFilesMissingError
 */
export function adkWebHandler(folder: string): (request: Request) => Promise<Response> {
  if (!existsSync(join(folder, 'index.html'))) throw new AdkWebFilesMissingError(folder);
  const files = listStaticFiles(folder);
  return async ({ url, method }) => {
    if (method !== 'GET' && method !== 'HEAD')
      return new Response(null, { status: 405, headers: { ...HEADERS, allow: 'GET, HEAD' } });
    const { pathname, search } = new URL(url);
    const path = pathname.startsWith(`${MOUNT}/`) ? pathname.slice(MOUNT.length + 1) : undefined;
    if (path === undefined) {
      const headers = { ...HEADERS, location: `${MOUNT}/${search}` };
      return new Response(null, { status: 307, headers });
    }
    const reply = (body: string | Uint8Array<ArrayBuffer>, type: string): Response =>
      new Response(method === 'HEAD' ? null : body, {
        headers: { ...HEADERS, 'content-type': type },
      });
    // The installation may be configured for another server.
    if (path === 'assets/config/runtime-config.json')
      return reply(JSON.stringify({ backendUrl: '' }), 'application/json');
    // Only listed files are read, so no path leaves the folder.
    const file = files.get(path) ?? (path.includes('.') ? undefined : join(folder, 'index.html'));
    if (file === undefined) return new Response(null, { status: 404, headers: HEADERS });
    return reply(new Uint8Array(await readFile(file)), toContentType(file));
  };
}
