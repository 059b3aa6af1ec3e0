import { inspect } from 'node:util';
import { createRedactor, type Redact } from '../../../models/response/redact.ts';
import { isBearer } from './mcp-auth.ts';
import type { McpToolsetOptions } from './mcp-options.ts';

/** So many tokens are remembered: one that was renewed may still be in an answer that is on its way. */
const MAX_TOKENS = 8;

const SECRET_NAME =
  /(?:^|[_-])(?:api_?key|key|token|secret|password|passwd|pass|credentials?|authorization|auth|cookie|pat)s?(?:$|[_-])|apikey/i;

/** What one server was given and nobody else is to see: no model, no log, whatever the server says. */
export class McpSecrets {
  readonly #configured: readonly string[];
  #tokens: readonly string[] = [];
  #redact: Redact;

  constructor(options: McpToolsetOptions) {
    this.#configured = 'command' in options ? secretValues(options.env) : httpSecrets(options);
    this.#redact = createRedactor(this.#configured);
  }

  /** Remembers a token that was handed out. */
  addToken(token: string | undefined): void {
    if (token === undefined || this.#tokens.includes(token)) return;
    this.#tokens = [token, ...this.#tokens].slice(0, MAX_TOKENS);
    this.#redact = createRedactor([...this.#configured, ...this.#tokens]);
  }

  readonly redact: Redact = (text) => this.#redact(text);

  /** The same value, with every text in it redacted. */
  redacted<T>(value: T): T {
    if (this.#configured.length + this.#tokens.length === 0) return value;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same shape, with other texts
    return this.#copy(value) as T;
  }

  /** The cause of an error, if nothing of it is secret. */
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
  const own = auth !== undefined && !isBearer(auth) ? [auth.clientSecret ?? ''] : [];
  return [...inUrl, ...inHeaders, ...own];
}

function secretValues(named: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.entries(named).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
}
