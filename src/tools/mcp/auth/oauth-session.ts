import { omitUndefined } from '../../../core/internal.ts';
import { randomBytes } from 'node:crypto';
import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { decodeJson, encodeJson, isJsonObject } from '../../../core/index.ts';
import type { CredentialStore } from '../../auth/credential-store.ts';
import type { McpOAuth } from '../vocabulary/mcp-auth.ts';
import { McpUnauthorizedError } from '../vocabulary/mcp-errors.ts';
import type { McpSecrets } from '../vocabulary/mcp-secrets.ts';

/** The server to authorize with. */
export interface OAuthServer {
  readonly server: string;
  readonly url: string;
  /** Registers tokens, so that they are redacted everywhere. */
  readonly secrets: McpSecrets;
}

type Kind = 'client' | 'tokens' | 'discovery';

/**
 * The OAuth client of one server, as the MCP package needs it. Tokens and registrations are stored
 * in the credential store under `mcp <address>`. At most one authorization is in progress at a
 * time; its state lives in this object.
 */
export class OAuthSession implements OAuthClientProvider {
  readonly clientMetadataUrl?: string;
  readonly #server: string;
  readonly #secrets: McpSecrets;
  readonly #key: string;
  readonly #auth: McpOAuth;
  readonly #credentials: CredentialStore;
  #state = '';
  #verifier: string | undefined;
  #redirect: Promise<string | URL> | undefined;
  /** The tokens that the authorization in progress tries to refresh. */
  #attemptedTokens: StoredOAuthTokens | undefined;

  constructor({ server, url, secrets }: OAuthServer, auth: McpOAuth) {
    this.#server = server;
    this.#secrets = secrets;
    this.#key = `mcp ${url}`;
    this.#auth = auth;
    this.#credentials = auth.credentials;
    if (auth.clientMetadataUrl !== undefined) this.clientMetadataUrl = auth.clientMetadataUrl;
  }

  /** Loads the current tokens for a request. */
  async loadTokens(): Promise<StoredOAuthTokens | undefined> {
    const tokens = await this.#get<StoredOAuthTokens>('tokens');
    this.#secrets.addToken(tokens?.access_token);
    this.#secrets.addToken(tokens?.refresh_token);
    return tokens;
  }

  /**
   * Waits until the person's browser returns, and returns the code.
   * @throws McpUnauthorizedError if the authorization is refused, fails, or belongs to another
   *   attempt
   */
  async awaitCallback(): Promise<{ readonly code: string; readonly iss?: string }> {
    const { searchParams } = new URL(await this.#awaitRedirect());
    if (searchParams.get('state') !== this.#state) {
      throw new McpUnauthorizedError(
        this.#server,
        'the browser returned from another authorization (its state does not match). Try again.',
      );
    }
    const code = searchParams.get('code');
    if (code === null) {
      const reason = searchParams.get('error') ?? 'the browser returned without a code.';
      throw new McpUnauthorizedError(this.#server, reason);
    }
    const iss = searchParams.get('iss');
    return { code, ...omitUndefined({ iss: iss !== null ? iss : undefined }) };
  }

  async #awaitRedirect(): Promise<string | URL> {
    try {
      if (this.#redirect === undefined) throw new Error('no authorization was started');
      return await this.#redirect;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new McpUnauthorizedError(this.#server, `the authorization failed: ${reason}`, {
        cause,
      });
    } finally {
      this.#redirect = undefined;
    }
  }

  get redirectUrl(): string {
    return this.#auth.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { redirectUrl, clientName = 'Petrichor', scope, clientSecret } = this.#auth;
    return {
      client_name: clientName,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: clientSecret === undefined ? 'none' : 'client_secret_post',
      ...omitUndefined({ scope }),
    };
  }

  state(): string {
    this.#state = randomBytes(24).toString('base64url');
    return this.#state;
  }

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const { clientId, clientSecret } = this.#auth;
    if (clientId === undefined) return this.#get<StoredOAuthClientInformation>('client');
    return {
      client_id: clientId,
      ...omitUndefined({ client_secret: clientSecret }),
    };
  }

  async saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    await this.#put('client', client);
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    this.#attemptedTokens = await this.loadTokens();
    return this.#attemptedTokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    await this.#put('tokens', tokens);
  }

  redirectToAuthorization(address: URL): void {
    this.#redirect = this.#auth.authorize(address);
    // It is awaited later; the rejection must not be unhandled until then.
    this.#redirect.catch(() => undefined);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    if (this.#verifier !== undefined) return this.#verifier;
    throw new McpUnauthorizedError(this.#server, 'no authorization was started. Try again.');
  }

  async saveDiscoveryState(state: OAuthDiscoveryState): Promise<void> {
    await this.#put('discovery', state);
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return this.#get<OAuthDiscoveryState>('discovery');
  }

  async invalidateCredentials(scope: 'all' | 'verifier' | Kind): Promise<void> {
    if (scope === 'verifier') return;
    const kinds = scope === 'all' ? (['client', 'tokens', 'discovery'] as const) : [scope];
    for (const kind of kinds) {
      if (kind === 'tokens' && (await this.#isRenewed())) continue;
      await this.#credentials.delete(this.#storeKey(kind));
    }
  }

  /**
   * Whether another user of the store has already renewed the tokens. Then the stored refresh token
   * is not the invalid one.
   */
  async #isRenewed(): Promise<boolean> {
    const current = (await this.loadTokens())?.refresh_token;
    return current !== undefined && current !== this.#attemptedTokens?.refresh_token;
  }

  // The value was written by this class, and the MCP package validates it again.
  async #get<T>(kind: Kind): Promise<T | undefined> {
    const value = await this.#credentials.get(this.#storeKey(kind));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store returns what was put under this key
    return isJsonObject(value) ? (structuredClone(value) as T) : undefined;
  }

  async #put(kind: Kind, value: object): Promise<void> {
    await this.#credentials.put(this.#storeKey(kind), decodeJson(encodeJson(value, kind), kind));
  }

  #storeKey(kind: Kind): string {
    return `${this.#key} ${kind}`;
  }
}
