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

/** The server that somebody signs in to. */
export interface OAuthServer {
  readonly server: string;
  readonly url: string;
  /** Where tokens are told, so that nobody sees them. */
  readonly secrets: McpSecrets;
}

type Kind = 'client' | 'tokens' | 'discovery';

/**
 * Who we are to one server: what the client of the protocol asks for, kept in the credential store under
 * `mcp <address>`. One sign-in at a time may be in progress: it stays here until it is finished.
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
  /** The tokens that the authorization in progress tries. */
  #attemptedTokens: StoredOAuthTokens | undefined;

  constructor({ server, url, secrets }: OAuthServer, auth: McpOAuth) {
    this.#server = server;
    this.#secrets = secrets;
    this.#key = `mcp ${url}`;
    this.#auth = auth;
    this.#credentials = auth.credentials;
    if (auth.clientMetadataUrl !== undefined) this.clientMetadataUrl = auth.clientMetadataUrl;
  }

  /** The tokens as they are, for a request. */
  async loadTokens(): Promise<StoredOAuthTokens | undefined> {
    const tokens = await this.#get<StoredOAuthTokens>('tokens');
    this.#secrets.addToken(tokens?.access_token);
    this.#secrets.addToken(tokens?.refresh_token);
    return tokens;
  }

  /** What the browser of the person who was asked came back with. @throws McpUnauthorizedError */
  async awaitCallback(): Promise<{ readonly code: string; readonly iss?: string }> {
    const { searchParams } = new URL(await this.#awaitRedirect());
    if (searchParams.get('state') !== this.#state) {
      throw new McpUnauthorizedError(
        this.#server,
        'the browser came back from another sign-in than the one we began. Try again.',
      );
    }
    const code = searchParams.get('code');
    if (code === null) {
      const refusal = searchParams.get('error') ?? 'the browser came back without a code.';
      throw new McpUnauthorizedError(this.#server, refusal);
    }
    const iss = searchParams.get('iss');
    return { code, ...(iss !== null && { iss }) };
  }

  async #awaitRedirect(): Promise<string | URL> {
    try {
      if (this.#redirect === undefined) throw new Error('nobody was asked');
      return await this.#redirect;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new McpUnauthorizedError(this.#server, `nobody signed in: ${reason}`, { cause });
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
      ...(scope !== undefined && { scope }),
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
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
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
    // It is awaited a moment later.
    this.#redirect.catch(() => undefined);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    if (this.#verifier !== undefined) return this.#verifier;
    throw new McpUnauthorizedError(this.#server, 'no sign-in was begun. Try again.');
  }

  async saveDiscoveryState(found: OAuthDiscoveryState): Promise<void> {
    await this.#put('discovery', found);
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

  /** Somebody else who has the store was faster: the refresh token that does not count any more is not the one kept. */
  async #isRenewed(): Promise<boolean> {
    const current = (await this.loadTokens())?.refresh_token;
    return current !== undefined && current !== this.#attemptedTokens?.refresh_token;
  }

  // What is read was written by this class: the client of the protocol checks it once more.
  async #get<T>(kind: Kind): Promise<T | undefined> {
    const value = await this.#credentials.get(this.#storeKey(kind));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store gives back what was put under this key
    return isJsonObject(value) ? (structuredClone(value) as T) : undefined;
  }

  async #put(kind: Kind, value: object): Promise<void> {
    await this.#credentials.put(this.#storeKey(kind), decodeJson(encodeJson(value, kind), kind));
  }

  #storeKey(kind: Kind): string {
    return `${this.#key} ${kind}`;
  }
}
