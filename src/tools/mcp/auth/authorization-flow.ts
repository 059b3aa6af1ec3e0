import { omitUndefined, isObject } from '../../../core/internal.ts';
import type {
  AuthOptions,
  AuthProvider,
  FetchLike,
  InsufficientScopeError,
} from '@modelcontextprotocol/client';
import { McpUnauthorizedError } from '../vocabulary/mcp-errors.ts';
import type { McpSdk } from '../vocabulary/mcp-sdk.ts';
import type { OAuthSession } from './oauth-session.ts';

type UnauthorizedContext = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

export interface AuthorizationServices {
  readonly sdk: McpSdk;
  readonly session: OAuthSession;
}

/**
 * An authorization in progress. Without `completion`, a token refresh was enough and no person is
 * involved.
 */
interface PendingAuthorization {
  readonly completion?: Promise<void>;
}

/**
 * Obtains valid tokens after a server rejected a request, by a refresh or by asking a person.
 * Concurrent rejections share one authorization. The request itself does not wait for a person,
 * because its time limit is short: it fails, and its caller waits with `awaitAuthorization` and
 * sends it again.
 */
export class AuthorizationFlow implements AuthProvider {
  readonly #server: string;
  readonly #sdk: McpSdk;
  readonly #session: OAuthSession;
  /** By rejected response: the token it was sent with. */
  readonly #rejectedTokens = new WeakMap<Response, string>();
  /** By error of a failed request: the completion of the authorization it waits for. */
  readonly #completions = new WeakMap<object, Promise<void>>();
  /** Options of the authorization. Its scope grows with the challenges of the server. */
  #challenge: AuthOptions;
  #inFlight: Promise<PendingAuthorization> | undefined;
  #pending: PendingAuthorization | undefined;

  constructor(server: string, serverUrl: string, { sdk, session }: AuthorizationServices) {
    this.#server = server;
    this.#challenge = { serverUrl };
    this.#sdk = sdk;
    this.#session = session;
  }

  async token(): Promise<string | undefined> {
    return (await this.#session.loadTokens())?.access_token;
  }

  /**
   * Wraps `fetch` to record which token a rejected request used. If another token is current by
   * then, the request can be sent again without authorization.
   */
  trackRejectedTokens(fetch: FetchLike): FetchLike {
    return async (url, init) => {
      const response = await fetch(url, init);
      const [, token] =
        /^Bearer (.+)$/.exec(new Headers(init?.headers).get('authorization') ?? '') ?? [];
      if (response.status === 401 && token !== undefined) this.#rejectedTokens.set(response, token);
      return response;
    };
  }

  /**
   * Resolves when the request can be sent again.
   * @throws UnauthorizedError if a person is being asked
   */
  async onUnauthorized({ response, serverUrl, fetchFn }: UnauthorizedContext): Promise<void> {
    const token = await this.token();
    const rejected = this.#rejectedTokens.get(response);
    if (token !== undefined && rejected !== undefined && token !== rejected) return;
    const { resourceMetadataUrl, scope } = this.#sdk.extractWWWAuthenticateParams(response);
    await this.#requireAuthorization({
      serverUrl,
      fetchFn,
      ...omitUndefined({ resourceMetadataUrl, scope }),
    });
  }

  /**
   * After a failed request: resolves with true once the authorization that it or a concurrent
   * request started is complete. Resolves with false if the request did not fail for lack of
   * authorization, or no one can be asked.
   * @throws McpUnauthorizedError if the authorization fails
   */
  async awaitAuthorization(error: unknown): Promise<boolean> {
    if (error instanceof this.#sdk.InsufficientScopeError) return this.#requestScope(error);
    const completion = isObject(error) ? this.#completions.get(error) : undefined;
    if (completion === undefined) return false;
    await completion;
    return true;
  }

  /** The token is valid but its scope is too small: asks a person for a larger one. */
  async #requestScope({
    requiredScope,
    resourceMetadataUrl,
  }: InsufficientScopeError): Promise<boolean> {
    const { computeScopeUnion, isStrictScopeSuperset } = this.#sdk;
    const granted = (await this.#session.loadTokens())?.scope;
    const scope = computeScopeUnion(this.#challenge.scope, granted, requiredScope);
    try {
      await this.#requireAuthorization({
        ...this.#challenge,
        ...omitUndefined({ resourceMetadataUrl, scope }),
        forceReauthorization: isStrictScopeSuperset(scope, granted),
      });
      return true;
    } catch (error) {
      return this.awaitAuthorization(error);
    }
  }

  async #requireAuthorization(challenge: AuthOptions): Promise<void> {
    const { completion } = this.#pending ?? (await this.#shareAuthorization(challenge));
    if (completion === undefined) return;
    const error = new this.#sdk.UnauthorizedError('A person must authorize the access.');
    this.#completions.set(error, completion);
    throw error;
  }

  /** Runs one authorization at a time. Concurrent callers share its result. */
  #shareAuthorization(challenge: AuthOptions): Promise<PendingAuthorization> {
    const scope = this.#sdk.computeScopeUnion(this.#challenge.scope, challenge.scope);
    this.#inFlight ??= this.#authorize({ ...challenge, ...omitUndefined({ scope }) });
    return this.#inFlight;
  }

  async #authorize(options: AuthOptions): Promise<PendingAuthorization> {
    const { forceReauthorization: _force, ...challenge } = options;
    this.#challenge = challenge;
    try {
      // The server may use another authorization server by now, so discovery runs again.
      await this.#session.invalidateCredentials('discovery');
      const outcome = await this.#sdk.auth(this.#session, options);
      if (outcome === 'AUTHORIZED') return {};
      const completion = this.#completeAuthorization(challenge).finally(
        () => (this.#pending = undefined),
      );
      // Rejected requests await it. If only a background stream was rejected, no one does.
      completion.catch(() => undefined);
      this.#pending = { completion };
      return this.#pending;
    } finally {
      this.#inFlight = undefined;
    }
  }

  async #completeAuthorization(challenge: AuthOptions): Promise<void> {
    const { code, iss } = await this.#session.awaitCallback();
    const outcome = await this.#sdk.auth(this.#session, {
      ...challenge,
      authorizationCode: code,
      ...omitUndefined({ iss }),
    });
    if (outcome !== 'AUTHORIZED')
      throw new McpUnauthorizedError(this.#server, 'the authorization returned no token.');
  }
}
