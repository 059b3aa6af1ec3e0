import { inspect } from 'node:util';
import { createRedactor, type Redact } from '../../../models/internal.ts';
import { isBearer } from './mcp-auth.ts';
import type { McpToolsetOptions } from './mcp-options.ts';

/** How many tokens are remembered. A renewed token may still appear in a response on its way. */
const MAX_TOKENS = 8;

const SECRET_NAME =
  /(?:^|[_-])(?:api_?key|key|token|secret|password|passwd|pass|credentials?|authorization|auth|cookie|pat)s?(?:$|[_-])|apikey/i;

/**
 * The secrets of one server. They are redacted from everything the server sends, before a model or
 * a log sees it.
 */
export class McpSecrets {
  readonly #configured: readonly string[];
  #tokens: readonly string[] = [];
  #redact: Redact;

  constructor(options: McpToolsetOptions) {
    this.#configured = 'command' in options ? secretValues(options.env) : httpSecrets(options);
    this.#redact = createRedactor(this.#configured);
  }

  /** Registers a token that was sent to the server. */
  addToken(token: string | undefined): void {
    if (token === undefined || this.#tokens.includes(token)) return;
    this.#tokens = [token, ...this.#tokens].slice(0, MAX_TOKENS);
    this.#redact = createRedactor([...this.#configured, ...this.#tokens]);
  }

  readonly redact: Redact = (text) => this.#redact(text);

  /** A copy of a value with every string redacted. */
  redacted<T>(value: T): T {
    if (this.#configured.length + this.#tokens.length === 0) return value;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same shape, with redacted strings
    return this.#copy(value) as T;
  }

  /** The cause of an error, unless it contains a secret. */
  cause(cause: unknown): { readonly cause?: unknown } {
    const text = inspect(cause, { depth: Infinity, showHidden: true });
    return this.redact(text) === text ? { cause } : {};
  }

  #copy(value: unknown): unknown {
    if (typeof value === 'string') return this.redact(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.#copy(item));
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, this.#copy(member)]),
    );
  }
}

function httpSecrets(
  options: Extract<McpToolsetOptions, { readonly url: string }>,
): readonly string[] {
  const { url, headers, auth } = options;
  const parsed = URL.parse(url);
  const inUrl =
    parsed === null
      ? []
      : [
          parsed.password,
          decodeURIComponent(parsed.password),
          ...secretValues(Object.fromEntries(parsed.searchParams)),
        ];
  const inHeaders = secretValues(headers).flatMap((value) => [value, value.replace(/^\w+ /, '')]);
  const clientSecrets = auth !== undefined && !isBearer(auth) ? [auth.clientSecret ?? ''] : [];
  return [...inUrl, ...inHeaders, ...clientSecrets];
}

function secretValues(named: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.entries(named).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
}
