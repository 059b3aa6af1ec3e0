import { InvalidInputError } from '../../core/index.ts';
import { parseAllowedHosts } from '../../egress/index.ts';
import { HttpError } from './http-error.ts';

/** Which hosts and origins a server accepts beside its own. */
export interface OriginGuardOptions {
  readonly allowHosts?: readonly string[] | undefined;
  readonly allowOrigins?: readonly string[] | undefined;
}

/**
 * Protects a server that needs no key from web pages. A browser on the server's machine reaches it for every page that
 * it shows, so the request itself must show where it comes from: `Host` is a name of this machine or a configured one
 * (a page whose name resolves to this machine sends its own), and the page, if there is one, is of the same origin or
 * of a configured one.
 */
export class OriginGuard {
  readonly #isAllowedHost: (url: URL) => boolean;
  readonly #origins: ReadonlySet<string>;

  /** @throws InvalidInputError for an entry that is not a host, or not an origin */
  constructor({ allowHosts = [], allowOrigins = [] }: OriginGuardOptions) {
    this.#isAllowedHost = parseAllowedHosts(allowHosts);
    this.#origins = new Set(allowOrigins.map(parseOrigin));
  }

  allowsOrigin(origin: string): boolean {
    return this.#origins.has(origin);
  }

  /** @throws HttpError 403 */
  check(request: Request): void {
    const host = request.headers.get('host') ?? new URL(request.url).host;
    if (!this.#isOwnHost(host) || !this.#isOwnHost(new URL(request.url).host))
      throw new HttpError(
        403,
        `Host ${quoted(host)} is not accepted while no API key is needed: use localhost or 127.0.0.1, or start the server with --allow-host (createServer: allowHosts).`,
        { details: { error_code: 'host_not_allowed' } },
      );
    const origin = request.headers.get('origin');
    if (origin !== null) {
      if (this.#origins.has(origin) || isSameOrigin(origin, host)) return;
      throw crossOriginError(`Origin ${quoted(origin)}`);
    }
    // A browser leaves Origin out of plain reads, and tells here whose page reads.
    const site = request.headers.get('sec-fetch-site');
    if (site === 'cross-site' || site === 'same-site')
      throw crossOriginError(`A page of another origin (Sec-Fetch-Site ${quoted(site)})`);
  }

  #isOwnHost(host: string): boolean {
    if (!/^(\[[0-9a-f:.]+\]|[^\s/?#@:[\]\\%]+)(:\d{1,5})?$/i.test(host)) return false;
    const url = URL.parse(`http://${host}`);
    if (url === null) return false;
    const name = url.hostname.replace(/\.$/, '');
    if (name === 'localhost' || name.endsWith('.localhost') || name === '[::1]') return true;
    // The URL parser lets nothing but an address end in a number.
    if (/^127(\.\d{1,3}){3}$/.test(name)) return true;
    if (this.#isAllowedHost(url)) return true;
    url.port = '';
    return this.#isAllowedHost(url);
  }
}

/** The page was served by this server, directly or through something that speaks TLS. */
function isSameOrigin(origin: string, host: string): boolean {
  const url = URL.parse(origin);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.origin === origin && url.host === URL.parse(`${url.protocol}//${host}`)?.host;
}

function crossOriginError(what: string): HttpError {
  return new HttpError(
    403,
    `${what} is not accepted while no API key is needed: start the server with --allow-origin (createServer: allowOrigins) to let its pages call.`,
    { details: { error_code: 'origin_not_allowed' } },
  );
}

function parseOrigin(origin: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@A-Z*]+$/.test(origin)) return origin;
  throw new InvalidInputError(
    'allowOrigins',
    `${quoted(origin)} is not an origin such as https://app.example: scheme, host and port, in small letters, without a path.`,
  );
}

function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 128));
}
