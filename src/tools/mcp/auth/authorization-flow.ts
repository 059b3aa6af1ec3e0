import type {
  AuthOptions,
  AuthProvider,
  FetchLike,
  InsufficientScopeError,
} from '@modelcontextprotocol/client';
import { McpUnauthorizedError } from '../vocabulary/mcp-errors.ts';
import type { McpSdk } from '../vocabulary/mcp-sdk.ts';
import type { OAuthSession } from './oauth-session.ts';

type Refusal = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

export interface AuthorizationServices {
  readonly sdk: McpSdk;
  readonly session: OAuthSession;
}

/** A person who is asked; nobody, where a refresh was enough. */
interface PendingAuthorization {
  readonly completion?: Promise<void>;
}

/**
 * How requests that one server refused come to tokens that count: by a refresh, or by a person. Refusals that meet share
 * one way. The request itself does not wait for a person, because its time is short: it fails, and who made it waits by
 * `finished` and asks again.
 */
export class AuthorizationFlow implements AuthProvider {
  readonly #server: string;
  readonly #sdk: McpSdk;
  readonly #session: OAuthSession;
  /** Which token each refused request came with. */
  readonly #rejectedTokens = new WeakMap<Response, string>();
  /** Which person each failed request waits for. */
  readonly #completions = new WeakMap<object, Promise<void>>();
  /** How a sign-in is begun; grows by what servers ask for. */
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

  /** Fetches, and remembers which token was refused: when another one counts by then, there is nothing to be done. */
  trackRejectedTokens(fetch: FetchLike): FetchLike {
    return async (url, init) => {
      const response = await fetch(url, init);
      const [, token] =
        /^Bearer (.+)$/.exec(new Headers(init?.headers).get('authorization') ?? '') ?? [];
      if (response.status === 401 && token !== undefined) this.#rejectedTokens.set(response, token);
      return response;
    };
  }

  /** Returns when the request may be made again. @throws UnauthorizedError when a person is asked. */
  async onUnauthorized({ response, serverUrl, fetchFn }: Refusal): Promise<void> {
    const token = await this.token();
    const rejected = this.#rejectedTokens.get(response);
    if (token !== undefined && rejected !== undefined && token !== rejected) return;
    const { resourceMetadataUrl, scope } = this.#sdk.extractWWWAuthenticateParams(response);
    await this.#requireAuthorization({
      serverUrl,
      fetchFn,
      ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
    });
  }

  /**
   * After a request failed: true when somebody has signed in since, for this request or for one that was refused with it.
   * False when it did not fail for lack of credentials, or nobody can be asked.
   * @throws McpUnauthorizedError when the person did not sign in.
   */
  async awaitAuthorization(error: unknown): Promise<boolean> {
    if (error instanceof this.#sdk.InsufficientScopeError) return this.#requestScope(error);
    const completion = isObject(error) ? this.#completions.get(error) : undefined;
    if (completion === undefined) return false;
    await completion;
    return true;
  }

  /** A token that counts, and allows too little: a person agrees to more. */
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
        ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
        ...(scope !== undefined && { scope }),
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
    const error = new this.#sdk.UnauthorizedError('Somebody must sign in.');
    this.#completions.set(error, completion);
    throw error;
  }

  /** One at a time: who comes meanwhile shares what comes of it. */
  #shareAuthorization(challenge: AuthOptions): Promise<PendingAuthorization> {
    const scope = this.#sdk.computeScopeUnion(this.#challenge.scope, challenge.scope);
    this.#inFlight ??= this.#authorize({ ...challenge, ...(scope !== undefined && { scope }) });
    return this.#inFlight;
  }

  async #authorize(options: AuthOptions): Promise<PendingAuthorization> {
    const { forceReauthorization: _force, ...challenge } = options;
    this.#challenge = challenge;
    try {
      // The server may have moved to another authorization server since: it is asked again.
      await this.#session.invalidateCredentials('discovery');
      const outcome = await this.#sdk.auth(this.#session, options);
      if (outcome === 'AUTHORIZED') return {};
      const completion = this.#completeAuthorization(challenge).finally(
        () => (this.#pending = undefined),
      );
      // Whoever was refused awaits it; a stream that nobody waits for may be the only one.
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
      ...(iss !== undefined && { iss }),
    });
    if (outcome !== 'AUTHORIZED')
      throw new McpUnauthorizedError(this.#server, 'no token was given.');
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
