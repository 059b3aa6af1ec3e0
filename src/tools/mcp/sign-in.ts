import type {
  AuthOptions,
  AuthProvider,
  FetchLike,
  InsufficientScopeError,
} from '@modelcontextprotocol/client';
import { McpUnauthorizedError } from './mcp-errors.ts';
import type { McpSdk } from './mcp-sdk.ts';
import type { OAuthSession } from './oauth-session.ts';

type Refusal = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

export interface SignInServices {
  readonly sdk: McpSdk;
  readonly session: OAuthSession;
}

/** A person who is asked; nobody, where a refresh was enough. */
interface Asked {
  readonly person?: Promise<void>;
}

/**
 * How requests that one server refused come to tokens that count: by a refresh, or by a person. Refusals that meet share
 * one way. The request itself does not wait for a person, because its time is short: it fails, and who made it waits by
 * `finished` and asks again.
 */
export class SignIn implements AuthProvider {
  readonly #server: string;
  readonly #sdk: McpSdk;
  readonly #session: OAuthSession;
  /** Which token each refused request came with. */
  readonly #refused = new WeakMap<Response, string>();
  /** Which person each failed request waits for. */
  readonly #waiting = new WeakMap<object, Promise<void>>();
  /** How a sign-in is begun; grows by what servers ask for. */
  #challenge: AuthOptions;
  #asking: Promise<Asked> | undefined;
  #pending: Asked | undefined;

  constructor(server: string, serverUrl: string, { sdk, session }: SignInServices) {
    this.#server = server;
    this.#challenge = { serverUrl };
    this.#sdk = sdk;
    this.#session = session;
  }

  async token(): Promise<string | undefined> {
    return (await this.#session.kept())?.access_token;
  }

  /** Fetches, and remembers which token was refused: when another one counts by then, there is nothing to be done. */
  watching(fetch: FetchLike): FetchLike {
    return async (url, init) => {
      const response = await fetch(url, init);
      const [, token] =
        /^Bearer (.+)$/.exec(new Headers(init?.headers).get('authorization') ?? '') ?? [];
      if (response.status === 401 && token !== undefined) this.#refused.set(response, token);
      return response;
    };
  }

  /** Returns when the request may be made again. @throws UnauthorizedError when a person is asked. */
  async onUnauthorized({ response, serverUrl, fetchFn }: Refusal): Promise<void> {
    const token = await this.token();
    const refused = this.#refused.get(response);
    if (token !== undefined && refused !== undefined && token !== refused) return;
    const { resourceMetadataUrl, scope } = this.#sdk.extractWWWAuthenticateParams(response);
    await this.#ask({
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
  async finished(error: unknown): Promise<boolean> {
    if (error instanceof this.#sdk.InsufficientScopeError) return this.#widened(error);
    const person = isObject(error) ? this.#waiting.get(error) : undefined;
    if (person === undefined) return false;
    await person;
    return true;
  }

  /** A token that counts, and allows too little: a person agrees to more. */
  async #widened({ requiredScope, resourceMetadataUrl }: InsufficientScopeError): Promise<boolean> {
    const { computeScopeUnion, isStrictScopeSuperset } = this.#sdk;
    const granted = (await this.#session.kept())?.scope;
    const scope = computeScopeUnion(this.#challenge.scope, granted, requiredScope);
    try {
      await this.#ask({
        ...this.#challenge,
        ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
        ...(scope !== undefined && { scope }),
        forceReauthorization: isStrictScopeSuperset(scope, granted),
      });
      return true;
    } catch (error) {
      return this.finished(error);
    }
  }

  async #ask(challenge: AuthOptions): Promise<void> {
    const { person } = this.#pending ?? (await this.#authorized(challenge));
    if (person === undefined) return;
    const error = new this.#sdk.UnauthorizedError('Somebody must sign in.');
    this.#waiting.set(error, person);
    throw error;
  }

  /** One at a time: who comes meanwhile shares what comes of it. */
  #authorized(challenge: AuthOptions): Promise<Asked> {
    const scope = this.#sdk.computeScopeUnion(this.#challenge.scope, challenge.scope);
    this.#asking ??= this.#authorize({ ...challenge, ...(scope !== undefined && { scope }) });
    return this.#asking;
  }

  async #authorize(asked: AuthOptions): Promise<Asked> {
    const { forceReauthorization: _force, ...challenge } = asked;
    this.#challenge = challenge;
    try {
      // The server may have moved to another authorization server since: it is asked again.
      await this.#session.invalidateCredentials('discovery');
      const outcome = await this.#sdk.auth(this.#session, asked);
      if (outcome === 'AUTHORIZED') return {};
      const person = this.#comeBack(challenge).finally(() => (this.#pending = undefined));
      // Whoever was refused awaits it; a stream that nobody waits for may be the only one.
      person.catch(() => undefined);
      this.#pending = { person };
      return this.#pending;
    } finally {
      this.#asking = undefined;
    }
  }

  async #comeBack(challenge: AuthOptions): Promise<void> {
    const { code, iss } = await this.#session.cameBack();
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
