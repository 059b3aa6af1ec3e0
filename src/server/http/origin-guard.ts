import { InvalidInputError } from '../../core/index.ts';
import { parseAllowedHosts } from '../../egress/index.ts';
import { HttpError } from './http-error.ts';

/** Hosts and origins that a server accepts besides its own. */
export interface OriginGuardOptions {
  readonly allowHosts?: readonly string[] | undefined;
  readonly allowOrigins?: readonly string[] | undefined;
}

/**
 * Protects a server without API keys from web pages. A browser on the server's machine can reach it on behalf of any
 * page, so the request itself must show where it comes from. `Host` must be a name of this machine or a configured one:
 * with DNS rebinding it is the page's own name. `Origin`, if present, must be the same origin or a configured one.
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

  /**
   * Checks only the host, for a page that a link of another origin may open.
   * @throws HttpError 403 for a host that is not accepted
   */
  checkHost(request: Request): void {
    const host = request.headers.get('host') ?? new URL(request.url).host;
    if (!this.#isOwnHost(host) || !this.#isOwnHost(new URL(request.url).host))
      throw new HttpError(
        403,
        `Host ${quoted(host)} is not accepted while no API key is required. Use localhost or 127.0.0.1, or start the server with --allow-host (createServer: allowHosts).`,
        {
          details: {
            /**
             * The `Host` header is not accepted while no API key is required.
             * @remedy Use `localhost` or `127.0.0.1`, start the server with `--allow-host`, or require keys.
             */
            error_code: 'host_not_allowed',
          },
        },
      );
  }

  /** @throws HttpError 403 for a host or an origin that is not accepted */
  check(request: Request): void {
    this.checkHost(request);
    this.checkOrigin(request);
  }

  /**
   * Checks only the origin.
   * @throws HttpError 403 for an origin that is not accepted
   */
  checkOrigin(request: Request): void {
    const host = request.headers.get('host') ?? new URL(request.url).host;
    const origin = request.headers.get('origin');
    if (origin !== null) {
      if (this.#origins.has(origin) || isSameOrigin(origin, host)) return;
      throw crossOriginError(`Origin ${quoted(origin)}`);
    }
    // Browsers omit Origin from plain GET requests and send this header instead.
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
    // The URL parser accepts a host that ends in a number only if it is an IP address.
    if (/^127(\.\d{1,3}){3}$/.test(name)) return true;
    if (this.#isAllowedHost(url)) return true;
    url.port = '';
    return this.#isAllowedHost(url);
  }
}

/** True if this server served the page, directly or through a TLS proxy. */
function isSameOrigin(origin: string, host: string): boolean {
  const url = URL.parse(origin);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.origin === origin && url.host === URL.parse(`${url.protocol}//${host}`)?.host;
}

function crossOriginError(source: string): HttpError {
  return new HttpError(
    403,
    `${source} is not accepted. To allow its pages, start the server with --allow-origin (createServer: allowOrigins).`,
    {
      details: {
        /**
         * The `Origin` header is not accepted: by a server without keys, or for a WebSocket.
         * @remedy Start the server with `--allow-origin`; for requests without a WebSocket, or require keys.
         */
        error_code: 'origin_not_allowed',
      },
    },
  );
}

function parseOrigin(origin: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@A-Z*]+$/.test(origin)) return origin;
  // An address with a password is not shown.
  const shown = origin.includes('@') ? 'An entry with credentials' : quoted(origin);
  throw new InvalidInputError(
    'allowOrigins',
    `${shown} is not an origin such as https://app.example. Write scheme, host and port in lower case, without a path.`,
  );
}

function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 128));
}
